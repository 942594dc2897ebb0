//===- FiniteDifferencesTest.cpp - every VJP against central differences ----===//
//
// A case is an op, its operands' shapes and its attributes as text. The op is built in
// a function of its own, its VJP behind it, and for random values and cotangents c
//
//   ∂(Σ c·results)/∂x  ≈  (Σ c·results(x + h) − Σ c·results(x − h)) / 2h
//
// must hold for each element x of each operand, to 1e-6. The last test counts: a
// differentiable op of the dialect without a case fails.
//
//===----------------------------------------------------------------------===//

#include "TestSupport.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>
#include <random>

using namespace mlir;

namespace zero::reference {
namespace {

struct OperandSpec {
  Shape shape;
  std::string element;   // f32, i32 or i1
  int64_t bound = 0;     // integers lie in [0, bound)
  bool positive = false; // else of either sign, but never near 0, where abs and relu have a kink
  std::vector<int64_t> fixed = {}; // given integers in place of random ones
};

OperandSpec floats(Shape shape) { return {std::move(shape), "f32"}; }
OperandSpec positives(Shape shape) { return {std::move(shape), "f32", 0, true}; }
OperandSpec indices(Shape shape, int64_t bound) { return {std::move(shape), "i32", bound}; }
OperandSpec conditions(Shape shape) { return {std::move(shape), "i1", 2}; }
OperandSpec labels(Shape shape, std::vector<int64_t> values) {
  return {std::move(shape), "i32", 0, false, std::move(values)};
}

struct Case {
  std::string op;
  std::vector<OperandSpec> operands;
  std::string attributes = "{}";
  int64_t cotangents = -1; // how many of the results have one; -1: all
};

std::vector<Case> allCases() {
  std::vector<Case> cases;
  auto add = [&](Case c) { cases.push_back(std::move(c)); };

  for (const char *op : {"neg", "abs", "exp", "tanh", "erf", "sigmoid", "relu", "silu"})
    for (Shape shape : {Shape{}, Shape{1}, Shape{7}, Shape{3, 5}})
      add({op, {floats(shape)}});
  for (const char *op : {"log", "sqrt", "rsqrt"})
    for (Shape shape : {Shape{}, Shape{1}, Shape{7}, Shape{3, 5}})
      add({op, {positives(shape)}});
  for (const char *kind : {"{kind = 0 : i32}", "{kind = 1 : i32}"})
    for (Shape shape : {Shape{1}, Shape{3, 5}})
      add({"gelu", {floats(shape)}, kind});

  for (const char *op : {"add", "sub", "mul", "div", "max", "min"}) {
    add({op, {floats({3, 5}), floats({3, 5})}});
    add({op, {floats({3, 5}), floats({5})}});
    add({op, {floats({7}), floats({3, 1, 7})}});
    add({op, {floats({3, 1}), floats({1, 5})}});
    add({op, {floats({}), floats({7})}});
    add({op, {floats({1}), floats({1})}});
  }
  add({"select", {conditions({3, 5}), floats({3, 5}), floats({3, 5})}});
  add({"select", {conditions({5}), floats({3, 1}), floats({})}});
  add({"convert", {floats({3, 5})}, "{to = f64}"});

  add({"reshape", {floats({3, 5})}, "{shape = array<i64: 5, 3, 1>}"});
  add({"reshape", {floats({7, 3, 5})}, "{shape = array<i64: -1, 15>}"});
  add({"transpose", {floats({3, 5})}, "{permutation = array<i64: 1, 0>}"});
  add({"transpose", {floats({3, 1, 5, 7})}, "{permutation = array<i64: 2, 0, 3, 1>}"});
  add({"broadcast", {floats({5})}, "{shape = array<i64: 3, 5>}"});
  add({"broadcast", {floats({3, 1})}, "{shape = array<i64: 7, 3, 5>}"});
  add({"broadcast", {floats({})}, "{shape = array<i64: 3>}"});
  add({"slice", {floats({5, 7})}, "{starts = array<i64: 1, 2>, sizes = array<i64: 3, 1>}"});
  add({"slice", {floats({5, 7})}, "{starts = array<i64: 0, 3>, sizes = array<i64: -1, 4>}"});
  add({"concat", {floats({3, 1}), floats({3, 5}), floats({3, 7})}, "{dim = 1}"});
  add({"concat", {floats({1, 5}), floats({3, 5})}, "{dim = 0}"});
  add({"split", {floats({3, 9})}, "{dim = 1, sizes = array<i64: 1, 5, 3>}"});
  add({"split", {floats({3, 9})}, "{dim = 1, sizes = array<i64: 1, 5, 3>}", 2});
  add({"split", {floats({5, 3})}, "{dim = 0, sizes = array<i64: 5>}"});
  add({"pad", {floats({3, 5})}, "{low = array<i64: 0, 1>, high = array<i64: 2, 3>}"});
  add({"pad", {floats({1})}, "{low = array<i64: 0>, high = array<i64: 0>}"});

  for (const char *op : {"reduce_sum", "reduce_mean", "reduce_max"}) {
    add({op, {floats({3, 5, 7})}, "{dims = array<i64: 0, 2>}"});
    add({op, {floats({3, 5, 7})}, "{dims = array<i64: 1>, keep}"});
    add({op, {floats({3, 5})}, "{dims = array<i64: 0, 1>}"});
    add({op, {floats({1, 7})}, "{dims = array<i64: 0>, keep}"});
  }

  add({"dot_general",
       {floats({3, 5}), floats({5, 7})},
       "{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}"});
  add({"dot_general",
       {floats({3, 5, 1}), floats({7, 5, 3})},
       "{lhs_contract = array<i64: 0, 1>, rhs_contract = array<i64: 2, 1>}"});
  add({"dot_general",
       {floats({3, 5, 7}), floats({1, 3, 7})},
       "{lhs_batch = array<i64: 0>, rhs_batch = array<i64: 1>, "
       "lhs_contract = array<i64: 2>, rhs_contract = array<i64: 2>}"});
  add({"dot_general",
       {floats({3, 7, 2, 5}), floats({5, 3, 1, 7})},
       "{lhs_batch = array<i64: 0, 3>, rhs_batch = array<i64: 1, 0>, "
       "lhs_contract = array<i64: 1>, rhs_contract = array<i64: 3>}"});
  add({"dot_general",
       {floats({3}), floats({5})},
       "{lhs_contract = array<i64>, rhs_contract = array<i64>}"});
  add({"linear", {floats({3, 5}), floats({5, 7}), floats({7})}});
  add({"linear", {floats({2, 3, 5}), floats({5, 1})}});
  add({"linear", {floats({3, 5}), floats({7, 5}), floats({7})}, "{transposed}"});
  add({"linear", {floats({1, 3, 5}), floats({7, 5})}, "{transposed}"});

  add({"convolution", {floats({2, 5, 4, 3}), floats({3, 2, 3, 4})}});
  add({"convolution",
       {floats({1, 5, 7, 2}), floats({3, 3, 2, 1})},
       "{strides = array<i64: 2, 3>, padding = array<i64: 1, 2, 0, 2>}"});
  add({"convolution", {floats({2, 3, 3, 5}), floats({1, 1, 5, 2})}});
  add({"convolution",
       {floats({2, 4, 5, 1}), floats({1, 1, 1, 2})},
       "{strides = array<i64: 3, 2>}"});
  add({"patches",
       {floats({2, 5, 4, 3})},
       "{window = array<i64: 3, 2>, strides = array<i64: 1, 2>, padding = array<i64: 2, 0, 1, "
       "1>}"});
  for (const char *op : {"max_pool", "avg_pool"}) {
    add({op, {floats({2, 4, 6, 3})}, "{window = array<i64: 2, 2>, strides = array<i64: 2, 2>}"});
    add({op,
         {floats({1, 7, 5, 2})},
         "{window = array<i64: 3, 3>, strides = array<i64: 2, 1>, padding = array<i64: 1, 1, 2, "
         "0>}"});
    add({op, {floats({1, 5, 5, 1})}, "{window = array<i64: 2, 1>, strides = array<i64: 3, 2>}"});
  }

  add({"embedding", {indices({7}, 3), floats({3, 5})}});
  add({"embedding", {indices({3, 5}, 7), floats({7, 1})}});
  for (const char *dim : {"{dim = 0}", "{dim = 1}", "{dim = 2}"})
    add({"gather", {floats({3, 3, 3}), indices({5}, 3)}, dim});
  add({"gather", {floats({5, 1}), indices({3, 2}, 5)}, "{dim = 0}"});

  add({"layer_norm", {floats({3, 5}), floats({5}), floats({5})}, "{eps = 1.0e-5 : f64}"});
  add({"layer_norm", {floats({2, 3, 7}), floats({7}), floats({7})}, "{eps = 1.0e-1 : f64}"});
  add({"layer_norm", {floats({3, 1}), floats({1}), floats({1})}, "{eps = 1.0e-5 : f64}"});
  add({"rms_norm", {floats({3, 5}), floats({5})}, "{eps = 1.0e-6 : f64}"});
  add({"rms_norm", {floats({2, 3, 7}), floats({7})}, "{eps = 1.0e-1 : f64}"});
  add({"rms_norm", {floats({3, 1}), floats({1})}, "{eps = 1.0e-1 : f64}"});
  for (Shape shape : {Shape{1}, Shape{7}, Shape{3, 5}, Shape{3, 1, 5}})
    add({"softmax", {floats(shape)}});

  add({"dropout",
       {floats({3, 7}), indices({4}, 100)},
       "{rate = 0.5 : f64, samples = 3, site = 2, "
       "operandSegmentSizes = array<i32: 1, 1, 0>}"});
  add({"dropout",
       {floats({6, 5}), indices({4}, 100), indices({1}, 9)},
       "{rate = 0.1 : f64, samples = 3, "
       "operandSegmentSizes = array<i32: 1, 1, 1>}"});

  add({"rotary", {floats({2, 5, 3, 4})}, "{frequencies = array<f64: 1.0, 0.1>}"});
  add({"rotary",
       {floats({1, 7, 1, 6})},
       "{frequencies = array<f64: 1.0, 0.3, 0.02>, factor = 1.3 : f64, inverse}"});
  add({"rotary", {floats({3, 1, 1, 2})}, "{frequencies = array<f64: 1.0>, factor = 0.5 : f64}"});

  add({"attention",
       {floats({1, 5, 3, 7}), floats({1, 5, 3, 7}), floats({1, 5, 3, 7})},
       "{scale = 0.5 : f64, causal}",
       1});
  add({"attention",
       {floats({2, 3, 6, 1}), floats({2, 3, 2, 1}), floats({2, 3, 2, 1})},
       "{scale = 1.0 : f64, causal}",
       1});
  add({"attention",
       {floats({1, 3, 2, 5}), floats({1, 7, 1, 5}), floats({1, 7, 1, 5})},
       "{scale = 0.3 : f64}",
       1});
  add({"attention",
       {floats({1, 1, 1, 1}), floats({1, 1, 1, 1}), floats({1, 1, 1, 1})},
       "{scale = 1.0 : f64, causal}",
       1});

  add({"attention",
       {floats({2, 5, 4, 3}), floats({2, 5, 2, 3}), floats({2, 5, 2, 3}), indices({4}, 100)},
       "{scale = 0.5 : f64, causal, dropout = 0.3 : f64, site = 7}",
       1});
  add({"attention",
       {floats({1, 3, 2, 5}), floats({1, 7, 1, 5}), floats({1, 7, 1, 5}), indices({4}, 100)},
       "{scale = 0.3 : f64, dropout = 0.5 : f64, site = 1}",
       1});

  add({"cross_entropy", {floats({3, 5}), labels({3}, {4, 0, 2})}, "{ignore = -100}"});
  add({"cross_entropy", {floats({1, 3, 7}), labels({1, 3}, {-100, 6, 0})}, "{ignore = -100}"});
  add({"cross_entropy", {floats({3, 1}), labels({3}, {0, -1, 0})}, "{ignore = -1}"});
  add({"cross_entropy", {floats({2, 5}), labels({2}, {-1, -1})}, "{ignore = -1}"});
  return cases;
}

class FiniteDifferences : public ReferenceTest {
protected:
  // Uniform in [0, 1), the same on every machine.
  double uniform() { return static_cast<double>(random() >> 11) * 0x1p-53; }

  Array draw(const OperandSpec &spec) {
    Array array(spec.shape, spec.element == "f32");
    for (double &value : array.f) {
      value = 0.2 + 1.3 * uniform();
      if (!spec.positive && uniform() < 0.5)
        value = -value;
    }
    for (int64_t &value : array.i)
      value = static_cast<int64_t>(uniform() * static_cast<double>(spec.bound));
    if (!spec.fixed.empty())
      array.i = spec.fixed;
    return array;
  }

  RankedTensorType typeOf(const OperandSpec &spec) {
    Builder builder(&context);
    Type element = spec.element == "f32" ? Type(builder.getF32Type())
                                         : builder.getIntegerType(spec.element == "i1" ? 1 : 32);
    return RankedTensorType::get(spec.shape, element);
  }

  /// Creates an op with the result types that it infers.
  Operation *create(OpBuilder &builder, const Case &c, ValueRange operands) {
    OperationName name("nn." + c.op, &context);
    auto attributes = cast<DictionaryAttr>(parseAttribute(c.attributes, &context));
    OperationState state(builder.getUnknownLoc(), name);
    std::unique_ptr<char[]> storage(new char[name.getOpPropertyByteSize()]);
    OpaqueProperties properties(storage.get());
    bool hasProperties = name.getOpPropertyByteSize() > 0, fine = true;
    if (hasProperties) {
      auto emitError = [&] { return mlir::emitError(state.location); };
      name.initOpProperties(properties, nullptr);
      fine = succeeded(name.setOpPropertiesFromAttribute(name, properties, attributes, emitError));
      name.populateDefaultProperties(properties);
      state.propertiesAttr = attributes;
    }
    fine =
        fine && succeeded(name.getInterface<InferTypeOpInterface>()->inferReturnTypes(
                    &context, state.location, operands, attributes, properties, {}, state.types));
    if (hasProperties)
      name.destroyOpProperties(properties);
    if (!fine)
      return nullptr;
    state.addOperands(operands);
    return builder.create(state);
  }

  void check(const Case &c);
  void checkWanted(const Case &c, ArrayRef<bool> wanted);

  std::mt19937_64 random{2026};
};

/// All gradients at once, and each one alone.
void FiniteDifferences::check(const Case &c) {
  SmallVector<bool> all;
  for (const OperandSpec &spec : c.operands)
    all.push_back(spec.element == "f32");
  checkWanted(c, all);
  for (size_t operand = 0; operand < all.size() && llvm::count(all, true) > 1; ++operand) {
    SmallVector<bool> alone(all.size(), false);
    alone[operand] = all[operand];
    if (alone[operand])
      checkWanted(c, alone);
  }
}

void FiniteDifferences::checkWanted(const Case &c, ArrayRef<bool> wanted) {
  // func @f(operands, cotangents) -> (results with a cotangent, gradients)
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> types;
  for (const OperandSpec &spec : c.operands)
    types.push_back(typeOf(spec));
  auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), "f",
                                       builder.getFunctionType(types, {}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  SmallVector<Value> operands(body->getArguments());
  Operation *op = create(builder, c, operands);
  ASSERT_TRUE(op) << messages;

  SmallVector<Value> returned, cotangents, gradients(operands.size());
  for (OpResult result : op->getResults()) {
    bool used = c.cotangents < 0 || result.getResultNumber() < c.cotangents;
    cotangents.push_back(used ? body->addArgument(result.getType(), result.getLoc()) : Value());
    if (used)
      returned.push_back(result);
  }
  size_t outputs = returned.size();
  auto differentiable = dyn_cast<nn::DifferentiableOpInterface>(op);
  ASSERT_TRUE(differentiable) << "expects a differentiable op";
  ASSERT_TRUE(succeeded(differentiable.vjp(builder, cotangents, wanted, gradients))) << messages;
  for (auto [index, gradient] : llvm::enumerate(gradients)) {
    if (!gradient)
      continue;
    EXPECT_TRUE(wanted[index]) << "a gradient that was not wanted: " << index;
    EXPECT_EQ(gradient.getType(), operands[index].getType());
    returned.push_back(gradient);
  }
  func::ReturnOp::create(builder, builder.getUnknownLoc(), returned);
  function.setFunctionType(builder.getFunctionType(body->getArgumentTypes(), TypeRange(returned)));
  ASSERT_TRUE(succeeded(verify(*module))) << messages;

  std::vector<Array> arguments;
  for (const OperandSpec &spec : c.operands)
    arguments.push_back(draw(spec));
  for (size_t k = 0; k < outputs; ++k)
    arguments.push_back(draw(floats(Shape(cast<ShapedType>(returned[k].getType()).getShape()))));
  auto evaluateAll = [&] { return evaluate(function, arguments, {}); };
  auto weighted = [&]() -> double {
    double sum = 0.0;
    FailureOr<Results> results = evaluateAll();
    for (size_t k = 0; k < outputs; ++k)
      for (size_t e = 0; e < (*results)[k].f.size(); ++e)
        sum += arguments[operands.size() + k].f[e] * (*results)[k].f[e];
    return sum;
  };

  FailureOr<Results> results = evaluateAll();
  ASSERT_TRUE(succeeded(results)) << messages;
  constexpr double h = 1e-5;
  size_t next = outputs;
  for (size_t index = 0; index < operands.size(); ++index) {
    if (!wanted[index])
      continue;
    // No gradient stands for zero.
    Array gradient = gradients[index] ? (*results)[next++] : Array(arguments[index].shape, true);
    for (size_t e = 0; e < gradient.f.size(); ++e) {
      double &x = arguments[index].f[e], kept = x;
      x = kept + h;
      double above = weighted();
      x = kept - h;
      double below = weighted();
      x = kept;
      double numeric = (above - below) / (2 * h);
      double tolerance = 1e-6 * std::max({std::fabs(numeric), std::fabs(gradient.f[e]), 1e-2});
      EXPECT_NEAR(gradient.f[e], numeric, tolerance) << "operand " << index << ", element " << e;
    }
  }
}

TEST_F(FiniteDifferences, everyVjp) {
  for (const Case &c : allCases()) {
    std::string shapes;
    for (const OperandSpec &spec : c.operands)
      shapes += " " + shapeText(spec.shape);
    SCOPED_TRACE("nn." + c.op + shapes + " " + c.attributes);
    check(c);
  }
}

TEST_F(FiniteDifferences, everyDifferentiableOpHasACase) {
  llvm::StringSet<> covered;
  for (const Case &c : allCases())
    covered.insert("nn." + c.op);
  int64_t differentiable = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "nn" || !name.hasInterface<nn::DifferentiableOpInterface>())
      continue;
    ++differentiable;
    EXPECT_TRUE(covered.contains(name.getStringRef())) << name.getStringRef().str();
  }
  EXPECT_GE(differentiable, 30);
}

// What a padding token reads does not teach its row: ids 2, 0, 2 with padding 2.
TEST_F(FiniteDifferences, embeddingGivesItsPaddingRowNoGradient) {
  OwningOpRef<ModuleOp> module = parse(R"(
    func.func @f(%ids: tensor<3xi32>, %table: tensor<4x2xf32>, %dy: tensor<3x2xf32>) -> tensor<4x2xf32> {
      %0 = nn.embedding %ids, %table padding 2 : (tensor<3xi32>, tensor<4x2xf32>) -> tensor<3x2xf32>
      return %table : tensor<4x2xf32>
    })");
  auto function = module->lookupSymbol<func::FuncOp>("f");
  Operation &op = function.front().front();
  OpBuilder builder(function.front().getTerminator());
  SmallVector<Value> gradients(2);
  ASSERT_TRUE(succeeded(cast<nn::DifferentiableOpInterface>(op).vjp(
      builder, function.getArgument(2), {false, true}, gradients)));
  function.front().getTerminator()->setOperand(0, gradients[1]);
  FailureOr<Results> results =
      evaluate(function,
               {Array::integers({3}, {2, 0, 2}), Array({4, 2}, /*isFloat=*/true),
                Array::floats({3, 2}, {1, 2, 3, 4, 5, 6})},
               {});
  ASSERT_TRUE(succeeded(results)) << messages;
  expectNear((*results)[0], {4, 2}, {3, 4, 0, 0, 0, 0, 0, 0});
}

// The attention rows' log-sums are for backward alone: a loss that depends on them is refused.
TEST_F(FiniteDifferences, attentionRefusesACotangentOfItsLogSums) {
  OwningOpRef<ModuleOp> module = parse(R"(
    func.func @f(%q: tensor<1x3x1x5xf32>, %do: tensor<1x3x1x5xf32>, %dl: tensor<1x1x3xf32>) {
      %o, %lse = nn.attention %q, %q, %q scale 1.0
          : (tensor<1x3x1x5xf32>, tensor<1x3x1x5xf32>, tensor<1x3x1x5xf32>) -> (tensor<1x3x1x5xf32>, tensor<1x1x3xf32>)
      return
    })");
  auto function = module->lookupSymbol<func::FuncOp>("f");
  Operation &op = function.front().front();
  OpBuilder builder(function.front().getTerminator());
  SmallVector<Value> gradients(3);
  EXPECT_TRUE(failed(cast<nn::DifferentiableOpInterface>(op).vjp(
      builder, {function.getArgument(1), function.getArgument(2)}, {true, true, true}, gradients)));
  EXPECT_NE(messages.find("used by gradients only"), std::string::npos) << messages;
}

} // namespace
} // namespace zero::reference

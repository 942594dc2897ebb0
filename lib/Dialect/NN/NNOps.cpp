//===- NNOps.cpp - generated definitions and hand-written syntax ------------===//
//
// The definitions that ODS generates, compiled once, with the pieces of assembly
// format that they call: `init` of a parameter, `grads` of a return, and numbers.
//
//===----------------------------------------------------------------------===//

#include "zero/Dialect/NN/NN.h"

#include <charconv>

using namespace mlir;
using namespace zero::nn;

namespace {

bool carriesNumber(InitKind kind) {
  return kind == InitKind::Constant || kind == InitKind::Normal || kind == InitKind::Uniform;
}

ParseResult parseInit(OpAsmParser &parser, InitKindAttr &init, FloatAttr &value) {
  StringRef keyword;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<InitKind> kind = symbolizeInitKind(keyword);
  if (!kind)
    return parser.emitError(location,
                            "expects zeros, ones, constant, normal or uniform after 'init', got '")
           << keyword << "'";
  init = InitKindAttr::get(parser.getContext(), *kind);
  double number = 0.0;
  if (carriesNumber(*kind) &&
      (parser.parseLParen() || parser.parseFloat(number) || parser.parseRParen()))
    return failure();
  value = parser.getBuilder().getF64FloatAttr(number);
  return success();
}

/// The shortest digits that read back as the same number; the lexer wants a point in them.
std::string printNumber(double number) {
  char digits[32];
  auto [end, error] = std::to_chars(digits, digits + sizeof(digits), number);
  std::string text(digits, end);
  if (text.find('.') == std::string::npos)
    text.insert(std::min(text.find('e'), text.size()), ".0");
  return text;
}

void printInit(OpAsmPrinter &printer, Operation *, InitKindAttr init, FloatAttr value) {
  printer << stringifyInitKind(init.getValue());
  if (carriesNumber(init.getValue()))
    printer << '(' << printNumber(value.getValueAsDouble()) << ')';
}

/// Exact, where MLIR's own list of f64 rounds to seven digits.
ParseResult parseNumbers(OpAsmParser &parser, DenseF64ArrayAttr &numbers) {
  SmallVector<double> values;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     [&] { return parser.parseFloat(values.emplace_back()); }))
    return failure();
  numbers = parser.getBuilder().getDenseF64ArrayAttr(values);
  return success();
}

void printNumbers(OpAsmPrinter &printer, Operation *, DenseF64ArrayAttr numbers) {
  printer << '[';
  llvm::interleaveComma(numbers.asArrayRef(), printer,
                        [&](double number) { printer << printNumber(number); });
  printer << ']';
}

ParseResult parseGradients(OpAsmParser &parser,
                           SmallVectorImpl<OpAsmParser::UnresolvedOperand> &gradients,
                           SmallVectorImpl<Type> &types, ArrayAttr &params) {
  SmallVector<Attribute> names;
  auto parseEntry = [&]() -> ParseResult {
    FlatSymbolRefAttr name;
    if (parser.parseOperand(gradients.emplace_back()) || parser.parseKeyword("of") ||
        parser.parseAttribute(name) || parser.parseColonType(types.emplace_back()))
      return failure();
    names.push_back(name);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseEntry))
    return failure();
  params = parser.getBuilder().getArrayAttr(names);
  return success();
}

void printGradients(OpAsmPrinter &printer, Operation *, OperandRange gradients, TypeRange types,
                    ArrayAttr params) {
  printer << '(';
  llvm::interleaveComma(llvm::zip_equal(gradients, params, types), printer, [&](auto entry) {
    auto [gradient, param, type] = entry;
    printer << gradient << " of " << param << " : " << type;
  });
  printer << ')';
}

} // namespace

#define GET_OP_CLASSES
#include "zero/Dialect/NN/NNOps.cpp.inc"

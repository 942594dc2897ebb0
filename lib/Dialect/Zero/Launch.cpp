//===- Launch.cpp - kernels, launches and their effects ----------------------===//

#include "Symbols.h"

#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;

namespace zero::ir {
namespace {

/// `[[0], []]`
ParseResult parseLists(OpAsmParser &parser, ArrayAttr &lists) {
  SmallVector<Attribute> outer;
  auto parseList = [&]() -> ParseResult {
    SmallVector<int64_t> inner;
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       [&] { return parser.parseInteger(inner.emplace_back()); }))
      return failure();
    outer.push_back(parser.getBuilder().getI64ArrayAttr(inner));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseList))
    return failure();
  lists = parser.getBuilder().getArrayAttr(outer);
  return success();
}

void printLists(OpAsmPrinter &printer, ArrayAttr lists) {
  printer << '[';
  llvm::interleaveComma(lists, printer, [&](Attribute list) {
    printer << '[';
    llvm::interleaveComma(cast<ArrayAttr>(list).getAsValueRange<IntegerAttr>(), printer,
                          [&](const APInt &value) { printer << value.getSExtValue(); });
    printer << ']';
  });
  printer << ']';
}

SmallVector<int64_t> listAt(ArrayAttr lists, unsigned i) {
  SmallVector<int64_t> values;
  if (lists && i < lists.size())
    for (const APInt &value : cast<ArrayAttr>(lists[i]).getAsValueRange<IntegerAttr>())
      values.push_back(value.getSExtValue());
  return values;
}

/// Whether every entry is a list of 64-bit integers.
bool areLists(ArrayAttr lists) {
  return llvm::all_of(lists, [](Attribute list) {
    auto inner = dyn_cast<ArrayAttr>(list);
    return inner && llvm::all_of(inner, [](Attribute value) {
             auto number = dyn_cast<IntegerAttr>(value);
             return number && number.getType().isInteger(64);
           });
  });
}

} // namespace

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> resultTypes;
  SmallVector<DictionaryAttr> resultAttrs;
  bool isVariadic = false;
  Properties &properties = result.getOrAddProperties<Properties>();
  if (parser.parseSymbolName(name) ||
      function_interface_impl::parseFunctionSignatureWithArguments(
          parser, /*allowVariadic=*/false, arguments, isVariadic, resultTypes, resultAttrs) ||
      parser.parseKeyword("kind"))
    return failure();
  properties.sym_name = name;
  SmallVector<Type> types = llvm::map_to_vector(arguments, [](auto &a) { return a.type; });
  properties.function_type = TypeAttr::get(parser.getBuilder().getFunctionType(types, resultTypes));
  call_interface_impl::addArgAndResultAttrs(parser.getBuilder(), result, arguments, resultAttrs,
                                            getArgAttrsAttrName(result.name),
                                            getResAttrsAttrName(result.name));
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<KernelKind> kind = symbolizeKernelKind(keyword);
  if (!kind)
    return parser.emitError(loc)
           << "expects generated, gemm, attention, cross_entropy or scatter, got '" << keyword
           << "'";
  properties.kind = KernelKindAttr::get(parser.getContext(), *kind);
  if (succeeded(parser.parseOptionalKeyword("may_reuse")) &&
      parseLists(parser, properties.may_reuse))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("strides")) && parseLists(parser, properties.strides))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  function_interface_impl::printFunctionSignature(printer, *this, getArgumentTypes(),
                                                  /*isVariadic=*/false, getResultTypes());
  printer << " kind " << stringifyKernelKind(getKind());
  if (ArrayAttr lists = getMayReuseAttr()) {
    printer << " may_reuse ";
    printLists(printer, lists);
  }
  if (ArrayAttr lists = getStridesAttr()) {
    printer << " strides ";
    printLists(printer, lists);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), getAttributeNames());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

SmallVector<int64_t> KernelOp::getMayReuseOf(unsigned i) { return listAt(getMayReuseAttr(), i); }

SmallVector<int64_t> KernelOp::getStridesOf(unsigned i) {
  SmallVector<int64_t> strides = listAt(getStridesAttr(), i);
  auto type = cast<RankedTensorType>(getArgumentTypes()[i]);
  if (!strides.empty() || type.getRank() == 0)
    return strides;
  strides.assign(type.getRank(), 1);
  for (int64_t d = type.getRank() - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * type.getDimSize(d + 1);
  return strides;
}

LogicalResult KernelOp::verify() {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && countElements(tensor);
  };
  for (Type type : llvm::concat<const Type>(getArgumentTypes(), getResultTypes()))
    if (!isStatic(type)) // (C1)
      return emitOpError() << "expects static ranked tensors of at most 2^60 elements, got "
                           << type;

  if (ArrayAttr lists = getMayReuseAttr()) { // (C2)
    if (lists.size() != getNumResults() || !areLists(lists))
      return emitOpError() << "expects may_reuse to have a list of i64 for each of "
                           << getNumResults() << " results, got " << lists;
    for (unsigned i = 0; i < getNumResults(); ++i)
      for (int64_t operand : getMayReuseOf(i)) {
        if (operand < 0 || operand >= static_cast<int64_t>(getNumArguments()))
          return emitOpError() << "expects may_reuse to name operands below " << getNumArguments()
                               << ", got " << operand;
        auto from = cast<RankedTensorType>(getArgumentTypes()[operand]);
        auto to = cast<RankedTensorType>(getResultTypes()[i]);
        if (from.getElementTypeBitWidth() != to.getElementTypeBitWidth() ||
            countElements(from) != countElements(to))
          return emitOpError() << "expects a result to reuse an operand of equal element width and "
                                  "count of elements, got "
                               << to << " over " << from;
      }
  }
  if (ArrayAttr lists = getStridesAttr()) { // (C3)
    if (lists.size() != getNumArguments() || !areLists(lists))
      return emitOpError() << "expects strides to have a list of i64 for each of "
                           << getNumArguments() << " arguments, got " << lists;
    for (auto [list, type] : llvm::zip(lists.getAsRange<ArrayAttr>(), getArgumentTypes())) {
      int64_t rank = cast<RankedTensorType>(type).getRank();
      if (!list.empty() && static_cast<int64_t>(list.size()) != rank)
        return emitOpError() << "expects no strides, or " << rank << " for an argument of type "
                             << type << ", got " << list.size();
      for (const APInt &stride : list.getAsValueRange<IntegerAttr>())
        if (stride.isNegative())
          return emitOpError() << "expects strides of at least 0, got " << stride.getSExtValue();
    }
  }
  if (!getBody().hasOneBlock())
    return emitOpError("expects a body of one block");
  Block &block = getBody().front();
  if (block.empty() || !isa<YieldOp>(block.back()) ||
      ValueRange(block.back().getOperands()).getTypes() != TypeRange(getResultTypes())) { // (C4)
    return emitOpError() << "expects a body that yields " << getResultTypes();
  }
  return success();
}

void LaunchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (getStream())
    effects.emplace_back(MemoryEffects::Write::get(), TimelineResource::get());
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = lookup<KernelOp>(*this, getKernelAttr(), symbols); // (C1)
  if (!kernel)
    return failure();
  auto check = [&](StringRef what, TypeRange got, ArrayRef<Type> want) -> LogicalResult {
    if (got == TypeRange(want))
      return success();
    InFlightDiagnostic error = emitOpError();
    error << "expects " << what << " of types (" << want << "), got (" << got << ")";
    error.attachNote(kernel.getLoc()) << "the kernel is here";
    return error;
  };
  if (failed(check("operands", getArgs().getTypes(), kernel.getArgumentTypes())) ||
      failed(check("results", getOuts().getTypes(), kernel.getResultTypes())))
    return failure();
  ArrayAttr places = getPlacesAttr();
  if (!places)
    return success();
  if (places.size() != getOuts().size()) // (C2)
    return emitOpError() << "expects one place for each of " << getOuts().size() << " results, got "
                         << places.size();
  for (auto [i, place] : llvm::enumerate(places.getAsRange<PlaceAttr>())) {
    if (place.getValue() < 0)
      return emitOpError() << "expects a place of at least 0, got " << place.getValue();
    if (place.getKind() == PlaceKind::Inout &&
        !llvm::is_contained(kernel.getMayReuseOf(i), place.getValue())) { // (C3)
      InFlightDiagnostic error = emitOpError();
      error << "expects result " << i << " over an operand that it may reuse, got operand "
            << place.getValue();
      error.attachNote(kernel.getLoc()) << "the kernel is here";
      return error;
    }
  }
  return success();
}

} // namespace zero::ir

//===- Segment.cpp - segments and the control scalars -------------------------===//

#include "Symbols.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace zero::ir {
namespace {

/// Whether each name prints as an SSA name of its own, so that parsing finds it again.
bool readBack(ArrayAttr names) {
  llvm::StringSet<> seen;
  return llvm::all_of(names.getAsValueRange<StringAttr>(), [&](StringRef name) {
    auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; };
    return !name.empty() && !llvm::isDigit(name.front()) && llvm::all_of(name, isWord) &&
           seen.insert(name).second;
  });
}

/// Whether a cell holds a value, or one such value a run of the segment around `op`.
LogicalResult verifyCellHolds(Operation *op, CellOp cell, Type type) {
  auto value = cast<RankedTensorType>(type);
  RankedTensorType held = cell.getTensorType();
  if (held == value)
    return success();
  SmallVector<int64_t> shape{1};
  auto segment = op->getParentOfType<SegmentOp>();
  if (segment)
    shape[0] = segment.getTimes();
  llvm::append_range(shape, value.getShape());
  if (held == RankedTensorType::get(shape, value.getElementType()))
    return success();
  return op->emitOpError() << "expects a cell of " << value
                           << ", or with one such value a run, got " << held;
}

} // namespace

ParseResult SegmentOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  int64_t times = 0;
  Builder &builder = parser.getBuilder();
  Properties &properties = result.getOrAddProperties<Properties>();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> names;
  SmallVector<int64_t> offsets;
  SMLoc loc;
  auto parseArgument = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (parser.parseArgument(argument, /*allowType=*/true))
      return failure();
    names.push_back(builder.getStringAttr(argument.ssaName.name.drop_front()));
    if (succeeded(parser.parseOptionalKeyword("at")))
      return parser.parseInteger(offsets.emplace_back());
    return success();
  };
  if (parser.parseSymbolName(name) || parser.parseKeyword("times") || parser.parseInteger(times) ||
      parser.getCurrentLocation(&loc) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalParen, parseArgument))
    return failure();
  if (!offsets.empty() && offsets.size() != arguments.size())
    return parser.emitError(loc) << "expects a place for all arguments or none, got "
                                 << offsets.size() << " for " << arguments.size();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  properties.sym_name = name;
  properties.times = builder.getI64IntegerAttr(times);
  if (!offsets.empty())
    properties.offsets = builder.getDenseI64ArrayAttr(offsets);
  StringAttr namesName = getNamesAttrName(result.name);
  if (Attribute written = result.attributes.get(namesName)) {
    result.attributes.erase(namesName);
    properties.names = dyn_cast<ArrayAttr>(written);
    if (!properties.names)
      return parser.emitError(loc) << "expects names to be a list of strings, got " << written;
  } else {
    properties.names = builder.getArrayAttr(names);
  }
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

void SegmentOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << " times " << getTimes() << ' ';
  Block &block = getBody().front();
  if (block.getNumArguments() != 0) {
    printer << '(';
    llvm::interleaveComma(block.getArguments(), printer, [&](BlockArgument argument) {
      printer.printRegionArgument(argument);
      if (auto offsets = getOffsets())
        printer << " at " << (*offsets)[argument.getArgNumber()];
    });
    printer << ") ";
  }
  SmallVector<StringRef> elided = {getSymNameAttrName(), getTimesAttrName(), getOffsetsAttrName()};
  if (readBack(getNames()))
    elided.push_back(getNamesAttrName());
  if (llvm::any_of((*this)->getAttrs(), [&](NamedAttribute attribute) {
        return !llvm::is_contained(elided, attribute.getName());
      })) {
    printer << "attributes";
    printer.printOptionalAttrDict((*this)->getAttrs(), elided);
    printer << ' ';
  }
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/true);
}

void SegmentOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (auto [argument, name] : llvm::zip(region.getArguments(), getNames()))
    setName(argument, cast<StringAttr>(name).getValue());
}

LogicalResult SegmentOp::verify() {
  int64_t times = getTimes();
  if (times < 1) // (C1)
    return emitOpError() << "expects to run at least once a step, got " << times;
  Block &block = getBody().front();
  for (Type type : block.getArgumentTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !countElements(tensor)) // (C2)
      return emitOpError() << "expects static ranked tensors as arguments, got " << type;
  }
  size_t arguments = block.getNumArguments();
  if (getNames().size() != arguments) // (C3)
    return emitOpError() << "expects one name for each of " << arguments << " arguments, got "
                         << getNames().size();
  if (getOffsets() && getOffsets()->size() != arguments)
    return emitOpError() << "expects one place for each of " << arguments << " arguments, got "
                         << getOffsets()->size();
  return success();
}

LogicalResult CountOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto cell = lookup<CellOp>(*this, getCellAttr(), symbols);
  if (!cell)
    return failure();
  if (!cell.getTensorType().getElementType().isInteger(64) ||
      cell.getTensorType().getRank() > 1) // (C1)
    return emitOpError() << "expects an i64 cell of rank 0 or 1, got " << cell.getTensorType();
  if (!cast<RankedTensorType>(getLabels().getType()).getElementType().isInteger()) // (C2)
    return emitOpError() << "expects labels that are integers, got " << getLabels().getType();
  return success();
}

LogicalResult SeedOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto seed = lookup<CellOp>(*this, getSeedAttr(), symbols);
  if (!seed)
    return failure();
  if (!seed.getTensorType().getElementType().isF32()) // (C1)
    return emitOpError() << "expects an f32 cell for the seed, got " << seed.getTensorType();
  if (!getCountCellAttr())
    return success();
  auto count = lookup<CellOp>(*this, getCountCellAttr(), symbols);
  if (!count)
    return failure();
  if (!count.getTensorType().getElementType().isInteger(64))
    return emitOpError() << "expects an i64 cell for the count, got " << count.getTensorType();
  if (count.getTensorType().getShape() != seed.getTensorType().getShape()) // (C2)
    return emitOpError() << "expects seed and count to share a shape, got " << seed.getTensorType()
                         << " and " << count.getTensorType();
  return success();
}

LogicalResult RandomOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto cell = lookup<CellOp>(*this, getCellAttr(), symbols); // (C1)
  if (!cell)
    return failure();
  auto words = RankedTensorType::get({4}, IntegerType::get(getContext(), 32));
  if (cell.getTensorType() != words)
    return emitOpError() << "expects a cell of " << words << ", got " << cell.getTensorType();
  if (auto samples = static_cast<int64_t>(getSamples()); samples < 1) // (C2)
    return emitOpError() << "expects at least one sample, got " << samples;
  return success();
}

LogicalResult ScalarOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto cell = lookup<CellOp>(*this, getCellAttr(), symbols); // (C1)
  return cell ? verifyCellHolds(*this, cell, getResult().getType()) : failure();
}

LogicalResult SetOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto cell = lookup<CellOp>(*this, getCellAttr(), symbols); // (C1)
  return cell ? verifyCellHolds(*this, cell, getValue().getType()) : failure();
}

} // namespace zero::ir

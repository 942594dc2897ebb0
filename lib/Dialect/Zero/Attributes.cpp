//===- Attributes.cpp - held states, places and ranges as text --------------===//
//
// Each attribute has one spelling that serves alone (`#zero.held<param f32 full>`)
// and, without prefix, in the list of its op. A half-open interval would leave
// unbalanced brackets in the former, so a lone range is `#zero.range<0 to 24 decay>`.
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

namespace zero::ir {
namespace {

/// Parses a keyword that the enum knows, and names the known ones where it does not.
template <typename EnumT>
FailureOr<EnumT> parseEnum(AsmParser &parser, std::optional<EnumT> (*symbolize)(StringRef),
                           StringRef known) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  if (std::optional<EnumT> value = symbolize(keyword))
    return *value;
  return parser.emitError(loc) << "expects " << known << ", got '" << keyword << "'";
}

FailureOr<bool> parseEither(AsmParser &parser, StringRef yes, StringRef no) {
  if (succeeded(parser.parseOptionalKeyword(yes)))
    return true;
  if (succeeded(parser.parseOptionalKeyword(no)))
    return false;
  return parser.emitError(parser.getCurrentLocation())
         << "expects '" << yes << "' or '" << no << "'";
}

FailureOr<HeldAttr> parseHeld(AsmParser &parser) {
  auto kind = parseEnum<StateKind>(parser, symbolizeStateKind,
                                   "param, grad, grad_accum, master, moment1 or moment2");
  Type type;
  if (failed(kind) || parser.parseType(type))
    return failure();
  FailureOr<bool> sharded = parseEither(parser, "sharded", "full");
  int64_t offset = -1;
  if (failed(sharded) ||
      (succeeded(parser.parseOptionalKeyword("at")) && parser.parseInteger(offset)))
    return failure();
  return HeldAttr::get(parser.getContext(), *kind, type, *sharded, offset);
}

void printHeld(AsmPrinter &printer, HeldAttr held) {
  printer << stringifyStateKind(held.getKind()) << ' ' << held.getType() << ' '
          << (held.getSharded() ? "sharded" : "full");
  if (held.getOffset() >= 0)
    printer << " at " << held.getOffset();
}

FailureOr<PlaceAttr> parsePlace(AsmParser &parser) {
  auto kind = parseEnum<PlaceKind>(parser, symbolizePlaceKind, "at, inout, slot or cell");
  if (failed(kind))
    return failure();
  int64_t value = 0;
  bool counted = *kind == PlaceKind::At || *kind == PlaceKind::Inout;
  if (counted && parser.parseInteger(value))
    return failure();
  return PlaceAttr::get(parser.getContext(), *kind, value);
}

void printPlace(AsmPrinter &printer, PlaceAttr place) {
  printer << stringifyPlaceKind(place.getKind());
  if (place.getKind() == PlaceKind::At || place.getKind() == PlaceKind::Inout)
    printer << ' ' << place.getValue();
}

/// `decay group 1`: what a range says of its elements.
FailureOr<RangeAttr> parseRangeOf(AsmParser &parser, int64_t begin, int64_t end) {
  FailureOr<bool> decay = parseEither(parser, "decay", "no_decay");
  int64_t group = -1;
  if (failed(decay))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("group"))) {
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(group))
      return failure();
    if (group < 0)
      return parser.emitError(loc) << "expects a group of at least 0, got " << group;
  }
  return RangeAttr::get(parser.getContext(), begin, end, *decay, group);
}

void printRangeOf(AsmPrinter &printer, RangeAttr range) {
  printer << (range.getDecay() ? " decay" : " no_decay");
  if (range.getGroup() >= 0)
    printer << " group " << range.getGroup();
}

FailureOr<RangeAttr> parseRange(AsmParser &parser) {
  int64_t begin = 0, end = 0;
  if (parser.parseLSquare() || parser.parseInteger(begin) || parser.parseComma() ||
      parser.parseInteger(end) || parser.parseRParen())
    return failure();
  return parseRangeOf(parser, begin, end);
}

template <typename ParseElement>
ParseResult parseList(OpAsmParser &parser, AsmParser::Delimiter delimiter, ArrayAttr &list,
                      ParseElement parseElement) {
  SmallVector<Attribute> elements;
  auto parseOne = [&]() -> ParseResult {
    auto element = parseElement(parser);
    if (failed(element))
      return failure();
    elements.push_back(*element);
    return success();
  };
  if (parser.parseCommaSeparatedList(delimiter, parseOne))
    return failure();
  list = ArrayAttr::get(parser.getContext(), elements);
  return success();
}

} // namespace

Attribute HeldAttr::parse(AsmParser &parser, Type) {
  FailureOr<HeldAttr> held = failure();
  if (parser.parseLess() || failed(held = parseHeld(parser)) || parser.parseGreater())
    return {};
  return *held;
}

void HeldAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printHeld(printer, *this);
  printer << '>';
}

Attribute PlaceAttr::parse(AsmParser &parser, Type) {
  FailureOr<PlaceAttr> place = failure();
  if (parser.parseLess() || failed(place = parsePlace(parser)) || parser.parseGreater())
    return {};
  return *place;
}

void PlaceAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printPlace(printer, *this);
  printer << '>';
}

Attribute RangeAttr::parse(AsmParser &parser, Type) {
  int64_t begin = 0, end = 0;
  if (parser.parseLess() || parser.parseInteger(begin) || parser.parseKeyword("to") ||
      parser.parseInteger(end))
    return {};
  FailureOr<RangeAttr> range = parseRangeOf(parser, begin, end);
  if (failed(range) || parser.parseGreater())
    return {};
  return *range;
}

void RangeAttr::print(AsmPrinter &printer) const {
  printer << '<' << getBegin() << " to " << getEnd();
  printRangeOf(printer, *this);
  printer << '>';
}

ParseResult parseHeldList(OpAsmParser &parser, ArrayAttr &held) {
  return parseList(parser, AsmParser::Delimiter::Square, held, parseHeld);
}

void printHeldList(OpAsmPrinter &printer, Operation *, ArrayAttr held) {
  printer << '[';
  llvm::interleaveComma(held.getAsRange<HeldAttr>(), printer,
                        [&](HeldAttr entry) { printHeld(printer, entry); });
  printer << ']';
}

ParseResult parsePlaces(OpAsmParser &parser, ArrayAttr &places) {
  return parseList(parser, AsmParser::Delimiter::Square, places, parsePlace);
}

void printPlaces(OpAsmPrinter &printer, Operation *, ArrayAttr places) {
  printer << '[';
  llvm::interleaveComma(places.getAsRange<PlaceAttr>(), printer,
                        [&](PlaceAttr place) { printPlace(printer, place); });
  printer << ']';
}

ParseResult parseRanges(OpAsmParser &parser, ArrayAttr &ranges) {
  return parseList(parser, AsmParser::Delimiter::Braces, ranges, parseRange);
}

void printRanges(OpAsmPrinter &printer, Operation *, ArrayAttr ranges) {
  printer << '{';
  llvm::interleaveComma(ranges.getAsRange<RangeAttr>(), printer, [&](RangeAttr range) {
    printer << '[' << range.getBegin() << ", " << range.getEnd() << ')';
    printRangeOf(printer, range);
  });
  printer << '}';
}

} // namespace zero::ir

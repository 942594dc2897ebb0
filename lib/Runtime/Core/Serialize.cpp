//===- Serialize.cpp - a step table as bytes ------------------------------===//
//
// One list of fields per struct serves writing and reading. Numbers are
// little-endian and of fixed width, so equal programs give equal bytes:
//
//   "ZRTP"  version u32  size u64 (of everything)  fields …  FNV-1a u64 of all before it
//
// Reading trusts nothing: every count is held against the bytes that are left,
// every enumerator against its range, and the whole against `check`.
//
//===----------------------------------------------------------------------===//

#include "Fnv1a.h"
#include "zero/Runtime/Program.h"

#include <bit>
#include <concepts>
#include <cstring>
#include <type_traits>

namespace zrt {

namespace {

constexpr uint8_t kMagic[4] = {'Z', 'R', 'T', 'P'};
constexpr size_t kHeaderBytes = 16, kTrailerBytes = 8;

constexpr uint8_t last(ElementType) { return uint8_t(ElementType::f16); }
constexpr uint8_t last(BucketClass) { return uint8_t(BucketClass::Unused); }
constexpr uint8_t last(InitKind) { return uint8_t(InitKind::Uniform); }
constexpr uint8_t last(Activation) { return uint8_t(Activation::Relu); }
constexpr uint8_t last(KernelKind) { return uint8_t(KernelKind::Scatter); }
constexpr uint8_t last(Opcode) { return uint8_t(Opcode::Wait); }
constexpr uint8_t last(Stream) { return uint8_t(Stream::Reduce); }
constexpr uint8_t last(WriteMode) { return uint8_t(WriteMode::WriteFirst); }
constexpr uint8_t last(SegmentRole) { return uint8_t(SegmentRole::Evaluation); }
constexpr uint8_t last(OptimizerKind) { return uint8_t(OptimizerKind::Lion); }
constexpr uint8_t last(LossMean) { return uint8_t(LossMean::Rank); }

/// A reference to a struct, const while writing.
template <typename T, typename Struct>
concept Is = std::same_as<std::remove_const_t<T>, Struct>;

void fields(auto &io, Is<Slot> auto &s) {
  io(s.parameter, s.shape, s.beginElement, s.elements, s.decay, s.group, s.init, s.initScale,
     s.zeroRow);
}
void fields(auto &io, Is<StatePlace> auto &p) { io(p.present, p.sharded, p.offset, p.type); }
void fields(auto &io, Is<Bucket> auto &b) {
  io(b.name, b.bucketClass, b.type, b.lengthElements, b.chunkElements, b.slots);
  for (auto &place : b.state)
    io(place);
}
void fields(auto &io, Is<Input> auto &i) {
  io(i.name, i.type, i.shape, i.offset, i.bound, i.ignore);
}
void fields(auto &io, Is<Scalar> auto &s) { io(s.name, s.type, s.elements, s.offset); }
void fields(auto &io, Is<GeneratedDesc> auto &d) { io(d.index, d.units, d.addIndex); }
void fields(auto &io, Is<GemmDesc> auto &d) {
  io(d.type, d.resultType, d.batch, d.m, d.n, d.k, d.aBatch, d.aRow, d.aCol, d.bBatch, d.bRow,
     d.bCol, d.cBatch, d.cRow, d.residualBatch, d.residualRow, d.hasBias, d.hasResidual,
     d.activation);
}
void fields(auto &io, Is<AttentionDesc::Strides> auto &s) { io(s.batch, s.time, s.head); }
void fields(auto &io, Is<AttentionDesc> auto &d) {
  io(d.type, d.dropoutRate, d.dropoutSite, d.batch, d.queryLen, d.keyLen, d.heads, d.kvHeads,
     d.headDim, d.scale, d.causal, d.backward, d.q, d.k, d.v, d.out, d.dOut, d.dQ, d.dK, d.dV);
}
void fields(auto &io, Is<CrossEntropyDesc> auto &d) {
  io(d.type, d.withGradient, d.rows, d.classes, d.ignore);
}
void fields(auto &io, Is<ScatterDesc> auto &d) {
  io(d.type, d.resultType, d.rows, d.width, d.tableRows);
}
void fields(auto &io, Is<Kernel> auto &k) {
  io(k.name, k.kind, k.flops);
  switch (k.kind) {
  case KernelKind::Generated:
    return io(k.generated);
  case KernelKind::Gemm:
    return io(k.gemm);
  case KernelKind::Attention:
    return io(k.attention);
  case KernelKind::CrossEntropy:
    return io(k.crossEntropy);
  case KernelKind::Scatter:
    return io(k.scatter);
  }
}
void fields(auto &io, Is<Row> auto &r) {
  io(r.opcode, r.stream, r.mode, r.kernel, r.bucket, r.inPlace, r.sumOverRanks, r.operands,
     r.perRunBytes, r.buckets, r.waits, r.frees, r.allocates);
}
void fields(auto &io, Is<Segment> auto &s) { io(s.name, s.role, s.times, s.inputs, s.rows); }
void fields(auto &io, Is<GroupDesc> auto &g) { io(g.lrScale, g.weightDecay); }
void fields(auto &io, Is<OptimizerDesc> auto &o) {
  io(o.kind, o.beta1, o.beta2, o.eps, o.weightDecay, o.momentum, o.clip, o.groups);
}
void fields(auto &io, Is<Program> auto &p) {
  io(p.ranks, p.stage, p.microSteps, p.threadsPerRank, p.microBatch, p.arenaBytes,
     p.persistentBytes, p.optimizer, p.lossMean, p.lossIsTokenMean, p.lossIgnore, p.buckets,
     p.scalars, p.kernels, p.segments);
}

class Writer {
public:
  template <typename... Values> void operator()(const Values &...values) { (write(values), ...); }

  std::vector<uint8_t> bytes;

  void number(uint64_t value, int width) {
    for (int byte = 0; byte < width; ++byte)
      bytes.push_back(uint8_t(value >> (8 * byte)));
  }

private:
  void write(int64_t value) { number(uint64_t(value), 8); }
  void write(int32_t value) { number(uint32_t(value), 4); }
  void write(double value) { number(std::bit_cast<uint64_t>(value), 8); }
  void write(float value) { number(std::bit_cast<uint32_t>(value), 4); }
  void write(bool value) { number(value, 1); }
  template <typename E>
    requires std::is_enum_v<E>
  void write(E value) {
    number(uint8_t(value), 1);
  }
  void write(const std::string &text) {
    number(text.size(), 8);
    bytes.insert(bytes.end(), text.begin(), text.end());
  }
  template <typename T> void write(const std::optional<T> &value) {
    write(value.has_value());
    if (value)
      write(*value);
  }
  template <typename A, typename B> void write(const std::pair<A, B> &pair) {
    (*this)(pair.first, pair.second);
  }
  template <typename T> void write(const std::vector<T> &list) {
    number(list.size(), 8);
    for (const T &item : list)
      write(item);
  }
  template <typename Struct>
    requires(std::is_class_v<Struct>)
  void write(const Struct &value) {
    fields(*this, value);
  }
};

/// After the first fault every read gives zeros and empty lists, so that nothing loops on bad
/// counts.
class Reader {
public:
  Reader(const uint8_t *data, size_t size) : next(data), left(size) {}

  template <typename... Values> void operator()(Values &...values) { (read(values), ...); }

  bool failed() const { return fault; }
  size_t bytesLeft() const { return left; }

private:
  uint64_t number(int width) {
    if (fault || left < size_t(width))
      return fail();
    uint64_t value = 0;
    for (int byte = 0; byte < width; ++byte)
      value |= uint64_t(next[byte]) << (8 * byte);
    next += width;
    left -= size_t(width);
    return value;
  }
  uint64_t fail() {
    fault = true;
    return 0;
  }
  /// Every item takes at least one byte, which bounds what a wrong count can make us reserve.
  size_t count() {
    uint64_t value = number(8);
    return value <= left ? size_t(value) : size_t(fail());
  }

  void read(int64_t &value) { value = int64_t(number(8)); }
  void read(int32_t &value) { value = int32_t(number(4)); }
  void read(double &value) { value = std::bit_cast<double>(number(8)); }
  void read(float &value) { value = std::bit_cast<float>(uint32_t(number(4))); }
  void read(bool &value) {
    uint64_t byte = number(1);
    value = (byte <= 1 ? byte : fail()) != 0;
  }
  template <typename E>
    requires std::is_enum_v<E>
  void read(E &value) {
    uint64_t byte = number(1);
    value = E(uint8_t(byte <= last(E{}) ? byte : fail()));
  }
  void read(std::string &text) {
    size_t size = count();
    text.assign(reinterpret_cast<const char *>(next), size);
    next += size;
    left -= size;
  }
  template <typename T> void read(std::optional<T> &value) {
    bool present = false;
    read(present);
    value.reset();
    if (present)
      read(value.emplace());
  }
  template <typename A, typename B> void read(std::pair<A, B> &pair) {
    (*this)(pair.first, pair.second);
  }
  template <typename T> void read(std::vector<T> &list) {
    list.clear();
    for (size_t items = count(); items > 0 && !fault; --items)
      read(list.emplace_back());
  }
  template <typename Struct>
    requires(std::is_class_v<Struct>)
  void read(Struct &value) {
    fields(*this, value);
  }

  const uint8_t *next;
  size_t left;
  bool fault = false;
};

uint64_t littleEndian(const uint8_t *bytes, int width) {
  uint64_t value = 0;
  for (int byte = 0; byte < width; ++byte)
    value |= uint64_t(bytes[byte]) << (8 * byte);
  return value;
}

} // namespace

std::vector<uint8_t> serialize(const Program &program) {
  Writer writer;
  writer.bytes.assign(kMagic, kMagic + 4);
  writer.number(kProgramVersion, 4);
  writer.number(0, 8);
  writer(program);
  uint64_t size = writer.bytes.size() + kTrailerBytes;
  for (int byte = 0; byte < 8; ++byte)
    writer.bytes[8 + byte] = uint8_t(size >> (8 * byte));
  writer.number(fnv1a(writer.bytes.data(), writer.bytes.size()), 8);
  return std::move(writer.bytes);
}

std::optional<Program> deserialize(const uint8_t *data, size_t size, std::string &error) {
  auto reject = [&](std::string message) {
    error = std::move(message);
    return std::nullopt;
  };
  if (size < kHeaderBytes + kTrailerBytes || std::memcmp(data, kMagic, 4) != 0)
    return reject("expects a step table that begins with 'ZRTP', got " + std::to_string(size) +
                  " foreign or cut off bytes");
  uint64_t version = littleEndian(data + 4, 4), stated = littleEndian(data + 8, 8);
  if (version != kProgramVersion)
    return reject("expects a step table of version " + std::to_string(kProgramVersion) +
                  ", got version " + std::to_string(version));
  if (stated != size)
    return reject("expects a step table of " + std::to_string(stated) + " bytes, got " +
                  std::to_string(size));
  if (littleEndian(data + size - kTrailerBytes, 8) != fnv1a(data, size - kTrailerBytes))
    return reject("expects the step table's checksum to fit its bytes, got damaged bytes");

  Reader reader(data + kHeaderBytes, size - kHeaderBytes - kTrailerBytes);
  std::optional<Program> program(std::in_place);
  reader(*program);
  if (reader.failed() || reader.bytesLeft() != 0)
    return reject(
        "expects the fields of a step table, got a count, flag or name of a kind that does "
        "not fit");
  if (error = check(*program); !error.empty())
    return std::nullopt;
  return program;
}

uint64_t hash(const Program &program) {
  std::vector<uint8_t> bytes = serialize(program);
  return fnv1a(bytes.data(), bytes.size());
}

} // namespace zrt

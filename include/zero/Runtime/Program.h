//===- Program.h - the step table of an emitted executable ---------------===//
//
// A program is what the compiler hands to the runtime: the buckets and their
// layout, the inputs and scalars with their places in the arena, the kernels,
// and per segment a list of rows, walked in order on every rank. The same
// program serves all ranks; what differs by rank follows from the rank number,
// the bucket descriptors and N. `serialize` turns it into position-independent
// bytes, which stand in the emitted object under the symbol `zrt_program`,
// beside `zrt_kernels`, an array of pointers to the generated kernels.
//
// All offsets and sizes are bytes from the start of one rank's arena unless a
// name says elements. No MLIR and no LLVM here.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_PROGRAM_H
#define ZERO_RUNTIME_PROGRAM_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zrt {

/// Raised by any change to the serialised form; `deserialize` refuses others.
inline constexpr uint32_t kProgramVersion = 3;

/// Slots and arena rows start at multiples of this.
inline constexpr int64_t kAlignmentBytes = 64;

enum class ElementType : uint8_t { f32, f64, i32, i64, bf16, f16 };
int64_t elementBytes(ElementType type);
std::string_view name(ElementType type);
/// f32, bf16 and f16: the types of weights, gradients and what kernels compute on.
bool isTrainingType(ElementType type);

enum class BucketClass : uint8_t { Trainable, Frozen, Unused };
enum class StateKind : uint8_t { Param, Grad, GradAccum, Master, Moment1, Moment2 };
inline constexpr int kStateKindCount = 6;
std::string_view name(StateKind kind);

/// Initial values: a function of (seed, parameter name, element) alone.
enum class InitKind : uint8_t { Zeros, Ones, Constant, Normal, Uniform };

/// A whole parameter inside its bucket.
struct Slot {
  std::string parameter;
  std::vector<int64_t> shape;
  int64_t beginElement = 0; // in the full bucket, a multiple of 64 bytes
  int64_t elements = 0;
  bool decay = false; // weight decay applies, where the group does not say otherwise
  int32_t group = -1; // into OptimizerDesc::groups; -1: none
  InitKind init = InitKind::Zeros;
  double initScale = 0.0; // standard deviation, half-width or constant
  int64_t zeroRow = -1;   // a row of the first dimension that starts at 0; -1: none
};

/// Where one kind of state of a bucket lives.
struct StatePlace {
  bool present = false;
  bool sharded = false; // the rank's pieces in chunk order; else the full bucket
  int64_t offset = 0;   // sharded: element-aligned only
  /// Weights have the bucket's type, gradients their own (those formed in a transient buffer are of
  /// the state's type too), masters and moments are f32.
  ElementType type = ElementType::f32;
};

struct Bucket {
  std::string name;
  BucketClass bucketClass = BucketClass::Trainable;
  ElementType type = ElementType::f32;
  int64_t lengthElements = 0; // a multiple of N
  int64_t chunkElements = 0;  // a multiple of N; the last chunk may be shorter
  std::vector<Slot> slots;
  StatePlace state[kStateKindCount];
};

/// A batch argument of a segment. Copied in at the start of each run of the segment.
struct Input {
  std::string name;
  ElementType type = ElementType::f32;
  std::vector<int64_t> shape; // one rank, one run of the segment
  int64_t offset = 0;
  /// For integer inputs used as indices: values must lie in [0, bound) or equal `ignore`.
  std::optional<int64_t> bound;
  std::optional<int64_t> ignore;
};

/// A named value of the control state (`count`, `seed`, `loss`, `norm`, …).
struct Scalar {
  std::string name;
  ElementType type = ElementType::f32;
  int64_t elements = 1;
  int64_t offset = 0;
};

enum class Activation : uint8_t { None, GeluTanh, GeluErf, Silu, Relu };

/// C[b,m,n] = epilogue(sum_k A[b,m,k]·B[b,k,n]); strides in elements.
/// epilogue: + bias[n], then activation, then + residual[b,m,n]. Sums and the epilogue are f32 and
/// rounded once, to C's type.
/// Row operands: A, B, [bias], [residual], C, workspace.
struct GemmDesc {
  ElementType type = ElementType::f32;       // of A, B, bias and residual: f32, bf16 or f16
  ElementType resultType = ElementType::f32; // of C: the same, or f32
  int64_t batch = 1, m = 0, n = 0, k = 0;
  int64_t aBatch = 0, aRow = 0, aCol = 0;
  int64_t bBatch = 0, bRow = 0, bCol = 0;
  int64_t cBatch = 0, cRow = 0;
  int64_t residualBatch = 0, residualRow = 0;
  bool hasBias = false, hasResidual = false;
  Activation activation = Activation::None;
};

/// Attention over [B, T, H, D] operands with element strides (batch, time, head; the last is 1).
/// Query head h reads key/value head h / (heads / kvHeads).
/// Forward row operands:  q, k, v, out, logSumExp[B,H,T], [random], workspace.
/// Backward row operands: q, k, v, out, logSumExp, dOut, dQ, dK, dV, [random], workspace.
/// `random` (see Opcode::SetRandom) is there where probabilities are dropped: the one of head h,
/// query i and key j is element (h·queryLen + i)·keyLen + j of its sample (see Random.h).
struct AttentionDesc {
  ElementType type = ElementType::f32; // of all operands but logSumExp, which is f32
  double dropoutRate = 0.0;            // 0: none
  int64_t dropoutSite = 0;
  int64_t batch = 0, queryLen = 0, keyLen = 0, heads = 0, kvHeads = 0, headDim = 0;
  float scale = 1.0f;
  bool causal = false;
  bool backward = false;
  struct Strides {
    int64_t batch = 0, time = 0, head = 0;
  };
  Strides q, k, v, out, dOut, dQ, dK, dV;
};

/// Row operands: logits[rows, classes], labels i32[rows], seed f32[], loss f32[], dLogits[rows,
/// classes]. loss = seed · Σ over rows whose label is not `ignore` of −log softmax(logits)[label],
/// summed in f64; dLogits = seed · (softmax − onehot), 0 in ignored rows; may be written over the
/// logits. Without a gradient the last operand is missing.
struct CrossEntropyDesc {
  ElementType type = ElementType::f32; // of logits and dLogits
  bool withGradient = true;
  int64_t rows = 0, classes = 0;
  int64_t ignore = -100;
};

/// Row operands: indices i32[rows], updates[rows, width], destination[tableRows, width], workspace.
/// Each hit row's sum is formed in f32 in index order and added once (or written, the others
/// zeroed).
struct ScatterDesc {
  ElementType type = ElementType::f32;       // of updates
  ElementType resultType = ElementType::f32; // of destination: the same, or f32
  int64_t rows = 0, width = 0, tableRows = 0;
};

/// A kernel made by the compiler: void f(char **operands, int64_t begin, int64_t end), over
/// independent units [0, units) (rows; 1 where the kernel can't be split over threads).
/// Row operands: the kernel's arguments, its results, then workspace if any.
struct GeneratedDesc {
  int64_t index = 0; // into zrt_kernels
  int64_t units = 1;
  /// Into zrt_kernels: the variant that adds its finished gradients (rounded to f32) to what they
  /// hold. Needed by rows whose mode adds; -1 where there is none.
  int64_t addIndex = -1;
};

enum class KernelKind : uint8_t { Generated, Gemm, Attention, CrossEntropy, Scatter };

struct Kernel {
  std::string name;
  KernelKind kind = KernelKind::Generated;
  GeneratedDesc generated;
  GemmDesc gemm;
  AttentionDesc attention;
  CrossEntropyDesc crossEntropy;
  ScatterDesc scatter;
  int64_t flops = 0;
};

/// Bytes of workspace that a library kernel needs, from its descriptor alone: known while planning,
/// the same on every processor. `threads` is threads per rank.
int64_t workspaceBytes(const GemmDesc &desc, int64_t threads);
int64_t workspaceBytes(const AttentionDesc &desc, int64_t threads);
int64_t workspaceBytes(const CrossEntropyDesc &desc, int64_t threads);
int64_t workspaceBytes(const ScatterDesc &desc, int64_t threads);

enum class Opcode : uint8_t {
  Launch,    // kernel on operands
  AllGather, // Param state of bucket → full buffer at operands[0]; in place where the state is full
  ReduceScatter, // full gradients at operands[0] → pieces at operands[1], or in place (operands[1]
                 // == -1)
  AllReduce,     // full gradients at operands[0], in place
  Count,     // labels not ignored → scalar; operands[0] labels (an input), operands[1] count (i64)
  SetSeed,   // seed = loss scale ÷ count: operands[0] count (-1: none), operands[1] seed (f32)
  SetRandom, // operands[0]: i32[4], what dropout is keyed by: seed (low, high), step, and the
             // index in the step's global batch of the rank's first sample in this run
  Norm,      // over `buckets` of the gradient state → operands[0], f64; `sumOverRanks`
  Update,    // one bucket: optimizer on the owned elements (or all, where states are replicated)
  Wait       // on row `waits`; synchronous backends have nothing to do
};

enum class Stream : uint8_t { Compute, Gather, Reduce };

/// What a row does to its destination when it runs for the first time in a step and later.
enum class WriteMode : uint8_t {
  Write,
  Add,
  WriteFirst /* write in the first run, add in later ones */
};

struct Row {
  Opcode opcode = Opcode::Launch;
  Stream stream = Stream::Compute;
  WriteMode mode = WriteMode::Write;
  int32_t kernel = -1;
  int32_t bucket = -1;
  bool inPlace = false;
  bool sumOverRanks = false;
  /// Only for Launch. Byte offsets; operands with `perRun` move by that many bytes each run of the
  /// segment.
  std::vector<int64_t> operands;
  std::vector<int64_t> perRunBytes; // empty, or one an operand
  std::vector<int32_t> buckets;     // Norm
  std::vector<int32_t> waits;       // rows that must have finished
  /// Byte ranges that become free after this row: poisoned in poison mode. (offset, bytes).
  std::vector<std::pair<int64_t, int64_t>> frees;
  /// Byte ranges that come to life with this row's start: poisoned (NaN) before the row writes.
  std::vector<std::pair<int64_t, int64_t>> allocates;
};

/// Whether a step runs the segment, or an evaluation. An evaluation launches, gathers into buffers
/// and counts, and changes no state; its SetSeed rows write 1, and the sum of its losses stands in
/// the scalar `eval_loss` (f32, an element a run).
enum class SegmentRole : uint8_t { Step, Evaluation };

struct Segment {
  std::string name;
  SegmentRole role = SegmentRole::Step;
  int64_t times = 1;
  std::vector<Input> inputs;
  std::vector<Row> rows;
};

enum class OptimizerKind : uint8_t { Sgd, Adam, AdamW, Lion };

/// Parameters that a pattern chose: their rate is the step's times `lrScale`, and they are decayed
/// by `weightDecay` where there is one, whatever their rank.
struct GroupDesc {
  double lrScale = 1.0;
  std::optional<double> weightDecay;
};

struct OptimizerDesc {
  OptimizerKind kind = OptimizerKind::AdamW;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weightDecay = 0.0, momentum = 0.0;
  double clip = 0.0; // 0: none
  std::vector<GroupDesc> groups = {};
};

/// What the seed divides by. Step: the count over ranks and micro-steps. MicroStep: A times the
/// micro-step's count over ranks. Rank: N·A times the rank's own count in the micro-step. Where a
/// count is 0 so is the seed. Without a token mean: N·A.
///
/// A Count row whose scalar has E elements cuts its labels into E equal parts in order, so that one
/// row counts each of A micro-steps; a SetSeed row fills all elements of its scalar from as many
/// counts, or from one. With `perRunBytes` both touch the one element at the moved offset.
enum class LossMean : uint8_t { Step, MicroStep, Rank };

struct Program {
  int64_t ranks = 1, stage = 0, microSteps = 1, threadsPerRank = 1;
  int64_t microBatch = 0; // samples of one rank in one run, where there is a SetRandom
  int64_t arenaBytes = 0;
  int64_t persistentBytes = 0; // the head of the arena that no segment may reuse
  OptimizerDesc optimizer;
  LossMean lossMean = LossMean::Step;
  bool lossIsTokenMean = true; // else the loss is averaged with weight 1 / (N·A)
  int64_t lossIgnore = -100;   // the ignored label, where lossIsTokenMean
  std::vector<Bucket> buckets;
  std::vector<Scalar> scalars;
  std::vector<Kernel> kernels;
  std::vector<Segment> segments;

  const Scalar *findScalar(std::string_view name) const;
  const Segment *findSegment(std::string_view name) const;
};

/// Position-independent bytes; equal programs give equal bytes on every machine.
std::vector<uint8_t> serialize(const Program &program);

/// Rejects truncated, foreign or inconsistent bytes (ranges outside the arena, unknown kernels,
/// wrong operand counts) with a message, in `error`.
std::optional<Program> deserialize(const uint8_t *data, size_t size, std::string &error);

/// Empty, or what is wrong with the program: the check of `deserialize` for programs made in
/// memory.
std::string check(const Program &program);

/// 64-bit FNV-1a of the serialised program: ranks compare it at start (S3).
uint64_t hash(const Program &program);

/// One line a row, as people read it: `12 launch fc y@1152 … → u@640`.
std::string print(const Program &program);

} // namespace zrt

#endif // ZERO_RUNTIME_PROGRAM_H

//===- gemm.cpp - our GEMM beside oneDNN's, and in bf16 -------------------===//
//
// Prints GF/s of both in f32 and the ratio of their times for the products of a
// GPT-2 layer of width 384 over 2048 rows, on one thread; then GF/s of ours with
// operands and result in bf16, and how many times faster that is than in f32.
// They take turns, repetition by repetition; shown are the best speed of each and
// the median ratio of neighbours, in processor time of the thread, since a busy
// machine or a change of clock hits neighbours alike.
//
//===----------------------------------------------------------------------===//
#include "zero/Runtime/HalfFloat.h"
#include "zero/Runtime/Kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dnnl.h>
#include <unistd.h>
#include <vector>

using namespace zrt;

namespace {

class OneThread : public ThreadTeam {
public:
  int64_t size() const override { return 1; }
  void run(int64_t parts, void (*fn)(void *, int64_t), void *context) override {
    for (int64_t part = 0; part < parts; ++part)
      fn(context, part);
  }
};

struct Shape {
  const char *name;
  int64_t m, n, k;
  bool transposeA, transposeB;
};

const Shape kShapes[] = {
    {"forward qkv", 2048, 1152, 384, false, false},
    {"forward projection", 2048, 384, 384, false, false},
    {"forward up", 2048, 1536, 384, false, false},
    {"forward down", 2048, 384, 1536, false, false},
    {"input grad qkv", 2048, 384, 1152, false, true},
    {"input grad up", 2048, 384, 1536, false, true},
    {"input grad down", 2048, 1536, 384, false, true},
    {"weight grad qkv", 384, 1152, 2048, true, false},
    {"weight grad projection", 384, 384, 2048, true, false},
    {"weight grad up", 384, 1536, 2048, true, false},
    {"weight grad down", 1536, 384, 2048, true, false},
    {"logits of 256", 2048, 256, 384, false, true},
    {"embedding grad of 256", 256, 384, 2048, true, false},
};

std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::vector<float> values(count);
  for (float &x : values) {
    seed = seed * 1664525u + 1013904223u;
    x = float(seed >> 8) / float(1 << 23) - 1.0f;
  }
  return values;
}

std::vector<uint16_t> inBf16(const std::vector<float> &values) {
  std::vector<uint16_t> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), floatToBf16);
  return result;
}

double median(std::vector<double> &values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

double threadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

double secondsOf(auto &&work) {
  double begin = threadSeconds();
  work();
  return threadSeconds() - begin;
}

} // namespace

int main(int, char **argv) {
  // OpenMP reads its settings when it is loaded, so they must stand before the program starts.
  if (!getenv("OMP_NUM_THREADS")) {
    setenv("OMP_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
  }
  OneThread team;
  std::printf("%-24s %18s %10s %10s %7s %10s %10s %7s\n", "", "m x n x k", "zero GF/s", "dnnl GF/s",
              "ratio", "difference", "bf16 GF/s", "to f32");
  for (const Shape &s : kShapes) {
    GemmDesc desc;
    desc.m = s.m, desc.n = s.n, desc.k = s.k;
    desc.aRow = s.transposeA ? 1 : s.k, desc.aCol = s.transposeA ? s.m : 1;
    desc.bRow = s.transposeB ? 1 : s.n, desc.bCol = s.transposeB ? s.k : 1;
    desc.cRow = s.n;
    std::vector<float> a = numbers(s.m * s.k, 1), b = numbers(s.k * s.n, 2), c(s.m * s.n),
                       d(s.m * s.n), workspace(workspaceBytes(desc, 1) / 4);
    auto ours = [&] {
      gemm(desc, a.data(), b.data(), nullptr, nullptr, c.data(), false,
           reinterpret_cast<char *>(workspace.data()), team);
    };
    GemmDesc narrow = desc;
    narrow.type = narrow.resultType = ElementType::bf16;
    std::vector<uint16_t> narrowA = inBf16(a), narrowB = inBf16(b), narrowC(c.size());
    std::vector<float> narrowSpace(workspaceBytes(narrow, 1) / 4);
    auto inSixteenBits = [&] {
      gemm(narrow, narrowA.data(), narrowB.data(), nullptr, nullptr, narrowC.data(), false,
           reinterpret_cast<char *>(narrowSpace.data()), team);
    };
    auto theirs = [&] {
      dnnl_sgemm(s.transposeA ? 'T' : 'N', s.transposeB ? 'T' : 'N', s.m, s.n, s.k, 1.0f, a.data(),
                 s.transposeA ? s.m : s.k, b.data(), s.transposeB ? s.k : s.n, 0.0f, d.data(), s.n);
    };
    ours();
    theirs();
    inSixteenBits();
    double flops = 2.0 * double(s.m) * double(s.n) * double(s.k), difference = 0.0;
    for (size_t i = 0; i < c.size(); ++i)
      difference = std::max(difference, double(std::fabs(c[i] - d[i])));
    double mine = 1e9, other = 1e9, narrowest = 1e9;
    std::vector<double> ratios, gains;
    for (int repetition = 0; repetition < 31; ++repetition) {
      double x = secondsOf(ours), y = secondsOf(theirs), z = secondsOf(inSixteenBits);
      mine = std::min(mine, x);
      other = std::min(other, y);
      narrowest = std::min(narrowest, z);
      ratios.push_back(y / x);
      gains.push_back(x / z);
    }
    char size[32];
    std::snprintf(size, sizeof(size), "%ldx%ldx%ld", long(s.m), long(s.n), long(s.k));
    std::printf("%-24s %18s %10.1f %10.1f %7.2f %10.1e %10.1f %7.2f\n", s.name, size,
                flops / mine * 1e-9, flops / other * 1e-9, median(ratios), difference,
                flops / narrowest * 1e-9, median(gains));
  }
  return 0;
}

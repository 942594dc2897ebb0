//===- gemm.cpp - our GEMM beside oneDNN's --------------------------------===//
//
// Prints GF/s of both and their ratio for the products of a GPT-2 layer of width
// 384 over 2048 rows, on one thread. The two take turns, repetition by
// repetition; shown are the best speed of each and the median ratio of neighbours,
// in processor time of the thread, since a busy machine or a change of clock hits
// neighbours alike.
//
//===----------------------------------------------------------------------===//
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
  std::printf("%-24s %18s %10s %10s %7s %10s\n", "", "m x n x k", "zero GF/s", "dnnl GF/s", "ratio",
              "difference");
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
    auto theirs = [&] {
      dnnl_sgemm(s.transposeA ? 'T' : 'N', s.transposeB ? 'T' : 'N', s.m, s.n, s.k, 1.0f, a.data(),
                 s.transposeA ? s.m : s.k, b.data(), s.transposeB ? s.k : s.n, 0.0f, d.data(), s.n);
    };
    ours();
    theirs();
    double flops = 2.0 * double(s.m) * double(s.n) * double(s.k), difference = 0.0;
    for (size_t i = 0; i < c.size(); ++i)
      difference = std::max(difference, double(std::fabs(c[i] - d[i])));
    double mine = 1e9, other = 1e9;
    std::vector<double> ratios;
    for (int repetition = 0; repetition < 31; ++repetition) {
      double x = secondsOf(ours), y = secondsOf(theirs);
      mine = std::min(mine, x);
      other = std::min(other, y);
      ratios.push_back(y / x);
    }
    std::nth_element(ratios.begin(), ratios.begin() + ratios.size() / 2, ratios.end());
    char size[32];
    std::snprintf(size, sizeof(size), "%ldx%ldx%ld", long(s.m), long(s.n), long(s.k));
    std::printf("%-24s %18s %10.1f %10.1f %7.2f %10.1e\n", s.name, size, flops / mine * 1e-9,
                flops / other * 1e-9, ratios[ratios.size() / 2], difference);
  }
  return 0;
}

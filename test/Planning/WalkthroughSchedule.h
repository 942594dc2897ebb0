//===- WalkthroughSchedule.h - stage 3 of the tied model, row by row -----===//
//
// The step table of `micro_step` of the worked example: 3 ranks, an arena of
// 2048 bytes, every offset in bytes. Buckets b0 (wte, 20 elements, length 21,
// met twice) to b5, f0 frozen. Row numbers are those of the table.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_TEST_PLANNING_WALKTHROUGHSCHEDULE_H
#define ZERO_TEST_PLANNING_WALKTHROUGHSCHEDULE_H

#include "zero/Planning/Schedule.h"

#include <map>

namespace zero::planning::schedule {

class WalkthroughSchedule {
public:
  Schedule build() {
    schedule.arenaBytes = 2048;
    // Shards of the weights from 0, of grad_accum from 192, in the order b0 b1 b2
    // b3 b4 b5 (f0); control from 576.
    const int64_t shard[] = {28, 8, 32, 8, 32, 8, 8};
    const char *names[] = {"0", "1", "2", "3", "4", "5", "f"};
    for (int64_t i = 0, param = 0, grad = 192; i < 7; ++i) {
      place("P" + std::string(names[i]), BufferKind::State, param, shard[i]);
      if (i < 6)
        place("A" + std::string(names[i]), BufferKind::State, grad, shard[i]);
      param += shard[i], grad += shard[i];
    }
    place("seed", BufferKind::State, 576, 4);
    place("loss", BufferKind::State, 584, 8);
    place("t", BufferKind::Input, 1920, 24);
    place("lab", BufferKind::Input, 1792, 24);
    struct {
      const char *name;
      int64_t offset, bytes;
    } values[] = {{"x", 1024, 96},  {"y", 1152, 96},  {"u", 640, 144},   {"a", 832, 144},
                  {"h", 1536, 96},  {"l", 1664, 120}, {"dl", 1664, 120}, {"dh", 1536, 96},
                  {"da", 832, 144}, {"du", 832, 144}, {"dy", 1152, 96},  {"dx", 1152, 96}};
    for (auto &value : values)
      place(value.name, BufferKind::Value, value.offset, value.bytes);

    // The slot of b0 has 20 of 21 elements, those of b1 and b5 4 of 6.
    const char *slots[] = {"wte", "ln.w", "fc.w", "fc.b", "pr.w", "pr.b"};
    const int64_t length[] = {84, 24, 96, 24, 96, 24};
    const int64_t places[] = {1792, 768, 640, 768, 1408, 1984};
    real = {80, 16, 96, 24, 96, 16};
    for (int i = 0; i < 6; ++i) {
      place("G" + std::to_string(i), BufferKind::Grads, places[i], length[i]);
      schedule.buckets.push_back(
          {"b" + std::to_string(i), {{slots[i], i == 0 ? 2 : 1}}, /*reductions=*/1});
    }

    gather(0, "F0", 640, 84);
    gather(1, "F1", 768, 24);
    gather(6, "Ff", 960, 24);
    launch("embed", {"t", "F0"}, {"x"}, {0}, {"F0"});
    gather(2, "F2", 832, 96);
    gather(3, "F3", 1408, 24);
    launch("ln", {"x", "F1", "Ff"}, {"y"}, {1, 2}, {"F1", "Ff"});
    gather(4, "F4", 1280, 96);
    gather(5, "F5", 1664, 24);
    launch("fc", {"y", "F2", "F3"}, {"u"}, {4, 5}, {"F2", "F3"});
    launch("gelu", {"u"}, {"a"}, {});
    gather(0, "F0b", 1408, 84);
    launch("pr", {"a", "F4", "F5", "x"}, {"h"}, {7, 8}, {"F4", "F5"});
    gather(4, "F4b", 1280, 96);
    launch("logits", {"h", "F0b"}, {"l"}, {11});
    launch("ce", {"l", "lab", "seed"}, {"loss", "dl"}, {});
    schedule.rows.back().inouts = {{at("l"), at("dl")}};
    launch("dwte", {"dl", "h"}, {}, {});
    accumulate(0, Mode::Write);
    launch("dh", {"dl", "F0b"}, {"dh"}, {}, {"F0b"});
    launch("db_pr", {"dh"}, {}, {});
    accumulate(5, Mode::Write);
    reduce(5);
    launch("dw_pr", {"a", "dh"}, {}, {});
    accumulate(4, Mode::Write);
    reduce(4);
    gather(2, "F2b", 1664, 96);
    launch("da", {"dh", "F4b"}, {"da"}, {13}, {"F4b"});
    launch("gelu_grad", {"da", "u"}, {"du"}, {});
    schedule.rows.back().inouts = {{at("da"), at("du")}};
    launch("db_fc", {"du"}, {}, {19});
    accumulate(3, Mode::Write);
    reduce(3);
    launch("dw_fc", {"y", "du"}, {}, {21});
    accumulate(2, Mode::Write);
    reduce(2);
    gather(1, "F1b", 1280, 24);
    launch("dy", {"du", "F2b"}, {"dy"}, {22}, {"F2b"});
    launch("ln_grad", {"x", "F1b", "dh", "dy"}, {"dx"}, {26, 29}, {"F1b"});
    schedule.rows.back().inouts = {{at("dy"), at("dx")}};
    accumulate(1, Mode::Write);
    reduce(1);
    launch("scatter", {"t", "dx"}, {}, {28});
    accumulate(0, Mode::Add);
    reduce(0);
    launch("segment end", {}, {}, {32, 34});
    return std::move(schedule);
  }

private:
  void place(const std::string &name, BufferKind kind, int64_t offset, int64_t bytes) {
    index[name] = schedule.buffers.size();
    schedule.buffers.push_back({name, kind, offset, bytes});
  }
  int64_t at(const std::string &name) const { return index.at(name); }
  Access whole(const std::string &name) const {
    return {at(name), 0, schedule.buffers[at(name)].bytes};
  }
  void gather(int bucket, const std::string &full, int64_t offset, int64_t bytes) {
    place(full, BufferKind::Gathered, offset, bytes);
    Row row;
    std::string name = bucket == 6 ? "f" : std::to_string(bucket);
    row.name = "all_gather " + full;
    row.stream = Stream::Gather;
    row.kind = RowKind::Gather;
    row.reads = {whole("P" + name)};
    row.writes = {whole(full)};
    schedule.rows.push_back(row);
  }
  void launch(const std::string &name, std::vector<std::string> reads,
              std::vector<std::string> writes, std::vector<int64_t> waits,
              std::vector<std::string> frees = {}) {
    Row row;
    row.name = name;
    for (const std::string &read : reads)
      row.reads.push_back(whole(read));
    for (const std::string &write : writes)
      row.writes.push_back(whole(write));
    row.waits = waits;
    for (const std::string &buffer : frees)
      row.frees.push_back(at(buffer));
    schedule.rows.push_back(row);
  }
  /// The last row forms a contribution to the only slot of `bucket`.
  void accumulate(int bucket, Mode mode) {
    Access slot = {at("G" + std::to_string(bucket)), 0, real[bucket]};
    Row &row = schedule.rows.back();
    row.writes.push_back(slot);
    if (mode == Mode::Add)
      row.reads.push_back(slot);
    row.accumulates.push_back({bucket, 0, mode, slot});
  }
  void reduce(int bucket) {
    Access all = whole("G" + std::to_string(bucket));
    Access accum = whole("A" + std::to_string(bucket));
    Row row;
    row.name = "reduce_scatter b" + std::to_string(bucket);
    row.stream = Stream::Reduce;
    row.kind = RowKind::Reduction;
    row.bucket = bucket;
    row.reads = {{all.buffer, 0, real[bucket]}, accum};
    if (real[bucket] < all.end)
      row.reads.push_back({all.buffer, real[bucket], all.end, /*padding=*/true});
    row.writes = {accum};
    schedule.rows.push_back(row);
  }

  Schedule schedule;
  std::map<std::string, int64_t> index;
  std::vector<int64_t> real; // bytes of the slot, by bucket
};

inline int64_t bufferOf(const Schedule &schedule, const std::string &name) {
  for (size_t i = 0; i < schedule.buffers.size(); ++i)
    if (schedule.buffers[i].name == name)
      return i;
  return -1;
}

} // namespace zero::planning::schedule

#endif // ZERO_TEST_PLANNING_WALKTHROUGHSCHEDULE_H

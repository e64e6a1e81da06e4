// The end of a measured chain, and the process that measures it.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "model/common/burst.h"
#include "model/common/bytes.h"
#include "model/rnic/messages/datapath.h"
#include "testbench/perf/child_process.h"
#include "testbench/perf/rtl/chain_load.h"

namespace rnic::perf {

// Takes one beat a cycle.
class BeatSink final : public Stage, private TakesAhead<FpduBeat> {
 public:
  PopPort<FpduBeat> in{*this, "in"};
  explicit BeatSink(ClockDomain& clk) : Stage("sink", clk) { in.ahead(*this); }
  Wake tick() override {
    Cycle at;
    for (; (at = std::max(in->front_at(), next_)) <= horizon(); next_ = at + 1) {
      const FpduBeat& beat = in->front();
      digest.beat(at, beat.first, beat.last, load_le32(beat.data + 4u * (beat.words - 1u)));
      if (beat.last) BufferRef::adopt(beat.buf);
      in->drop_at(at);
    }
    return Wake::at_cycle(at);
  }

  ChainDigest digest;

 private:
  void take_ahead() override { tick(); }
  Acceptance accepts(const FpduBeat&, Cycle) override { return {}; }

  Cycle next_ = 0;
};

// Runs it in its own process. The figures come back as doubles: a digest as two halves.
inline ChainFigures measure(const std::function<ChainFigures()>& run) {
  const std::vector<double> v = in_child([&] {
    const ChainFigures f = run();
    return std::vector<double>{f.cpu_s, static_cast<double>(f.digest >> 32), static_cast<double>(f.digest & ~0u)};
  });
  return {v.at(0), static_cast<std::uint64_t>(v.at(1)) << 32 | static_cast<std::uint64_t>(v.at(2))};
}

}  // namespace rnic::perf

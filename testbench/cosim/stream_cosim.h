// Shared by the co-simulations of the blocks on the FPDUs' path, which are built for each width of the datapath.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/wire/fpdu.h"
#include "testbench/cosim/boards.h"
#include "testbench/cosim/cosim.h"

namespace rnic::test {

// A stage between a source and a sink, and the twin that may stand in for it.
template <class Block, class In, class Pins>
struct Chain {
  BufferPool pool{kFrameHeadroom + wire::marked_fpdu_bytes(0, 0xffff)};
  Block block;
  Source<In> source = drive(block.in);
  Sink<FpduBeat> sink;
  std::optional<rtl::Twin<Pins>> rtl;

  template <class... Args>
  Chain(const std::string& name, ClockDomain& clk, const LinkConfig& out, Args&&... args)
      : block(name.c_str(), clk, std::forward<Args>(args)...), sink(collect(block.out, out)) {}
  void run_as(const Traffic& traffic) {
    source.pause(traffic.produce);
    sink.pause(traffic.consume);
  }
  // Clears the received beats and returns their buffers.
  void clear() {
    for (const FpduBeat& beat : sink) {
      if (beat.last) BufferRef::adopt(beat.buf);
    }
    sink.clear();
  }
};

// The start of a flow's next FPDU.
struct FlowEnd {
  bool markers = false;
  wire::StreamPosition position = 0;
  void append(std::size_t ulpdu_bytes) {
    position += static_cast<wire::StreamPosition>(markers ? wire::marked_fpdu_bytes(position, ulpdu_bytes)
                                                          : wire::fpdu_bytes(ulpdu_bytes));
  }
};

// The smallest and the largest, the MULPDUs of usual EMSS, and those that end near a beat's end or a marker.
inline std::size_t random_ulpdu_bytes(Prng& rng, const FlowEnd& flow, unsigned beat_bytes) {
  switch (rng.below(12)) {
    case 0:
      return rng.below(4);
    case 1:
      return wire::mulpdu(1460, flow.markers);
    case 2:
      return wire::mulpdu(rng.below(16) == 0 ? 8960 : 536, flow.markers);
    case 3:
      return rng.below(64) == 0 ? 0xffff - rng.below(2) : 26 + rng.below(40);
    case 4:
    case 5: {  // its last word ends at most two words before a marker, or after it
      const std::size_t next = wire::octets_to_marker(flow.position) + 508 * rng.between(1, 2);
      return next + 14 - 4 * rng.below(8);
    }
    case 6:
      return beat_bytes * rng.between(1, 8) + 2 - rng.below(16);
    default:
      return rng.below(1460);
  }
}

// For messages: the stream position of each FPDU that was sent and has not passed yet.
class FpdusUnderWay {
 public:
  void sent(FlowId flow, std::uint64_t position) { flows_[flow.v].push_back({sent_++, position}); }
  // The flow's FPDUs that start at this position or later will not come.
  void dropped(FlowId flow, std::uint64_t position) {
    auto& fpdus = flows_[flow.v];
    while (!fpdus.empty() && fpdus.back().position >= position) fpdus.pop_back();
  }
  void passed(const FpduBeat& beat) {
    auto& fpdus = flows_[beat.flow.v];
    if (beat.last && !fpdus.empty()) fpdus.pop_front();
  }
  // The place of beats[i], given that the beats before it were the first to arrive.
  std::string where(const std::vector<FpduBeat>& beats, std::size_t i) const {
    if (i >= beats.size()) return "";
    FpdusUnderWay then = *this;
    std::size_t octets = 0;
    for (std::size_t k = 0; k < i; ++k) {
      then.passed(beats[k]);
      octets = beats[k].last ? 0 : octets + 4u * beats[k].words;
    }
    const auto& fpdus = then.flows_[beats[i].flow.v];
    if (fpdus.empty()) return "";
    return fmt::format(
        "\nflow {}, FPDU {} of this run, which begins at stream position {}; in it, the beat from octet {} on",
        beats[i].flow.v, fpdus.front().number, fpdus.front().position, octets);
  }

 private:
  struct Fpdu {
    std::uint64_t number, position;
  };
  std::map<std::uint32_t, std::deque<Fpdu>> flows_;
  std::uint64_t sent_ = 0;
};

// With a board the twin alone has the traffic, and is judged by transaction: in whatever cycles it gives them.
// Generator::send(rng, from, sides) makes all sides' sources send the same from cycle `from` on, and returns the number
// of beats. Generator::under_way knows the FPDUs.
template <class Side, class Generator>
class StreamCosim : public StageTest, public testing::WithParamInterface<Traffic> {
 protected:
  StreamCosim() {
    twin.attach_twin();
    model.run_as(GetParam());
    twin.run_as(GetParam());
  }

  void agree(std::uint64_t seed) {
    Prng rng = seeded(seed);
    for (unsigned round = rounds(kRound); round-- > 0 && !HasFailure();) {
      for (std::size_t beats = 0; beats < kRound;) beats += generator.send(rng, clk.now() + 1, sides());
      check();
      begin_round(rng);
    }
  }
  // The twin continues with the state of other blocks that were stopped and reset during the same traffic.
  void agree_after_resets(std::uint64_t seed) {
    Prng rng = seeded(seed);
    agree_after_resets_amid(rng, [&](Side& other) {
      Generator amid;
      for (std::size_t beats = 0; beats < 400;) beats += amid.send(rng, clk.now() + 1, {&other});
    });
  }
  template <class Amid>
  void agree_after_resets_amid(Prng& rng, Amid amid) {
    std::deque<Side> others;
    for (int i = 0; i < 12; ++i) {
      others.emplace_back("other" + std::to_string(i), clk).attach_twin();
      others.back().run_as(GetParam());
    }
    for (Side& other : others) {
      amid(other);
      sc_core::sc_start(sc_core::sc_time::from_value(rng.between(10, 400) * clk.period_ps()));
      other.block.be_replaced(stopped_);
      twin.rtl->take_over(*other.rtl);
      for (std::size_t beats = 0; beats < 400;) beats += generator.send(rng, clk.now() + 1, sides());
      check();
    }
  }

  void judge_by_board(unsigned beat_bytes) {
    judge_.emplace(twin.block, Side::kBlock, scoreboard::WatchedChip{beat_bytes});
  }
  void expect_right() { judge_->expect_right(100); }

  void check() {
    run_until_idle();
    if (judge_) twin.clear();
    else compare();
  }
  // Called when all beats have left.
  virtual void compare() {
    expect_same(model.sink, twin.sink, [this](std::size_t i) {
      const auto& longer = model.sink.size() > i ? model.sink : twin.sink;
      return generator.under_way.where(longer.messages(), i);
    });
    for (const FpduBeat& beat : model.sink) generator.under_way.passed(beat);
    model.clear();
    twin.clear();
  }
  virtual void begin_round(Prng&) {}

  Side model{Side::kBlock, clk}, twin{"twin", clk};
  Generator generator;

 private:
  std::vector<Side*> sides() { return judge_ ? std::vector{&twin} : std::vector{&model, &twin}; }

  std::optional<Judge> judge_;
  static constexpr std::size_t kRound = 2000;  // beats: their octets are kept until they are compared
  Stopped stopped_;
};

}  // namespace rnic::test

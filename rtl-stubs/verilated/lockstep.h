// A stage and its Verilated twin side by side: both see the same inputs in every cycle, and the first difference stops
// the run.
#pragma once

#include <deque>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/common/link.h"
#include "model/rnic/twins.h"
#include "rtl-stubs/verilated/verilated_block.h"

namespace rnic::rtl {

// Pins as of Twin. The stage does the work; the block is given what the stage sees, and its handshake of every cycle,
// and every beat that leaves it, are compared with the stage's.
template <class Pins>
class Lockstep final : public Clocked, public AttachedTwin, private LinkTap<typename Pins::Out> {
 public:
  using Out = typename Pins::Out;

  template <class... Args>
  explicit Lockstep(typename Pins::Block& stage, Args&&... args)
      : stage_(stage), pins_(stage, std::forward<Args>(args)...) {
    stage.be_replaced(*this);
    stage.out->tap(*this);
  }
  Lockstep(const Lockstep&) = delete;
  Lockstep& operator=(const Lockstep&) = delete;

  const std::string& difference() const override { return difference_; }

  Wake tick() override {
    auto& in = *stage_.in;
    auto& out = *stage_.out;
    const auto [take, launch] = block_.settle(stage_, pins_);

    const unsigned used = in.used();
    const std::uint64_t pushed = out.pushed();
    const Wake wake = stage_.tick();
    expect("takes a beat from in", used - in.used(), take);
    expect("gives a beat to out", out.pushed() - pushed, launch);

    pins_.compare(*block_,
                  [this](const char* what, std::uint64_t stage, std::uint64_t block) { expect(what, stage, block); });
    pins_.advance(*block_);
    block_.edge();
    const bool leaves = !expected_.empty() && expected_.front().visible == now() + 1;
    expect("out is valid", leaves, block_->out_valid_o);
    if (leaves) compare_beat();
    return take || launch || !expected_.empty() ? Wake::next_cycle() : wake;
  }

 private:
  struct Expected {
    Out beat;
    std::vector<std::uint8_t> octets;  // as the stage has left them
    Cycle visible;
  };
  void filled(const Out& beat, Cycle, Cycle visible) override {
    expected_.push_back({beat, {beat.data, beat.data + octets_of(beat)}, visible});
  }
  Cycle now() const { return stage_.clock().now(); }
  void expect(const char* what, std::uint64_t stage, std::uint64_t block) {
    if (stage == block) return;
    difference_ = std::string(stage_.name()) + ", cycle " + std::to_string(now()) + ": " + what + ": the stage has " +
                  std::to_string(stage) + ", the twin " + std::to_string(block);
    throw std::runtime_error(difference_);
  }
  void compare_beat() {
    const Expected e = std::move(expected_.front());
    expected_.pop_front();
    std::uint8_t octets[128] = {};
    Out beat = e.beat;
    beat.data = octets;
    pins_.out(*block_, beat);
    for_each_field(e.beat, beat, [this](const char* what, auto stage, auto block) { expect(what, stage, block); });
    for (std::size_t i = 0; i < e.octets.size(); ++i) {
      if (e.octets[i] != octets[i]) expect(("octet " + std::to_string(i)).c_str(), e.octets[i], octets[i]);
    }
  }

  typename Pins::Block& stage_;
  VerilatedBlock<typename Pins::Model> block_;
  Pins pins_;
  std::string difference_;
  std::deque<Expected> expected_;  // what the stage gave to its link and the block still has in its pipeline
};

}  // namespace rnic::rtl

// A Verilated block in the place of its stage: links become pins, and pins links.
#pragma once

#include <deque>
#include <utility>

#include "model/common/link.h"
#include "model/rnic/twins.h"
#include "rtl-stubs/verilated/verilated_block.h"

namespace rnic::rtl {

// Pins names the ports of one block, and knows what its bits stand for:
//   Model, Block             the Verilated class and the stage
//   In, Out                  the beats of the stage's links `in` and `out`
//   in(Model&, const In&)    drives the beat that is offered; in_valid_i, out_ready_i and the clock are not its concern
//   look_up(Model&)          answers what the block asks of tables and memories in this cycle; it is evaluated again
//   advance(const Model&)    the cycle ends
//   out(const Model&, Out&)  reads the beat that leaves; its octets go to where Out says
// for a block that takes its stage's place,
//   Out launched(const Model&)   a beat begins its way through the block's pipeline: what its bits cannot carry
//   taken(In, const Model&)      the block takes the beat that was offered: its references are the pins' from now on,
//                                and what the block writes to tables goes there
//   left(const Out&)             a beat has left: the stage's counters
// and for one beside it,
//   compare(const Model&, f)     f(name, stage's, block's) for what both have written to tables
// One call of tick() is one clock cycle. Inputs settle before the edge; outputs are registers and are read after it,
// one cycle before the consumer sees them through the link, so a block with N pipeline registers equals a stage whose
// output link has latency N. The block is not evaluated while nothing is in flight and nothing new is offered.
template <class Pins>
class Twin final : public Clocked, public AttachedTwin {
 public:
  // `args` are the pins' own.
  template <class... Args>
  explicit Twin(typename Pins::Block& stage, Args&&... args)
      : stage_(stage), pins_(stage, std::forward<Args>(args)...) {
    stage.be_replaced(*this);
  }
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;

  const std::string& difference() const override { return none_; }

  Wake tick() override {
    auto& out = *stage_.out;
    const auto [take, launch] = block_.settle(stage_, pins_);
    if (launch) {
      out.reserve();
      in_flight_.push_back(pins_.launched(*block_));
    }
    if (take) pins_.taken(stage_.in->pop(), *block_);
    pins_.advance(*block_);
    block_.edge();
    if (block_->out_valid_o) {
      RNIC_CHECK_MSG(!in_flight_.empty(), std::string(stage_.name()) + ": a beat left that never entered");
      pins_.out(*block_, in_flight_.front());
      pins_.left(in_flight_.front());
      out.fill(std::move(in_flight_.front()), 1);
      in_flight_.pop_front();
    }
    return take || launch || !in_flight_.empty() ? Wake::next_cycle() : Wake::on_traffic();
  }

 private:
  typename Pins::Block& stage_;
  VerilatedBlock<typename Pins::Model> block_;
  Pins pins_;
  const std::string none_;
  std::deque<typename Pins::Out> in_flight_;  // beats inside the block: the references that its bits stand for
};

}  // namespace rnic::rtl

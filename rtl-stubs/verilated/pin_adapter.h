// Turns links into the pins of a Verilated block and back, so that the block stands where its C++ stage stands.
#pragma once

#include <deque>
#include <memory>

#include "model/common/link.h"
#include "rtl-stubs/verilated/verilated_with_systemc.h"

namespace rnic::rtl {

// Pins names the ports of one block:
//   Model, In, Out                          the Verilated class and the beats of its two links
//   in(Model&, const In*)                   drives valid and data; null: nothing offered
//   credit(Model&, bool)                    drives the output link's credit
//   ready(const Model&), launch(...), valid(...)   read the handshake
//   out(const Model&, Out&)                 reads the output beat; Out starts as the beat that was taken
// One call of tick() is one clock cycle. Inputs settle before the edge; outputs are registers and are read after it,
// one cycle before the consumer sees them through the link, so a block with N pipeline registers equals a stage whose
// output link has latency N. The block is not evaluated while it has nothing in flight and is offered nothing.
template <class Pins>
class PinAdapter final : public Stage {
 public:
  using In = typename Pins::In;
  using Out = typename Pins::Out;
  PopPort<In> in{*this, "in"};
  PushPort<Out> out{*this, "out"};

  PinAdapter(sc_core::sc_module_name nm, ClockDomain& clk)
      : Stage(nm, clk), model_(std::make_unique<typename Pins::Model>(&context_, "")) {
    context_.assertOn(true);
    model_->rst_ni = 0;
    edge();
    model_->rst_ni = 1;
  }
  ~PinAdapter() override { model_->final(); }

  Wake tick() override {
    const bool offered = in->can_pop();
    const bool credit = out->can_push();
    if (!offered && in_flight_.empty()) return Wake::on_traffic();
    Pins::in(*model_, offered ? &in->front() : nullptr);
    Pins::credit(*model_, credit);
    model_->eval();
    const bool take = offered && Pins::ready(*model_);
    if (Pins::launch(*model_)) out->reserve();
    if (take) in_flight_.push_back(in->pop());
    edge();
    if (Pins::valid(*model_)) {
      RNIC_CHECK_MSG(!in_flight_.empty(), std::string(name()) + ": a beat left that never entered");
      Out beat = in_flight_.front();
      in_flight_.pop_front();
      Pins::out(*model_, beat);
      out->fill(std::move(beat), 1);
    }
    return take || !in_flight_.empty() ? Wake::next_cycle() : Wake::on_traffic();
  }

 private:
  void edge() {
    model_->clk_i = 0;
    model_->eval();
    model_->clk_i = 1;
    model_->eval();
  }

  VerilatedContext context_;
  std::unique_ptr<typename Pins::Model> model_;
  std::deque<Out> in_flight_;  // beats inside the block: the references that its bits stand for
};

}  // namespace rnic::rtl

// Turns links into the pins of a Verilated block and back, so that the block stands where its C++ stage stands.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "model/common/link.h"
#include "rtl-stubs/verilated/verilated_with_systemc.h"

namespace rnic::rtl {

// Pins names the ports of one block and knows what its bits stand for:
//   Model, In, Out           the Verilated class and the beats of its two links
//   in(Model&, const In&)    drives the data of the beat that is offered; `in_valid_i` is the adapter's
//   look_up(Model&)          answers what the block asks of tables and memories in this cycle; it is evaluated again
//   Out launched(const Model&)   a beat begins its way through the block's pipeline: what its bits cannot carry
//   taken(In, const Model&)  the block takes the beat that was offered; its references are the pins' from now on
//   out(const Model&, Out&)  reads the beat that leaves; Out is what launched() gave
// One call of tick() is one clock cycle. Inputs settle before the edge; outputs are registers and are read after it,
// one cycle before the consumer sees them through the link, so a block with N pipeline registers equals a stage whose
// output link has latency N. The block is not evaluated while nothing is in flight and nothing new is offered.
template <class Pins>
class PinAdapter final : public Stage {
 public:
  using In = typename Pins::In;
  using Out = typename Pins::Out;
  PopPort<In> in{*this, "in"};
  PushPort<Out> out{*this, "out"};

  template <class... Args>
  PinAdapter(sc_core::sc_module_name nm, ClockDomain& clk, Args&&... args)
      : Stage(nm, clk),
        model_(std::make_unique<typename Pins::Model>(&context_, "")),
        pins_(std::forward<Args>(args)...) {
    context_.assertOn(true);
    model_->rst_ni = 0;
    edge();
    model_->rst_ni = 1;
  }
  ~PinAdapter() override { model_->final(); }

  Wake tick() override {
    const bool offered = in->can_pop();
    model_->in_valid_i = offered;
    if (offered) pins_.in(*model_, in->front());
    model_->out_ready_i = out->can_push();
    model_->eval();
    pins_.look_up(*model_);
    model_->eval();
    const bool take = offered && model_->in_ready_o, launch = model_->out_launch_o;
    if (launch) {
      out->reserve();
      in_flight_.push_back(pins_.launched(*model_));
    }
    if (take) pins_.taken(in->pop(), *model_);
    edge();
    if (model_->out_valid_o) {
      RNIC_CHECK_MSG(!in_flight_.empty(), std::string(name()) + ": a beat left that never entered");
      pins_.out(*model_, in_flight_.front());
      out->fill(std::move(in_flight_.front()), 1);
      in_flight_.pop_front();
    }
    return take || launch || !in_flight_.empty() ? Wake::next_cycle() : Wake::on_traffic();
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
  Pins pins_;
  std::deque<Out> in_flight_;  // beats inside the block: the references that its bits stand for
};

}  // namespace rnic::rtl

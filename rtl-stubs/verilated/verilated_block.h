// A Verilated block with the pins of a stage that has one link in and one link out, out of reset.
#pragma once

#include <memory>

#include "rtl-stubs/verilated/verilated_with_systemc.h"

namespace rnic::rtl {

// What a block does at the edge that comes.
struct Handshake {
  bool take = false;    // the beat that is offered
  bool launch = false;  // a beat begins its way through the pipeline: it needs a slot of the output link
};

template <class V>
class VerilatedBlock {
 public:
  VerilatedBlock() : model_(std::make_unique<V>(&context_, "")) {
    context_.assertOn(true);
    model_->rst_ni = 0;
    edge();
    model_->rst_ni = 1;
  }
  ~VerilatedBlock() { model_->final(); }

  V* operator->() { return model_.get(); }
  V& operator*() { return *model_; }

  // A cycle up to its edge: the stage's links and tables as inputs.
  template <class Stage, class Pins>
  Handshake settle(Stage& stage, Pins& pins) {
    const bool offered = stage.in->can_pop();
    model_->in_valid_i = offered;
    if (offered) pins.in(*model_, stage.in->front());
    model_->out_ready_i = stage.out->can_push();
    model_->eval();
    pins.look_up(*model_);
    model_->eval();
    return {offered && model_->in_ready_o, static_cast<bool>(model_->out_launch_o)};
  }
  void edge() {
    model_->clk_i = 0;
    model_->eval();
    model_->clk_i = 1;
    model_->eval();
  }

 private:
  VerilatedContext context_;
  std::unique_ptr<V> model_;
};

}  // namespace rnic::rtl

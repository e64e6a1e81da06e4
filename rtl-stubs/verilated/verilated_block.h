// A Verilated block, out of reset.
#pragma once

#include <memory>
#include <type_traits>

#include "model/common/check.h"
#include "rtl-stubs/verilated/bits.h"
#include "rtl-stubs/verilated/coverage.h"
#include "rtl-stubs/verilated/verilated_with_systemc.h"

namespace rnic::rtl {

template <class Pins>
class VerilatedBlock {
 public:
  using Model = typename Pins::Model;

  VerilatedBlock() : model_(std::make_unique<Model>(&context_, "")) {
    context_.assertOn(true);
    context_.fatalOnError(false);  // edge() says it as the rest of the program does
    model_->rst_ni = 0;
    model_->clk_i = 0;
    model_->eval();
    edge();
    model_->rst_ni = 1;
  }
  ~VerilatedBlock() {
    model_->final();
    Verilated::threadContextp(&context_);  // where the model looks for its scopes when it goes
    save_coverage(context_);
  }

  Model* operator->() { return model_.get(); }
  Model& operator*() { return *model_; }

  // A cycle up to its edge: the stage's links and tables as inputs.
  void settle(Pins& pins) {
    model_->clk_i = 0;
    Drive drive{pins, *model_};
    pins.links(*model_, drive);
    model_->eval();
    for (unsigned round = 0; round < Pins::kRounds; ++round) {
      if (!ask(pins)) break;
      model_->eval();
    }
  }
  void edge() {
    model_->clk_i = 1;
    model_->eval();
    RNIC_CHECK_MSG(!context_.gotError(), "an assertion of the RTL failed");
  }

 private:
  bool ask(Pins& pins) {
    if constexpr (std::is_void_v<decltype(pins.look_up(*model_))>) return pins.look_up(*model_), true;
    else return pins.look_up(*model_);
  }
  struct Drive {
    template <class Port, class... Bits>
    void in(Port& port, CData& valid, const CData&, Bits&... bits) {
      valid = port->can_pop();
      if (!valid) return;
      pack(port->front(), bits...);
      pins.offered(port->front(), model);
    }
    template <class Port, class... Bits>
    void out(Port& port, CData& ready, const CData&, const Bits&...) {
      ready = port->can_push();
    }
    template <class Port, class... Bits>
    void pipe(Port& port, CData& ready, const Bits&...) {
      ready = port->can_push();
    }
    Pins& pins;
    Model& model;
  };

  VerilatedContext context_;
  std::unique_ptr<Model> model_;
};

}  // namespace rnic::rtl

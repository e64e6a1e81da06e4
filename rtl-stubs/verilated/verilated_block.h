// A Verilated block, out of reset.
#pragma once

#include <memory>
#include <type_traits>

#include "model/common/check.h"
#include "rtl-stubs/verilated/bits.h"
#include "rtl-stubs/verilated/coverage.h"
#include "rtl-stubs/verilated/verilated_with_systemc.h"

namespace rnic::rtl {

// For a reader, who finds Verilator's message about it on standard output.
inline constexpr const char* kFailedAssertion = "an assertion of its RTL failed";

template <class Pins>
class VerilatedBlock {
 public:
  using Model = typename Pins::Model;

  VerilatedBlock() : context_(make_context()), model_(std::make_unique<Model>(&*context_, "")) { reset(); }
  VerilatedBlock(const VerilatedBlock&) = delete;
  VerilatedBlock& operator=(const VerilatedBlock&) = delete;
  // Verilator assumes that the context used last belongs to the model at work.
  ~VerilatedBlock() {
    Verilated::threadContextp(&*context_);
    model_->final();
    save_coverage(*context_);
  }
  void swap(VerilatedBlock& other) {
    context_.swap(other.context_);
    model_.swap(other.model_);
  }

  // One edge in reset, in the middle of any work.
  void reset() {
    model_->rst_ni = 0;
    model_->clk_i = 0;
    eval();
    (void)edge();  // the next one will report an error
    model_->rst_ni = 1;
  }

  VerilatedContext& context() { return *context_; }
  Model* operator->() { return model_.get(); }
  Model& operator*() { return *model_; }

  // A cycle up to its edge: the stage's links and tables as inputs.
  void settle(Pins& pins) {
    model_->clk_i = 0;
    Drive drive{pins, *model_};
    pins.links(*model_, drive);
    eval();
    for (unsigned round = 0; round < Pins::kRounds; ++round) {
      if (!ask(pins, round)) break;
      eval();
    }
  }
  // False if an assertion of the RTL has failed, in this cycle or before; Verilator has printed which.
  [[nodiscard]] bool edge() {
    model_->clk_i = 1;
    eval();
    return !context_->gotError();
  }

 private:
  void eval() {
    Verilated::threadContextp(&*context_);  // a failing assertion is reported to it
    model_->eval();
  }
  static std::unique_ptr<VerilatedContext> make_context() {
    auto context = std::make_unique<VerilatedContext>();
    context->threads(1);
    context->assertOn(true);
    context->traceEverOn(VM_TRACE);
    context->fatalOnError(false);  // edge() reports it
    return context;
  }
  bool ask(Pins& pins, unsigned round) {
    if constexpr (std::is_void_v<decltype(pins.look_up(*model_, round))>) return pins.look_up(*model_, round), true;
    else return pins.look_up(*model_, round);
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

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;
};

}  // namespace rnic::rtl

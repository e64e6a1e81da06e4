// A Verilated block.
#pragma once

#include <memory>
#include <string>

#include "rtl-stubs/verilated/coverage.h"
#include "rtl-stubs/verilated/inside.h"
#include "rtl-stubs/verilated/rtl_block.h"
#include "rtl-stubs/verilated/verilated_with_systemc.h"

namespace rnic::rtl {

// For a reader, who finds Verilator's message about it on standard output.
inline constexpr const char* kFailedAssertion = "an assertion of its RTL failed";

template <class Model, class>
class Instance {
 public:
  using Inside = rtl::Inside<Model>;
  static constexpr bool kForeign = false;

  Instance() : context_(make_context()), model_(std::make_unique<Model>(&*context_, "")) {}
  Instance(Instance&&) = default;
  // Verilator assumes that the context used last belongs to the model at work.
  ~Instance() {
    if (model_ == nullptr) return;  // moved
    Verilated::threadContextp(&*context_);
    model_->final();
    save_coverage(*context_);
  }
  void swap(Instance& other) {
    context_.swap(other.context_);
    model_.swap(other.model_);
  }
  Model& model() const { return *model_; }
  void eval() {
    Verilated::threadContextp(&*context_);  // a failing assertion is reported to it
    model_->eval();
  }
  bool failed() const { return context_->gotError(); }
  std::string failure() const { return kFailedAssertion; }
  Inside inside() const { return Inside(*context_, *model_); }

 private:
  static std::unique_ptr<VerilatedContext> make_context() {
    auto context = std::make_unique<VerilatedContext>();
    context->threads(1);
    context->assertOn(true);
    context->traceEverOn(VM_TRACE);
    context->fatalOnError(false);  // edge() reports it
    return context;
  }
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;
};

template <class Pins>
using VerilatedBlock = RtlBlock<Pins>;

}  // namespace rnic::rtl

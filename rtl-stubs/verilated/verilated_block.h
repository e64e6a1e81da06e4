// A Verilated module with clk_i and rst_ni, out of reset.
#pragma once

#include <memory>

#include "rtl-stubs/verilated/verilated_with_systemc.h"

namespace rnic::rtl {

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
  void settle() { model_->eval(); }
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

// A block of RTL out of reset, wherever its model comes from.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "rtl-stubs/verilated/beat_bits.h"

namespace rnic::rtl {

// Owns a model: of Verilator's class in verilated_block.h, in a shared library in rtl-stubs/loaded/loaded_model.h.
template <class Model, class = void>
class Instance;

template <class Pins>
class RtlBlock {
 public:
  using Model = typename Pins::Model;
  using Inside = typename Instance<Model>::Inside;

  explicit RtlBlock(Instance<Model> instance = Instance<Model>()) : instance_(std::move(instance)) { reset(); }
  RtlBlock(const RtlBlock&) = delete;
  RtlBlock& operator=(const RtlBlock&) = delete;
  void swap(RtlBlock& other) { instance_.swap(other.instance_); }

  // One edge in reset, in the middle of any work.
  void reset() {
    model().rst_ni = 0;
    model().clk_i = 0;
    instance_.eval();
    (void)edge();  // the next one will report an error
    model().rst_ni = 1;
  }
  // Before the first cycle: ConfigError if a block of somebody else shows a message or a launch, though it is in reset
  // and nothing has ever been offered.
  void check_reset(Pins& pins) {
    if constexpr (Instance<Model>::kForeign) {
      Shown shown;
      pins.links(model(), shown);
      if (!shown.name.empty()) instance_.refuse("its port " + shown.name + " is 1 in reset");
    }
  }

  Instance<Model>& instance() { return instance_; }
  Inside inside() { return instance_.inside(); }
  Model* operator->() { return &model(); }
  Model& operator*() { return model(); }

  // A cycle up to its edge: the stage's links and tables as inputs.
  void settle(Pins& pins) {
    model().clk_i = 0;
    Drive drive{pins, model()};
    pins.links(model(), drive);
    instance_.eval();
    for (unsigned round = 0; round < Pins::kRounds; ++round) {
      if (!ask(pins, round)) break;
      instance_.eval();
    }
  }
  // False if an assertion of the RTL has failed, in this cycle or before.
  [[nodiscard]] bool edge() {
    model().clk_i = 1;
    instance_.eval();
    return !instance_.failed();
  }
  // For a reader, after a false edge().
  std::string failure() const { return instance_.failure(); }

 private:
  Model& model() { return instance_.model(); }
  bool ask(Pins& pins, unsigned round) {
    if constexpr (std::is_void_v<decltype(pins.look_up(model(), round))>) return pins.look_up(model(), round), true;
    else return pins.look_up(model(), round);
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
  struct Shown {
    template <class... Ports>
    void in(const Ports&...) {}
    template <class Port, class... Bits>
    void out(Port& port, const CData&, const CData& valid, const Bits&...) {
      if (valid) name = std::string(port.name()) + "_valid_o";
    }
    template <class Port, class... Bits>
    void pipe(Port& port, const CData&, const CData& launch, const CData& valid, const Bits&...) {
      if (launch) name = std::string(port.name()) + "_launch_o";
      if (valid) name = std::string(port.name()) + "_valid_o";
    }
    std::string name;
  };

  Instance<Model> instance_;
};

}  // namespace rnic::rtl

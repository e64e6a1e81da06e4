// What the pins of a block have in common. A block's own Pins derive from this and have
//   explicit Pins(Stage& stage, ...)
//   void links(Model& m, V& v)   names each link once, in the order in which its moves are made:
//     v.in(stage.x, m.x_valid_i, m.x_ready_o, m.x_i)
//     v.out(stage.x, m.x_ready_i, m.x_valid_o, m.x_o)
//     v.pipe(stage.x, m.x_ready_i, m.x_launch_o, m.x_valid_o, m.x_o, m.x_data_o)   the pipelined one, of FpduBeats
//   A link of beats names the port of its octets after that of its bits.
// and those of the hooks below that they need, with `using Pins::offered` and so on where a hook is for one kind of
// message among several.
#pragma once

#include "model/rnic/messages/datapath.h"
#include "rtl-stubs/verilated/verilated_with_systemc.h"

namespace rnic::rtl {

// A hook that a block has for a message is a better match than one that takes anything.
struct Anything {
  template <class T>
  constexpr Anything(const T&) {}
};

// Where a beat's octets will lie, and in whose buffer.
struct BeatPlace {
  Buffer* buf = nullptr;
  std::uint8_t* data = nullptr;
};

template <class V, class Stage>
class Pins {
 public:
  using Model = V;
  using Block = Stage;

  // How often look_up() is asked, in rounds from 0 on, until one lookup that depends on another has settled.
  static constexpr unsigned kRounds = 0;

  // (message, Model&) Before the block settles: what it sees beside a message that a link offers, of contexts for
  // instance. The message's bits are there already.
  void offered(Anything, Anything) const {}
  // What the block asks of tables and memories: the answers in this cycle. One that returns bool says by false that
  // nothing was asked: the block has settled.
  void look_up(Model&, unsigned) const {}

  // At the edge: what the block writes to tables that are the pins' own, in lock-step as well.
  void advance(const Model&) const {}
  // After it, from registers alone: the block will do something in the next cycle without anything new on its links. It
  // says so by `busy_o`, where its module has such a port.
  bool busy(const Model& m) const { return busy_pin(m, 0); }

  // For a block that replaces its stage, what bits cannot carry: references, counters, reports to others.
  // (message&, const Model&) It takes a message, and of its references those that it releases.
  void taken(Anything, Anything) const {}
  // (message&, const Model&) It gives a message to a link.
  void pushed(Anything, Anything) const {}
  // A beat begins its way through the pipeline, and is at its end.
  BeatPlace launched(const Model&) const { return {}; }
  void left(const FpduBeat&) const {}
  // Once a cycle.
  void stand_in(const Model&) const {}

  // For one beside its stage: f(name, stage's, block's) of what both write to the stage's tables,
  template <class F>
  void compare(const Model&, F&&) const {}
  // (message, const Model&, f) and of what a message of the stage refers to.
  void compare_content(Anything, Anything, Anything) const {}

 private:
  template <class M>
  static auto busy_pin(const M& m, int) -> decltype(m.busy_o != 0) {
    return m.busy_o != 0;
  }
  template <class M>
  static bool busy_pin(const M&, long) {
    return false;
  }
};

}  // namespace rnic::rtl

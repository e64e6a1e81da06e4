// The common part of all blocks' pins. A block's own Pins derive from this and have
//   explicit Pins(Stage& stage, ...)
//   void links(Model& m, V& v)   names each link once, in the order of the moves:
//     v.in(stage.x, m.x_valid_i, m.x_ready_o, m.x_i)
//     v.out(stage.x, m.x_ready_i, m.x_valid_o, m.x_o)
//     v.pipe(stage.x, m.x_ready_i, m.x_launch_o, m.x_valid_o, m.x_o, m.x_data_o)   the pipelined one, of FpduBeats
//   A link of beats names the octets' port after the bits' port.
// and those of the hooks below that they need, with `using Pins::offered` and so on if a hook is for one of several
// kinds of message.
#pragma once

#include <cstddef>

#include "model/rnic/messages/datapath.h"
#include "rtl-stubs/verilated/bits.h"

namespace rnic::rtl {

// A hook that a block has for a message is a better match than one that takes anything.
struct Anything {
  template <class T>
  constexpr Anything(const T&) {}
};

// The place of a beat's octets, and their buffer.
struct BeatPlace {
  Buffer* buf = nullptr;
  std::uint8_t* data = nullptr;
};

template <class V, class Stage>
class Pins {
 public:
  using Model = V;
  using Block = Stage;

  // The number of calls of look_up(), in rounds from 0 on, until lookups that depend on others have settled.
  static constexpr unsigned kRounds = 0;

  // (message, Model&) Before the block settles: sets its other inputs for a message that a link offers, such as
  // contexts. The message's bits are already set.
  void offered(Anything, Anything) const {}
  // Answers the block's lookups of tables and memories in this cycle. A hook that returns bool says with false that
  // nothing was asked: the block has settled.
  void look_up(Model&, unsigned) const {}

  // At the edge: does the block's writes to the pins' own tables, in lock-step as well.
  void advance(const Model&) const {}
  // After the edge, from registers alone: the block will act in the next cycle without anything new on its links.
  // `busy_o` says so, if its module has such a port.
  bool busy(const Model& m) const { return busy_pin(m, 0); }

  // Whether something that it has asked for is not there yet: a row of a table, host memory, a receive request. While
  // that is so it may refuse messages though there is room in the outputs.
  bool waits_for_others(const Model&) const { return false; }
  // Messages that it has taken and has given nothing for, with nobody else to wait for.
  std::size_t owes(const Model&) const { return 0; }

  // For a block that replaces its stage, what bits cannot carry: references, counters, reports to others.
  // (message&, const Model&) It takes a message, and those of its references that it releases.
  void taken(Anything, Anything) const {}
  // (message) Why what it gives to a link cannot be; nullptr if it can.
  const char* wrong(Anything) const { return nullptr; }
  // (message&, const Model&) It gives a message to a link.
  void pushed(Anything, Anything) const {}
  // A beat enters the pipeline, and leaves it.
  BeatPlace launched(const Model&) const { return {}; }
  void left(const FpduBeat&) const {}
  // Once a cycle.
  void stand_in(const Model&) const {}

  // For a block beside its stage: f(name, stage's, block's) for values that both write to the stage's tables,
  template <class F>
  void compare(const Model&, F&&) const {}
  // (message, const Model&, f) and for the content that a message of the stage refers to.
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

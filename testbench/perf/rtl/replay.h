// A Verilated block in its own test bench: the pins of a run with its twin, recorded and played again.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/common/check.h"
#include "model/common/link.h"
#include "rtl-stubs/verilated/verilated_with_systemc.h"

namespace rnic::perf {

// Reads return the writes in order.
class Tape {
 public:
  template <class P>
  void put(const P& pin) {
    const auto* const octets = reinterpret_cast<const std::uint8_t*>(&pin);
    octets_.insert(octets_.end(), octets, octets + sizeof pin);
  }
  template <class P>
  void get(P& pin) {
    std::memcpy(&pin, &octets_[at_], sizeof pin);
    at_ += sizeof pin;
  }
  template <class P>
  void expect(const P& pin) {
    if (std::memcmp(&pin, &octets_[at_], sizeof pin) != 0) throw std::runtime_error("the block does something else");
    at_ += sizeof pin;
  }
  void rewind() { at_ = 0; }
  bool at_end() const { return at_ == octets_.size(); }

 private:
  std::vector<std::uint8_t> octets_;
  std::size_t at_ = 0;
};

// The pins of `Base` for a twin, recorded in the first kCycles cycles in which it is evaluated. `tables(model, f)`
// calls f(pins...) with all inputs except the links'. On the tape, for each cycle: the inputs of the links; for each
// round the tables' new answers, and whether another round follows; the block's outputs to the links.
template <class Base, class Tables>
class Recorded : public Base {
 public:
  using Model = typename Base::Model;
  static constexpr std::uint64_t kCycles = 2048;
  struct Record {
    Tape tape;
    std::uint64_t cycles = 0;  // evaluations of the block, including those after the recorded cycles
  };

  template <class... Args>
  Recorded(typename Base::Block& stage, Record& record, Tables tables, Args&... args)
      : Base(stage, args...), record_(record), tables_(tables) {}

  bool look_up(Model& m, unsigned number) {
    if (recording() && !begun_) begin(m);
    bool asked = true;
    if constexpr (std::is_void_v<decltype(Base::look_up(m, number))>) Base::look_up(m, number);
    else asked = Base::look_up(m, number);
    if (asked && recording()) round(m);
    return asked;
  }
  void stand_in(const Model& m) {
    Base::stand_in(m);
    if (record_.cycles++ >= kCycles) return;
    if (!begun_) begin(const_cast<Model&>(m));
    begun_ = false;
    record_.tape.put(false);
    Outputs outputs{record_.tape};
    Base::links(const_cast<Model&>(m), outputs);
  }

  // Plays one cycle of the block in its own bench, up to its edge.
  void play(Model& m) {
    Tape& tape = record_.tape;
    Drive drive{tape};
    Base::links(m, drive);
    bool another = false;
    do {
      tables_(m, [&tape](auto&... pins) { (get_changed(tape, pins), ...); });
      m.eval();
      tape.get(another);
    } while (another);
    Check check{tape};
    Base::links(m, check);
  }

 private:
  bool recording() const { return record_.cycles < kCycles; }
  void begin(Model& m) {
    begun_ = true;
    Inputs inputs{record_.tape};
    Base::links(m, inputs);
    changes(m);
  }
  void round(Model& m) {
    record_.tape.put(true);
    changes(m);
  }
  void changes(Model& m) {
    std::size_t at = 0;
    tables_(m, [&](auto&... pins) { (put_changed(pins, at), ...); });
  }
  template <class P>
  void put_changed(const P& pin, std::size_t& at) {
    if (last_.size() < at + sizeof pin) last_.resize(at + sizeof pin);
    const bool changed = std::memcmp(&last_[at], &pin, sizeof pin) != 0;
    record_.tape.put(changed);
    if (changed) record_.tape.put(pin);
    std::memcpy(&last_[at], &pin, sizeof pin);
    at += sizeof pin;
  }
  template <class P>
  static void get_changed(Tape& tape, P& pin) {
    bool changed = false;
    tape.get(changed);
    if (changed) tape.get(pin);
  }

  // Recording and playing of the links' pins.
  struct Inputs {
    template <class Port, class... Bits>
    void in(Port&, const CData& valid, const CData&, const Bits&... bits) {
      tape.put(valid);
      if (valid) (tape.put(bits), ...);
    }
    template <class Port, class... Bits>
    void out(Port&, const CData& ready, const Bits&...) {
      tape.put(ready);
    }
    template <class Port, class... Bits>
    void pipe(Port&, const CData& ready, const Bits&...) {
      tape.put(ready);
    }
    Tape& tape;
  };
  struct Drive {
    template <class Port, class... Bits>
    void in(Port&, CData& valid, const CData&, Bits&... bits) {
      tape.get(valid);
      if (valid) (tape.get(bits), ...);
    }
    template <class Port, class... Bits>
    void out(Port&, CData& ready, const Bits&...) {
      tape.get(ready);
    }
    template <class Port, class... Bits>
    void pipe(Port&, CData& ready, const Bits&...) {
      tape.get(ready);
    }
    Tape& tape;
  };
  // The outputs must be right to the last bit.
  template <class Use>
  struct EachOutput {
    template <class Port, class... Bits>
    void in(Port&, const CData& valid, const CData& ready, const Bits&...) {
      if (valid) Use::pin(tape, ready);
    }
    template <class Port, class Bits>
    void out(Port&, const CData&, const CData& valid, const Bits& bits) {
      Use::pin(tape, valid);
      if (valid) Use::pin(tape, bits);
    }
    template <class Port, class Bits, class Data>
    void pipe(Port&, const CData&, const CData& launch, const CData& valid, const Bits& bits, const Data& data) {
      Use::pin(tape, launch);
      Use::pin(tape, valid);
      if (valid) Use::pin(tape, bits), Use::pin(tape, data);
    }
    Tape& tape;
  };
  struct Put {
    template <class P>
    static void pin(Tape& tape, const P& pin) {
      tape.put(pin);
    }
  };
  struct Expect {
    template <class P>
    static void pin(Tape& tape, const P& pin) {
      tape.expect(pin);
    }
  };
  using Outputs = EachOutput<Put>;
  using Check = EachOutput<Expect>;

  Record& record_;
  const Tables tables_;
  std::vector<std::uint8_t> last_;  // the previous values of the tables' pins
  bool begun_ = false;              // the cycle has begun on the tape
};

}  // namespace rnic::perf

// A Verilated block in place of its stage: links become pins, and pins links.
#pragma once

#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "model/common/link.h"
#include "model/rnic/twins.h"
#include "rtl-stubs/verilated/pins.h"
#include "rtl-stubs/verilated/rtl_block.h"

namespace rnic::rtl {

// One call of tick() is one clock cycle. Inputs settle before the edge. A message that is valid then is pushed, and its
// consumer sees it in the next cycle, as with the stage. A pipelined output is a register and is read after the edge,
// one cycle before the consumer sees it through the link, so a block with N pipeline registers equals a stage whose
// output link has latency N. The block is evaluated while it moves or is busy, while beats are in its pipeline and
// while an input waits. If nothing moves for kPatience cycles, it is left alone until its links have something new, so
// that a run which hangs comes to rest. A violation by the block ends the run.
template <class Pins>
class Twin final : public Clocked, public AttachedTwin {
 public:
  // `args` are for the pins.
  template <class... Args>
  explicit Twin(typename Pins::Block& stage, Args&&... args)
      : Twin(Instance<typename Pins::Model>(), stage, std::forward<Args>(args)...) {}
  template <class... Args>
  Twin(Instance<typename Pins::Model> model, typename Pins::Block& stage, Args&&... args)
      : stage_(stage), block_(std::move(model)), fresh_(stage, std::forward<Args>(args)...), pins_(fresh_) {
    block_.check_reset(*pins_);
    stage.be_replaced(*this);
  }
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;

  std::string waiting_for() override {
    Ask ask;
    pins_->links(*block_, ask);
    if (in_flight_ != 0) ask.hold(in_flight_, "pipeline");
    const std::size_t owed = pins_->owes(*block_);
    if (owed != 0 && ask.room.empty() && stage_.clock().now() - moved_at_ >= kNeverReady) {
      return std::string(stage_.name()) + ": its RTL has given nothing for " + std::to_string(owed) +
             " messages that it has taken, and waits for nothing" + (ask.held.empty() ? "" : " (" + ask.held + ")");
    }
    if (ask.room.empty() && ask.held.empty() && !pins_->busy(*block_)) return {};
    const std::string what = ask.room.empty() ? "its RTL to go on" : "room in" + ask.room;
    return std::string(stage_.name()) + " waits for " + what + (ask.held.empty() ? "" : " (" + ask.held + ")");
  }
  std::string fault() const override { return fault_; }
  RequestId fault_of() const override { return {}; }
  bool write_window(const std::string&) const override { return false; }
  bool write_inside(const std::string& file) override { return inside_.write(file); }
  bool write_pins(const std::string& file) const override { return inside_.write_pins(stage_.name(), file); }

  static constexpr unsigned kPatience = 65536;    // cycles
  static constexpr unsigned kNeverReady = 10000;  // cycles in which a block may refuse though nothing is in its way

  // Continues with the other's block, reset in the middle of any work; the other must not be called again.
  void take_over(Twin& other) {
    RNIC_CHECK(in_flight_ == 0);
    block_.swap(other.block_);
    block_.reset();
  }

  // The buffer of a packet that is still in the block is not freed.
  void reset() override {
    block_.reset();
    pins_.emplace(fresh_);
    in_flight_ = 0;
    begins_ = true;
    idle_ = 0;
    refused_ = 0;
  }

  // Runs once a cycle and is short: inner calls would cost as much as their work.
  [[gnu::flatten]] Wake tick() override {
    block_.settle(*pins_);
    inside_.record(stage_.clock().now_ps());  // before a fault of this cycle
    Move move{*this};
    pins_->links(*block_, move);
    pins_->stand_in(*block_);
    pins_->advance(*block_);
    if (!block_.edge()) fail_assertion();
    Leave leave{*this};
    pins_->links(*block_, leave);
    if (move.moved || leave.left) idle_ = 0, moved_at_ = stage_.clock().now();
    else if (in_flight_ != 0 || move.waits) ++idle_;
    judge(move, leave.left);
    const bool goes_on = move.moved || ((in_flight_ != 0 || move.waits) && idle_ < kPatience) || pins_->busy(*block_);
    return goes_on ? Wake::next_cycle() : Wake::on_traffic();
  }

 private:
  // Acts on the handshakes before the edge.
  struct Move {
    template <class Port, class... Bits>
    void in(Port& port, const CData& valid, const CData& ready, const Bits&...) {
      if (!valid) return;
      if (!ready) {
        waits = true;
        return;
      }
      twin.pins_->taken(port->front(), *twin.block_);
      port->drop();
      moved = true;
    }
    template <class T, class Bits>
    void out(PushPort<T>& port, const CData& ready, const CData& valid, const Bits& bits) {
      room = room && ready;
      if (!valid) return;
      if (!ready) twin.fail(port, "a message without credit");
      T& message = port->reserve();
      message.~T();
      new (&message) T{};  // in its place: a copy would wait for what it copies
      unpack(bits, message);
      if (const char* const wrong = twin.pins_->wrong(message)) twin.fail(port, wrong);
      twin.pins_->pushed(message, *twin.block_);
      port->fill(port->config().latency);
      moved = true;
    }
    template <class... Bits>
    void pipe(PushPort<FpduBeat>& port, const CData& ready, const CData& launch, const Bits&...) {
      room = room && ready;
      if (!launch) return;
      if (!ready) twin.fail(port, "a launch without credit");
      FpduBeat& beat = port->reserve();
      const BeatPlace place = twin.pins_->launched(*twin.block_);
      if (place.buf == nullptr) twin.fail(port, "a launch before there was any beat");
      beat.buf = place.buf;
      beat.data = place.data;
      ++twin.in_flight_;
      moved = true;
    }
    Twin& twin;
    bool moved = false;
    bool waits = false;  // a message at an input was not taken
    bool room = true;    // in all outputs
  };

  // After the edge: the beat at the pipeline's end.
  struct Leave {
    template <class... Bits>
    void in(const Bits&...) {}
    template <class... Bits>
    void out(const Bits&...) {}
    template <class Bits, class Data>
    void pipe(PushPort<FpduBeat>& port, const CData&, const CData&, const CData& valid, const Bits& bits,
              const Data& data) {
      if (!valid) return;
      if (twin.in_flight_ == 0) twin.fail(port, "a beat that was never launched");
      --twin.in_flight_;
      FpduBeat& beat = port->reserved();
      if (!unpack(bits, data, beat)) twin.fail(port, "a beat with more octets than there are");
      if (beat.words == 0) twin.fail(port, "a beat without octets");
      if (beat.first != twin.begins_) twin.fail(port, "its beats are not from a first one to a last one");
      twin.begins_ = beat.last;
      left = true;
      twin.pins_->left(beat);
      port->fill(1);
    }
    Twin& twin;
    bool left = false;
  };

  // For the report of a run that hangs: which links have no room, and what waits where.
  struct Ask {
    template <class Port, class... Bits>
    void in(Port& port, const Bits&...) {
      if (!port->empty()) hold(port->used(), port.name());
    }
    template <class Port, class... Bits>
    void out(Port& port, const Bits&...) {
      if (port->used() == port->config().depth) room += std::string(" ") + port.name();
    }
    template <class Port, class... Bits>
    void pipe(Port& port, const Bits&...) {
      out(port);
    }
    void hold(std::size_t count, const char* where) {
      held += (held.empty() ? "" : ", ") + std::string(where) + ": " + std::to_string(count);
    }
    std::string room, held;
  };

  // A message is offered, there is room for all that follows from it, others owe it nothing, and still it is refused.
  void judge(const Move& move, bool left) {
    if (!move.waits || !move.room || move.moved || left || pins_->waits_for_others(*block_)) refused_ = 0;
    else if (++refused_ == kNeverReady) fail_never_ready();
  }
  [[noreturn, gnu::cold, gnu::noinline]] void fail_never_ready() {
    Ask ask;
    pins_->links(*block_, ask);
    fail("never ready: for " + std::to_string(kNeverReady) +
         " cycles it has taken no message, though one waits and there is room in all outputs (" + ask.held + ")");
  }
  [[noreturn, gnu::cold, gnu::noinline]] void fail_assertion() { fail(block_.failure()); }

  [[noreturn, gnu::cold, gnu::noinline]] void fail(const std::string& what) {
    fault_ = std::string("RTL in a stage's place: ") + stage_.name() + ", cycle " +
             std::to_string(stage_.clock().now()) + ": " + what;
    throw std::runtime_error(fault_);
  }
  template <class Port>
  [[noreturn, gnu::cold, gnu::noinline]] void fail(const Port& port, const char* what) {
    (void)block_.edge();  // its assertions, such as those of checkers, tell of this cycle first
    fail(port.name() + std::string(": ") + what);
  }

  typename Pins::Block& stage_;
  RtlBlock<Pins> block_;
  typename RtlBlock<Pins>::Inside inside_{block_.inside()};
  const Pins fresh_;
  std::optional<Pins> pins_;
  std::string fault_;
  std::size_t in_flight_ = 0;  // beats inside the block
  bool begins_ = true;         // an FPDU, with the next beat that leaves
  unsigned refused_ = 0;       // cycles since something moved, in which nothing but the block was in the way
  Cycle moved_at_ = 0;         // a message, into the block or out of it
  unsigned idle_ = 0;          // cycles in which nothing moved, though something waits
};

}  // namespace rnic::rtl

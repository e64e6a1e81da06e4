// Watches the links of a stage that runs beside its twin: what both sides do on each of them.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/common/link.h"
#include "rtl-stubs/verilated/beat_bits.h"
#include "rtl-stubs/verilated/pins.h"
#include "rtl-stubs/verilated/sides.h"

namespace rnic::rtl {

// The owner of a message, by the buffer that it refers to.
inline RequestId owner_of(Anything) { return {}; }
inline RequestId owner_of(const FpduBeat& beat) { return beat.buf->owner(); }
inline RequestId owner_of(const StreamBeat& beat) { return beat.buf->owner(); }
inline RequestId owner_of(const Ulpdu& ulpdu) { return ulpdu.buf->owner(); }

// The signals of the fields of a link's messages.
template <class T>
class MessageSignals {
 public:
  MessageSignals(Sides& sides, const std::string& link) {
    const std::vector<Signal> signals = signals_of<T>(link);
    first_ = sides.add(signals);
    count_ = signals.size();
  }
  // nullptr if a side has none.
  void set(Sides& sides, const T* stage, const T* twin) const {
    store(stage, sides.stage_at(first_));
    store(twin, sides.twin_at(first_));
  }

 private:
  void store(const T* message, std::uint64_t* at) const {
    std::fill_n(at, count_, 0);
    if (message == nullptr) return;
    StoreFields values(at);
    visit_fields(values, *message);
  }
  std::size_t first_, count_;
};

// The octets of a link's beats.
class OctetSignals {
 public:
  OctetSignals(Sides& sides, const std::string& link, std::size_t count)
      : first_(sides.signals().size()), count_(count) {
    for (std::size_t i = 0; i < count; ++i) sides.add(link + ".octet[" + std::to_string(i) + "]", 8);
  }
  void set(Sides& sides, ByteSpan stage, ByteSpan twin) const {
    store(stage, sides.stage_at(first_));
    store(twin, sides.twin_at(first_));
  }

 private:
  void store(ByteSpan octets, std::uint64_t* at) const {
    std::fill(std::copy(octets.begin(), octets.end(), at), at + count_, 0);
  }
  const std::size_t first_, count_;
};

// One link, cycle by cycle: begin() when the inputs have settled, stage_done() when the stage has been called,
// edge_done() after the edge.
class LinkWatch {
 public:
  virtual ~LinkWatch() = default;
  virtual void begin(Sides& sides) = 0;
  virtual void stage_done(Sides& sides) = 0;
  virtual void edge_done(Sides&) {}
  virtual void reset() {}          // the messages inside the block are gone
  virtual bool moves() const = 0;  // a message was taken or given, or is inside the block
};

// Both sides see the same message. `Data` is the port of a beat's octets, if it has one.
template <class T, class... Data>
class InWatch final : public LinkWatch {
 public:
  InWatch(Sides& sides, PopPort<T>& port, const CData& valid, const CData& ready, const Data&... data)
      : link_(*port),
        valid_(valid),
        ready_(ready),
        valid_at_(sides.add(std::string(port.name()) + ".valid", 1)),
        ready_at_(sides.add(std::string(port.name()) + ".ready", 1)),
        message_(sides, port.name()),
        octets_{OctetSignals(sides, port.name(), port_octets(data))...} {}

  void begin(Sides& sides) override {
    used_ = link_.used();
    const T* const message = valid_ ? &link_.front() : nullptr;
    if (message != nullptr) sides.of_request(owner_of(*message));
    sides.set(valid_at_, valid_, valid_);
    message_.set(sides, message, message);
    if constexpr (sizeof...(Data) != 0) {
      const ByteSpan octets = message ? octets_of(*message) : ByteSpan{};
      octets_[0].set(sides, octets, octets);
    }
  }
  void stage_done(Sides& sides) override { sides.set(ready_at_, used_ - link_.used(), moves()); }
  bool moves() const override { return valid_ && ready_; }

 private:
  Link<T>& link_;
  const CData& valid_;
  const CData& ready_;
  const std::size_t valid_at_, ready_at_;
  const MessageSignals<T> message_;
  const std::array<OctetSignals, sizeof...(Data)> octets_;
  unsigned used_ = 0;
};

template <class Pins, class T, class Bits>
class OutWatch final : public LinkWatch, private LinkTap {
 public:
  OutWatch(Sides& sides, const Pins& pins, const typename Pins::Model& model, PushPort<T>& port, const CData& ready,
           const CData& valid, const Bits& bits)
      : pins_(pins),
        model_(model),
        name_(port.name()),
        ready_(ready),
        valid_(valid),
        bits_(bits),
        ready_at_(sides.add(name_ + ".ready", 1)),
        valid_at_(sides.add(name_ + ".valid", 1)),
        message_(sides, name_) {
    port->tap(*this);
  }

  void begin(Sides& sides) override {
    pushed_.reset();
    sides.set(ready_at_, ready_, ready_);
  }
  void stage_done(Sides& sides) override {
    T twin{};
    if (valid_) unpack(bits_, twin);
    sides.set(valid_at_, pushed_.has_value(), valid_);
    message_.set(sides, pushed_ ? &*pushed_ : nullptr, valid_ ? &twin : nullptr);
    if (!pushed_ || !valid_) return;
    pins_.compare_content(*pushed_, model_, [&](const char* what, std::uint64_t stage, std::uint64_t block) {
      if (stage != block) sides.expect(name_ + "." + what, stage, block);
    });
  }
  bool moves() const override { return valid_; }

 private:
  void filled(const void* message, Cycle, Cycle) override { pushed_ = *static_cast<const T*>(message); }

  const Pins& pins_;
  const typename Pins::Model& model_;
  const std::string name_;
  const CData& ready_;
  const CData& valid_;
  const Bits& bits_;
  const std::size_t ready_at_, valid_at_;
  const MessageSignals<T> message_;
  std::optional<T> pushed_;  // by the stage in this cycle
};

// A leaving beat is compared with the stage's beat of the cycle in which it entered the block's pipeline.
template <class Bits, class Data>
class PipeWatch final : public LinkWatch, private LinkTap {
 public:
  PipeWatch(Sides& sides, PushPort<FpduBeat>& port, const CData& ready, const CData& launch, const CData& valid,
            const Bits& bits, const Data& data)
      : link_(*port),
        ready_(ready),
        launch_(launch),
        valid_(valid),
        bits_(bits),
        data_(data),
        ready_at_(sides.add(std::string(port.name()) + ".ready", 1)),
        launch_at_(sides.add(std::string(port.name()) + ".launch", 1)),
        valid_at_(sides.add(std::string(port.name()) + ".valid", 1)),
        message_(sides, port.name()),
        octets_(sides, port.name(), port_octets(data)) {
    port->tap(*this);
  }

  void begin(Sides& sides) override {
    pushed_ = link_.pushed();
    sides.set(ready_at_, ready_, ready_);
  }
  void stage_done(Sides& sides) override { sides.set(launch_at_, link_.pushed() - pushed_, launch_); }
  void edge_done(Sides& sides) override {
    const bool leaves = !on_the_way_.empty() && on_the_way_.front().visible <= sides.now() + 1;
    const Left stage = leaves ? std::move(on_the_way_.front()) : Left{};
    if (leaves) on_the_way_.pop_front();
    if (leaves) sides.of_request(stage.owner);
    FpduBeat twin;
    std::uint8_t octets[kMaxBeatBytes];
    twin.data = octets;
    const bool has_octets = valid_ && unpack(bits_, data_, twin);
    sides.set(valid_at_, leaves, valid_);
    message_.set(sides, leaves ? &stage.beat : nullptr, valid_ ? &twin : nullptr);
    octets_.set(sides, stage.octets, has_octets ? octets_of(twin) : ByteSpan{});
  }
  void reset() override { on_the_way_.clear(); }
  bool moves() const override { return launch_ || !on_the_way_.empty(); }

 private:
  struct Left {
    FpduBeat beat;
    std::vector<std::uint8_t> octets;
    Cycle visible = 0;
    RequestId owner;
  };
  void filled(const void* message, Cycle, Cycle visible) override {
    const FpduBeat& beat = *static_cast<const FpduBeat*>(message);
    const ByteSpan octets = octets_of(beat);
    on_the_way_.push_back({beat, {octets.begin(), octets.end()}, visible, owner_of(beat)});
  }

  Link<FpduBeat>& link_;
  const CData& ready_;
  const CData& launch_;
  const CData& valid_;
  const Bits& bits_;
  const Data& data_;
  const std::size_t ready_at_, launch_at_, valid_at_;
  const MessageSignals<FpduBeat> message_;
  const OctetSignals octets_;
  std::uint64_t pushed_ = 0;
  std::deque<Left> on_the_way_;  // in the stage's link, and still in the block's pipeline
};

}  // namespace rnic::rtl

// A stage and its Verilated twin side by side: both see the same inputs in every cycle, and the first difference stops
// the run.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/rnic/twins.h"
#include "rtl-stubs/verilated/link_watch.h"
#include "rtl-stubs/verilated/pins.h"
#include "rtl-stubs/verilated/rtl_block.h"
#include "rtl-stubs/verilated/sides.h"
#include "rtl-stubs/verilated/window.h"

namespace rnic::rtl {

// Pins as for Twin. The stage does the work; the block gets the same inputs. Sides compares every message, and what
// both do on every link in every cycle. After the first difference both continue for a few cycles, so that the window
// shows its consequences; then the run ends.
template <class Pins>
class Lockstep final : public Clocked, public AttachedTwin {
 public:
  template <class... Args>
  explicit Lockstep(typename Pins::Block& stage, Args&&... args)
      : Lockstep(Instance<typename Pins::Model>(), stage, std::forward<Args>(args)...) {}
  template <class... Args>
  Lockstep(Instance<typename Pins::Model> model, typename Pins::Block& stage, Args&&... args)
      : stage_(stage),
        block_(std::move(model)),
        fresh_(stage, std::forward<Args>(args)...),
        pins_(fresh_),
        sides_(stage) {
    block_.check_reset(*pins_);
    stage.be_replaced(*this);
    Watch watch{*this};
    pins_->links(*block_, watch);
  }
  Lockstep(const Lockstep&) = delete;
  Lockstep& operator=(const Lockstep&) = delete;

  std::string waiting_for() override { return {}; }
  std::string fault() const override {
    return sides_.difference().empty() ? "" : "in lock-step with RTL: " + sides_.difference();
  }
  RequestId fault_of() const override { return sides_.parted_of(); }
  bool write_window(const std::string& file) const override { return window_.write(sides_, file), true; }
  bool write_inside(const std::string& file) override { return inside_.write(file); }
  bool write_pins(const std::string& file) const override { return inside_.write_pins(stage_.name(), file); }

  // The owner that resets this also resets the stage.
  void reset() override {
    block_.reset();
    pins_.emplace(fresh_);
    for (const auto& link : links_) link->reset();
  }

  Wake tick() override {
    block_.settle(*pins_);
    for (const auto& link : links_) link->begin(sides_);
    const Wake wake = stage_.tick();
    for (const auto& link : links_) link->stage_done(sides_);
    pins_->compare(*block_, [this](const char* what, std::uint64_t stage, std::uint64_t block) {
      sides_.expect(what, stage, block);
    });
    inside_.record(sides_.now() * sides_.period_ps());
    const bool moves = std::any_of(links_.begin(), links_.end(), [](const auto& link) { return link->moves(); });
    pins_->advance(*block_);
    const bool asserted = block_.edge();
    for (const auto& link : links_) link->edge_done(sides_);
    sides_.compare();
    if (!asserted) sides_.fail(block_.failure());
    window_.record(sides_);
    if (!sides_.difference().empty() && behind_++ == Window::kBehind) throw std::runtime_error(sides_.difference());
    return moves || behind_ != 0 || pins_->busy(*block_) ? Wake::next_cycle() : wake;
  }

 private:
  // Adds a watch for each link.
  struct Watch {
    template <class T>
    void in(PopPort<T>& port, const CData& valid, const CData& ready) {
      add<InWatch<T>>(port, valid, ready);
    }
    template <class T, class Bits, class... Data>
    void in(PopPort<T>& port, const CData& valid, const CData& ready, const Bits&, const Data&... data) {
      add<InWatch<T, Data...>>(port, valid, ready, data...);
    }
    template <class T, class Bits>
    void out(PushPort<T>& port, const CData& ready, const CData& valid, const Bits& bits) {
      add<OutWatch<Pins, T, Bits>>(*self.pins_, *self.block_, port, ready, valid, bits);
    }
    template <class Bits, class Data>
    void pipe(PushPort<FpduBeat>& port, const CData& ready, const CData& launch, const CData& valid, const Bits& bits,
              const Data& data) {
      add<PipeWatch<Bits, Data>>(port, ready, launch, valid, bits, data);
    }
    template <class W, class... Args>
    void add(Args&... args) {
      self.links_.push_back(std::make_unique<W>(self.sides_, args...));
    }
    Lockstep& self;
  };

  typename Pins::Block& stage_;
  RtlBlock<Pins> block_;
  typename RtlBlock<Pins>::Inside inside_{block_.inside()};
  const Pins fresh_;
  std::optional<Pins> pins_;
  Sides sides_;
  Window window_;
  unsigned behind_ = 0;  // cycles since the first difference
  std::vector<std::unique_ptr<LinkWatch>> links_;
};

}  // namespace rnic::rtl

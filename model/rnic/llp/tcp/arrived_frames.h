// Frames on their way through tcp_rx, in their order: their headers were read, their flow is looked up, its row comes.
// Those whose row is fetched are passed by frames of other flows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "model/common/cycle.h"
#include "model/common/ring.h"
#include "model/rnic/boundary/frame.h"
#include "model/rnic/llp/tcp/segment.h"

namespace rnic {

struct ArrivedFrame {
  Frame frame;
  tcp::ReceivedSegment segment;
  bool path_mtu = false;   // a router's report about one of ours, of which `segment` has the address and the number,
  std::uint16_t mtu = 0;   // and which was too long
  std::size_t bucket = 0;  // in which its flow is looked up,
  Cycle at = 0;            // with the bucket's content in this cycle
  FlowId flow = kNoFlow;   // found
  bool has_asked = false;  // for the flow's row
  bool gone = false;       // used, but not the oldest one
};

// Whether a frame can be used, has to be waited for, or is passed.
enum class FrameUse : std::uint8_t { kNow, kAwaited, kPassed };

class ArrivedFrames {
 public:
  explicit ArrivedFrames(std::size_t places) : places_(places) {}

  bool is_full() const { return frames_.size() == places_; }
  void add(ArrivedFrame&& frame) { frames_.push(std::move(frame)); }

  // The next one to be looked up; nullptr: none.
  ArrivedFrame* unknown() { return known_ == frames_.size() ? nullptr : &frames_.at(known_); }
  void on_looked_up() { ++known_; }
  // Frames have numbers, in their order. That of the one which is looked up next:
  std::uint32_t unknown_number() const { return number(known_); }
  ArrivedFrame& at(std::uint32_t number) { return frames_.at(number - first_); }
  bool has_known() const { return known_ != 0; }
  // The oldest one that was looked up and can be used; kNone if there is none, or an older one has to be used before.
  static constexpr std::uint32_t kNone = ~0u;
  template <class F>
  std::uint32_t next(F&& use_of) const {
    for (std::size_t i = 0; i < known_; ++i) {
      if (frames_.at(i).gone) continue;
      const FrameUse use = use_of(frames_.at(i), number(i));
      if (use != FrameUse::kPassed) return use == FrameUse::kNow ? number(i) : kNone;
    }
    return kNone;
  }
  void drop(std::uint32_t number) {
    at(number).frame = {};
    at(number).gone = true;
    for (; known_ != 0 && frames_.front().gone; --known_, ++first_) frames_.drop();
  }
  // The flow's number is free: the frames that found it are of no flow.
  void forget(FlowId flow) {
    for (std::size_t i = 0; i < known_; ++i) {
      if (frames_.at(i).flow == flow) frames_.at(i).flow = kNoFlow;
    }
  }
  void reset() {
    frames_.clear();
    known_ = 0;
  }

 private:
  std::uint32_t number(std::size_t i) const { return first_ + static_cast<std::uint32_t>(i); }

  const std::size_t places_;
  Ring<ArrivedFrame> frames_;
  std::size_t known_ = 0;    // were looked up: the oldest ones
  std::uint32_t first_ = 0;  // the oldest one's number
};

}  // namespace rnic

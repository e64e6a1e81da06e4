// Frames on their way through tcp_rx, in their order: their headers were read, their flow is looked up, its row comes.
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
};

class ArrivedFrames {
 public:
  explicit ArrivedFrames(std::size_t places) : places_(places) {}

  bool is_full() const { return frames_.size() == places_; }
  void add(ArrivedFrame&& frame) { frames_.push(std::move(frame)); }

  // The next one to be looked up; nullptr: none.
  ArrivedFrame* unknown() { return known_ == frames_.size() ? nullptr : &frames_.at(known_); }
  void on_looked_up() { ++known_; }
  // The oldest one, if it was looked up.
  bool has_known() const { return known_ != 0; }
  ArrivedFrame& front() { return frames_.front(); }
  void drop() {
    frames_.front().frame = {};
    frames_.drop();
    --known_;
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
  const std::size_t places_;
  Ring<ArrivedFrame> frames_;
  std::size_t known_ = 0;  // were looked up: the oldest ones
};

}  // namespace rnic

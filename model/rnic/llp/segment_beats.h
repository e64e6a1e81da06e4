// A segment on its way out, a beat at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "model/rnic/llp/received_octets.h"
#include "model/rnic/messages/datapath.h"

namespace rnic {

class SegmentBeats {
 public:
  bool done() const { return left_ == 0; }
  FlowId flow() const { return flow_; }

  // Of what stands for placed octets, the header leaves.
  void start(FlowId flow, tcp::ReceivedOctets&& octets, std::uint64_t offset) {
    buf_ = std::move(octets.buf);
    data_ = octets.data;
    offset_ = offset;
    placed_ = octets.header_bytes != 0;
    left_ = octets.held();
    flow_ = flow;
    first_ = true;
    ends_ = false;
  }
  // A word that stands for the peer's FIN.
  void start_end(FlowId flow, BufferRef word, std::uint64_t offset) {
    const std::uint8_t* const data = word->bytes();
    start(flow, tcp::received_octets(std::move(word), {data, kEndBytes}, 0), offset);
    ends_ = true;
  }
  // With the last one the reference travels.
  StreamBeat take(unsigned beat_bytes) {
    StreamBeat beat;
    beat.buf = buf_.get();
    beat.data = data_;
    beat.offset = offset_;
    beat.flow = flow_;
    beat.bytes = static_cast<std::uint8_t>(std::min<std::uint32_t>(beat_bytes, left_));
    beat.first = std::exchange(first_, false);
    beat.placed = placed_;
    beat.ends = ends_;
    data_ += beat.bytes;
    left_ -= beat.bytes;
    offset_ += beat.bytes;
    beat.last = left_ == 0;
    if (beat.last) buf_.release();
    return beat;
  }

 private:
  BufferRef buf_;
  const std::uint8_t* data_ = nullptr;
  std::uint64_t offset_ = 0;  // in the stream
  std::uint32_t left_ = 0;
  FlowId flow_;
  bool first_ = false, placed_ = false, ends_ = false;
};

}  // namespace rnic

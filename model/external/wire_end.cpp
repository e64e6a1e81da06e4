#include "model/external/wire_end.h"

#include <cstring>
#include <utility>

#include "model/common/kernel_time.h"
#include "model/external/frame_port.h"

namespace rnic::external {
namespace {

constexpr std::uint64_t whole_ns(std::uint64_t ps) { return (ps + 999) / 1000 * 1000; }

}  // namespace

WireEnd::WireEnd(sc_core::sc_module_name nm, Take take)
    : sc_module(nm), EthernetTarget("receiver"), take_(std::move(take)), buffers_(FramePort::kMaxFrame) {
  SC_HAS_PROCESS(WireEnd);
  SC_METHOD(hand_out);
  sensitive << event_;
  dont_initialize();
}

void WireEnd::inject(ByteSpan frame) {
  if (frame.size() > buffers_.block_bytes()) return;
  Frame f{buffers_.take(), 0, static_cast<std::uint32_t>(frame.size()), true};
  std::memcpy(f.buf->bytes(), frame.data(), frame.size());
  transmitter_.send(std::move(f), kernel_time_ps());
}

void WireEnd::on_frame(const Frame& frame, std::uint64_t at_ps) {
  arrivals_.push({whole_ns(at_ps), numbers_++, frame});
  arm();
}

void WireEnd::hand_out() {
  while (!arrivals_.empty() && arrivals_.top().ps <= kernel_time_ps()) {
    const Frame frame = arrivals_.top().frame;
    arrivals_.pop();
    take_({frame.data(), frame.bytes});
  }
  arm();
}

void WireEnd::arm() {
  if (!arrivals_.empty()) event_.notify(sc_core::sc_time::from_value(arrivals_.top().ps - kernel_time_ps()));
}

}  // namespace rnic::external

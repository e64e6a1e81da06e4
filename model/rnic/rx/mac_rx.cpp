#include "model/rnic/rx/mac_rx.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/common/description.h"
#include "model/common/memory.h"
#include "model/rnic/llp/classifier.h"

namespace rnic {
namespace {

// The memory is divided into cells, so that a frame, however short, takes one.
constexpr std::uint32_t kCellBytes = 64;
constexpr std::uint32_t cells_bytes(std::uint32_t bytes) { return (bytes + kCellBytes - 1) / kCellBytes * kCellBytes; }

}  // namespace

MacRx::MacRx(sc_core::sc_module_name nm, ClockDomain& clk, const MacRxConfig& config, const wire::MacAddress& mac)
    : Stage(nm, clk), EthernetTarget("ethernet"), config_(config), mac_(mac), ring_(config.buffer_bytes / kCellBytes) {}

void MacRx::reset() {
  ring_.assign(ring_.size(), {});
  head_ = used_ = 0;
  buffered_ = 0;
}

Wake MacRx::tick() {
  if (inbox_.can_pop()) receive(inbox_.pop());
  if (may_push()) {
    Frame& frame = ring_[head_].frame;
    buffered_ -= cells_bytes(frame.bytes);
    counters_.buffered_max.level(buffered_);
    output()->push(std::exchange(frame, Frame{}));
    head_ = head_ + 1 == ring_.size() ? 0 : head_ + 1;
    --used_;
  }
  // A full link calls again when it has room; a frame still to come has its own wake-up.
  return inbox_.can_pop() || may_push() ? Wake::next_cycle() : Wake::on_traffic();
}

void MacRx::receive(Frame frame) {
  if (!frame.fcs_ok || frame.bytes < wire::EthernetHeader::kBytes) {
    ++counters_.bad_fcs;
    drops(now(), frame.buf->owner(), frame.bytes, "FCS wrong");
    return;
  }
  const bool ours = std::memcmp(frame.data(), mac_.octets.data(), wire::MacAddress::kBytes) == 0;
  if (!ours && !(frame.data()[0] & 1)) {
    ++counters_.other_address;
    drops(now(), frame.buf->owner(), frame.bytes, "another station's");
    return;
  }
  const std::uint32_t cells = cells_bytes(frame.bytes);
  if (buffered_ + cells > config_.buffer_bytes || used_ == ring_.size()) {
    ++counters_.overflow;
    drops(now(), frame.buf->owner(), frame.bytes, "no room");
    return;
  }
  ++counters_.frames;
  counters_.bytes += frame.bytes;
  buffered_ += cells;
  counters_.buffered_max.level(buffered_);
  if (arrivals_.on()) {
    TraceEvent e;
    e.kind = TraceKind::kAtPort;
    e.bytes = frame.bytes;
    e.request = frame.buf->owner();
    e.offset = frame.buf->offset();
    e.again = frame.again();
    e.values[0] = frame.serial;
    arrivals_(e);
  }
  Buffered& last = ring_[(head_ + used_) % ring_.size()];
  last.llp = classify(frame);
  last.frame = std::move(frame);
  ++used_;
}

void MacRx::describe(const Description& d) {
  d.counters(counters_);
  d.series("mac_rx.frames", 100, counters_, &MacRxCounters::frames);
  d.overflows(counters_.overflow);
  describe_memory(d.part("buffer").stats(),
                  {config_.buffer_bytes, config_.buffer_bytes, 8, "octets", "rx.mac_rx.buffer_bytes"},
                  counters_.buffered_max);
  d.drops(drops);
  d.point(arrivals_);
}

}  // namespace rnic

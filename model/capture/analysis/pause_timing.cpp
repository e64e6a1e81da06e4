#include "model/capture/analysis/pause_timing.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rnic::capture {
namespace {

constexpr std::uint16_t kEthertypeMacControl = 0x8808, kPause = 0x0001, kPriorityPause = 0x0101;
constexpr std::size_t kPauseBytes = 4, kPriorityPauseBytes = 20, kPriorities = 8;

// The longest time that a MAC control frame asks for, in units of 512 bit times; 0 if it ends a pause or is another.
std::uint16_t quanta(ByteSpan control) {
  if (control.size() < kPauseBytes) return 0;
  const std::uint16_t opcode = load_be16(control.data());
  if (opcode == kPause) return load_be16(control.data() + 2);
  if (opcode != kPriorityPause || control.size() < kPriorityPauseBytes) return 0;
  std::uint16_t most = 0;
  for (std::size_t i = 0; i < kPriorities; ++i) {
    if (control[3] >> i & 1) most = std::max(most, load_be16(control.data() + 4 + 2 * i));
  }
  return most;
}

}  // namespace

void PauseTiming::pause(const wire::EthernetView& ethernet, const CapturedFrame& frame) {
  const std::uint16_t time = quanta(ethernet.payload);
  if (time == 0) return;
  std::string station = fmt::format("{:02x}", fmt::join(ethernet.header.src.octets, ":"));
  stations_[station].add(FigureKind::kPauseQuanta, time, frame.at.frame);
  pending_[station] = {station, ethernet.header.src, frame.at.time_ns};
}

// The frame that is being sent when a pause comes is sent to its end: the gap is right to within one frame.
void PauseTiming::frame(const CapturedFrame& frame) {
  const auto ethernet = wire::EthernetView::parse(frame.bytes);
  if (!ethernet) return;
  if (ethernet->header.ethertype == kEthertypeMacControl) return pause(*ethernet, frame);
  if (ethernet->header.ethertype == wire::kEthertypeLost) return;
  for (auto at = pending_.begin(); at != pending_.end();) {
    const Pending& pending = at->second;
    if (pending.address == ethernet->header.src) {
      ++at;
      continue;
    }
    stations_[pending.station].add(FigureKind::kPauseToFrame, static_cast<std::int64_t>(frame.at.time_ns - pending.ns),
                                   frame.at.frame);
    at = pending_.erase(at);
  }
}

}  // namespace rnic::capture

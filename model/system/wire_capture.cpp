#include "model/system/wire_capture.h"

#include <algorithm>

#include "model/common/check.h"
#include "model/common/cycle.h"
#include "model/wire/ethernet.h"

namespace rnic {
namespace {

// From the first station.
Direction seen(unsigned direction) { return direction == 0 ? Direction::kOutbound : Direction::kInbound; }

}  // namespace

WireCapture::WireCapture(const std::string& station, const std::string& file) {
  if (file.empty()) return;
  writer_ = std::make_unique<PcapngWriter>(file);
  interface_ = writer_->add_interface(station);
}

void WireCapture::frame(unsigned direction, const Frame& frame, std::uint64_t ps) {
  ++frames_;
  if (is_read()) waiting_[direction].push({ps, frame});
}

// A frame that found no place in a queue is stamped there, before those that were lost behind it.
void WireCapture::swallowed(unsigned direction, const Frame& frame, std::uint64_t ps, std::string why) {
  if (!is_read()) return;
  std::deque<Swallowed>& waiting = swallowed_[direction];
  const auto later = std::upper_bound(waiting.begin(), waiting.end(), ps,
                                      [](std::uint64_t at, const Swallowed& s) { return at < s.ps; });
  waiting.insert(later, {ps, frame, std::move(why)});
}

unsigned WireCapture::add_interface(const std::string& name, LinkType type) {
  RNIC_CHECK(writer_ != nullptr);
  const unsigned interface = writer_->add_interface(name, type);
  for (const Direction d : {Direction::kInbound, Direction::kOutbound}) sources_.push_back({interface, d, {}});
  return interface;
}

void WireCapture::packet(unsigned interface, Direction direction, std::uint64_t ps, std::vector<std::uint8_t> octets,
                         std::string comment) {
  const auto source = std::find_if(sources_.begin(), sources_.end(), [&](const Source& s) {
    return s.interface == interface && s.direction == direction;
  });
  RNIC_CHECK(source != sources_.end());
  source->waiting.push_back({ps, std::move(octets), std::move(comment)});
}

void WireCapture::write_frame(unsigned direction) {
  static const std::string kArrived;
  const Waiting w = waiting_[direction].pop();
  ++packets_;
  if (listener_) listener_({packets_, direction, w.frame, w.ps, kArrived});
  if (!writer_) return;
  writer_->write(interface_, w.ps, {w.frame.data(), w.frame.bytes}, seen(direction),
                 comment_ ? comment_(direction, w.frame) : std::string());
}

void WireCapture::write_swallowed(unsigned direction) {
  const Swallowed s = std::move(swallowed_[direction].front());
  swallowed_[direction].pop_front();
  ++packets_;
  if (listener_) listener_({packets_, direction, s.frame, s.ps, s.why});
  if (!writer_) return;
  if (!lost_interface_) lost_interface_ = writer_->add_interface("cable.lost");
  std::vector<std::uint8_t> octets(wire::EthernetHeader::kBytes + s.frame.bytes);
  wire::EthernetHeader header;
  if (const auto inside = wire::EthernetView::parse({s.frame.data(), s.frame.bytes})) header = inside->header;
  header.ethertype = wire::kEthertypeLost;
  std::copy_n(s.frame.data(), s.frame.bytes, octets.data() + header.emit(octets));
  const std::string request = comment_ ? comment_(direction, s.frame) : "";
  writer_->write(*lost_interface_, s.ps, octets, seen(direction), request.empty() ? s.why : s.why + ", " + request,
                 std::uint64_t{direction} << 32 | s.frame.serial);
}

void WireCapture::write_packet(Source& source) {
  const Packet& p = source.waiting.front();
  ++packets_;
  writer_->write(source.interface, p.ps, p.octets, source.direction, p.comment);
  source.waiting.pop_front();
}

// Within one picosecond, frames come first, then those that do not arrive, and then interfaces in order.
void WireCapture::advance(std::uint64_t now_ps) {
  for (;;) {
    std::uint64_t earliest = now_ps;
    int frame = -1;
    for (unsigned d = 0; d < 2; ++d) {
      if (waiting_[d].empty() || waiting_[d].front().ps >= earliest) continue;
      earliest = waiting_[d].front().ps;
      frame = static_cast<int>(d);
    }
    int swallowed = -1;
    for (unsigned d = 0; d < 2; ++d) {
      if (swallowed_[d].empty() || swallowed_[d].front().ps >= earliest) continue;
      earliest = swallowed_[d].front().ps;
      swallowed = static_cast<int>(d);
    }
    Source* from = nullptr;
    for (Source& s : sources_) {
      if (s.waiting.empty() || s.waiting.front().ps >= earliest) continue;
      earliest = s.waiting.front().ps;
      from = &s;
    }
    if (from != nullptr) write_packet(*from);
    else if (swallowed >= 0) write_swallowed(static_cast<unsigned>(swallowed));
    else if (frame >= 0) write_frame(static_cast<unsigned>(frame));
    else return;
  }
}

void WireCapture::close() {
  advance(kNever);
  if (writer_) writer_->close();
}

}  // namespace rnic

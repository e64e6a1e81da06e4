#include "model/system/wire_capture.h"

#include <algorithm>

#include "model/common/check.h"
#include "model/common/cycle.h"

namespace rnic {

WireCapture::WireCapture(const std::string& station, const std::string& file) {
  if (file.empty()) return;
  writer_ = std::make_unique<PcapngWriter>(file);
  interface_ = writer_->add_interface(station);
}

void WireCapture::frame(unsigned direction, const Frame& frame, std::uint64_t ps) {
  ++frames_;
  if (writer_ || listener_) waiting_[direction].push({ps, frame});
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
  const Waiting w = waiting_[direction].pop();
  ++packets_;
  if (listener_) listener_(packets_, direction, w.frame, w.ps);
  if (!writer_) return;
  writer_->write(interface_, w.ps, {w.frame.data(), w.frame.bytes},
                 direction == 0 ? Direction::kOutbound : Direction::kInbound,
                 comment_ ? comment_(w.frame) : std::string());
}

void WireCapture::write_packet(Source& source) {
  const Packet& p = source.waiting.front();
  ++packets_;
  writer_->write(source.interface, p.ps, p.octets, source.direction, p.comment);
  source.waiting.pop_front();
}

// Within one picosecond, frames come first, and then interfaces in order.
void WireCapture::advance(std::uint64_t now_ps) {
  for (;;) {
    std::uint64_t earliest = now_ps;
    int frame = -1;
    for (unsigned d = 0; d < 2; ++d) {
      if (waiting_[d].empty() || waiting_[d].front().ps >= earliest) continue;
      earliest = waiting_[d].front().ps;
      frame = static_cast<int>(d);
    }
    Source* from = nullptr;
    for (Source& s : sources_) {
      if (s.waiting.empty() || s.waiting.front().ps >= earliest) continue;
      earliest = s.waiting.front().ps;
      from = &s;
    }
    if (from != nullptr) write_packet(*from);
    else if (frame >= 0) write_frame(static_cast<unsigned>(frame));
    else return;
  }
}

void WireCapture::close() {
  advance(kNever);
  if (writer_) writer_->close();
}

}  // namespace rnic

#include "model/system/wire_capture.h"

#include "model/common/cycle.h"

namespace rnic {

WireCapture::WireCapture(const std::string& station, const std::string& file) {
  if (file.empty()) return;
  writer_ = std::make_unique<PcapngWriter>(file);
  interface_ = writer_->add_interface(station);
}

void WireCapture::frame(unsigned direction, const Frame& frame, std::uint64_t ps) {
  ++frames_;
  if (writer_) waiting_[direction].push({ps, frame});
}

void WireCapture::advance(std::uint64_t now_ps) {
  for (;;) {
    const bool first = !waiting_[0].empty(), second = !waiting_[1].empty();
    if (!first && !second) return;
    const unsigned d = first && (!second || waiting_[0].front().ps <= waiting_[1].front().ps) ? 0 : 1;
    if (waiting_[d].front().ps >= now_ps) return;
    const Waiting w = waiting_[d].pop();
    writer_->write(interface_, w.ps, {w.frame.data(), w.frame.bytes},
                   d == 0 ? Direction::kOutbound : Direction::kInbound);
  }
}

void WireCapture::close() {
  if (!writer_) return;
  advance(kNever);
  writer_->close();
}

}  // namespace rnic

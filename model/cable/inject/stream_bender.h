// One direction of an MPA connection, whose octets pass and are changed where an injection says so. See inject.md.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/cable/inject/order.h"
#include "model/common/bytes.h"
#include "model/wire/fpdu_view.h"

namespace rnic::inject {

class StreamBender {
 public:
  using Order = inject::Order;
  StreamBender(wire::MpaFrameKind startup, std::vector<Order*> orders)
      : startup_(startup), orders_(std::move(orders)) {}

  // A TCP segment's payload, the first octet of which is octet `at` of the stream; new octets come without gaps, old
  // ones again. It is changed in place.
  void pass(std::uint64_t at, MutableByteSpan octets);
  // The stream has markers, as the other side's startup frame asks; known before the first FPDU.
  void use_markers(bool on) { markers_ = on; }
  // What this side's startup frame asks of the other, once it has passed.
  std::optional<bool> asks_for_markers() const { return asks_for_markers_; }
  // The octet with which the stream ends before its time.
  std::optional<std::uint64_t> end() const { return end_; }

 private:
  bool read_startup();
  bool read_fpdu();
  wire::StreamPosition position() const { return static_cast<wire::StreamPosition>(begin_ - startup_bytes_); }
  // Where an octet that a field counts lies in pending_, which begins with this FPDU; without one, with the startup
  // frame.
  std::size_t place(const Field& field, std::size_t octet, const wire::FpduView* fpdu) const;
  void apply(Order& order, const wire::FpduView* fpdu);
  void write(const Injection& injection, const Field& field, const wire::FpduView* fpdu);
  void overwrite(std::uint64_t at, MutableByteSpan octets) const;

  const wire::MpaFrameKind startup_;
  const std::vector<Order*> orders_;
  bool markers_ = false;
  std::optional<bool> asks_for_markers_;
  std::uint64_t next_ = 0;             // octet that has not passed yet
  std::uint64_t fresh_ = 0;            // first octet of the segment at hand that has not passed before
  std::uint64_t begin_ = 0;            // of pending_ in the stream
  std::uint64_t startup_bytes_ = 0;    // 0: the startup frame has not passed yet
  std::vector<std::uint8_t> pending_;  // as sent, from the first octet of what is not whole yet
  std::array<std::uint64_t, MessageKind::kCount> messages_{}, segments_{};  // whole ones; of the one at hand
  std::map<std::uint64_t, std::uint8_t> changed_;  // octets of the stream: a segment may be sent again
  std::optional<std::uint64_t> end_;
};

}  // namespace rnic::inject

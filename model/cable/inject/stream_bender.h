// Passes the octets of one direction of an MPA connection, and changes those named by an injection. See inject.md.
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

  // Passes a TCP segment's payload, which begins at octet `at` of the stream, and changes it in place. New octets come
  // without gaps; old ones may be repeated.
  void pass(std::uint64_t at, MutableByteSpan octets);
  // Says whether the other side's startup frame asks for markers; call before the first FPDU.
  void use_markers(bool on) { markers_ = on; }
  // Whether this side's startup frame asks for markers, once it has passed.
  std::optional<bool> asks_for_markers() const { return asks_for_markers_; }
  // The octet at which an injection ends the stream early.
  std::optional<std::uint64_t> end() const { return end_; }

 private:
  bool read_startup();
  bool read_fpdu();
  wire::StreamPosition position() const { return static_cast<wire::StreamPosition>(begin_ - startup_bytes_); }
  // Position in pending_ of octet `octet` in the field's numbering; pending_ begins with `fpdu`, or with the startup
  // frame if there is none.
  std::size_t place(const Field& field, std::size_t octet, const wire::FpduView* fpdu) const;
  void apply(Order& order, const wire::FpduView* fpdu);
  void write(Order& order, const Field& field, const wire::FpduView* fpdu);
  void overwrite(std::uint64_t at, MutableByteSpan octets) const;

  const wire::MpaFrameKind startup_;
  const std::vector<Order*> orders_;
  bool markers_ = false;
  std::optional<bool> asks_for_markers_;
  std::uint64_t next_ = 0;             // first octet that has not passed yet
  std::uint64_t fresh_ = 0;            // first new octet of the current segment
  std::uint64_t begin_ = 0;            // of pending_ in the stream
  std::uint64_t startup_bytes_ = 0;    // 0: the startup frame has not passed yet
  std::vector<std::uint8_t> pending_;  // as sent, from the first incomplete frame or FPDU on
  std::array<std::uint64_t, MessageKind::kCount> messages_{}, segments_{};  // complete ones; of the current message
  std::map<std::uint64_t, std::uint8_t> changed_;                           // octets of the stream, for retransmissions
  std::optional<std::uint64_t> end_;
};

}  // namespace rnic::inject

// Passes the segments of one direction of a DDP stream over SCTP, and changes those named by an injection. See
// inject.md.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/cable/inject/order.h"
#include "model/common/bytes.h"

namespace rnic::inject {

class ChunkBender {
 public:
  explicit ChunkBender(std::vector<Order*> orders) : orders_(std::move(orders)) {}

  // Passes a packet from its common header on. Changes are in place; true if there are any.
  bool pass(std::uint16_t stream, MutableByteSpan packet);
  // The stream of the first session message in the packet, if any.
  static std::optional<std::uint16_t> session_of(ByteSpan packet);

 private:
  bool pass_segment(std::uint32_t tsn, MutableByteSpan segment);
  void apply(Order& order, MutableByteSpan segment);

  const std::vector<Order*> orders_;
  std::optional<std::uint32_t> newest_;                                     // TSN
  std::array<std::uint64_t, MessageKind::kCount> messages_{}, segments_{};  // complete ones; of the current message
  std::map<std::uint32_t, std::vector<std::uint8_t>> changed_;              // segments by TSN, for retransmissions
};

}  // namespace rnic::inject

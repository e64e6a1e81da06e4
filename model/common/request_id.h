// Whose work a beat, a TLP or a frame is: the same number in every output of a run. No hardware carries it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rnic {

// A number and its parts: the node from 1 on, the kind of its owner, the queue or flow, how often that queue's number
// was in use before, and the place in the queue from 0 on. It depends on nothing else, so equal runs have equal ids.
struct RequestId {
  enum class Kind : std::uint8_t {
    kSend = 0,       // the n-th work request of a send queue
    kReceive,        // of a receive queue
    kSharedReceive,  // of a shared receive queue
    kInternal,       // of the chip itself on a queue pair: a Terminate, a ready-to-receive message
    kFlow,           // of a TCP connection: set-up, pure ACKs, its end. `queue` is the flow
    kCommand,        // the n-th command of the host
    kEvent,          // the n-th event to the host, its interrupt included
    kQueuePair       // of a queue pair, and no request of it: a doorbell, an arm of a completion queue
  };
  static constexpr unsigned kNodeBits = 6, kKindBits = 3, kQueueBits = 17, kLifeBits = 10, kSequenceBits = 28;
  static_assert(kNodeBits + kKindBits + kQueueBits + kLifeBits + kSequenceBits == 64);

  std::uint64_t v = 0;  // 0: none

  constexpr RequestId() = default;
  constexpr explicit RequestId(std::uint64_t value) : v(value) {}
  // Each part modulo its range; a node of 0 is no node.
  constexpr RequestId(std::uint32_t node, Kind kind, std::uint32_t queue, std::uint32_t life, std::uint64_t sequence)
      : v(part(node, kNodeBits) << (64 - kNodeBits) |
          part(static_cast<std::uint64_t>(kind), kKindBits) << (kQueueBits + kLifeBits + kSequenceBits) |
          part(queue, kQueueBits) << (kLifeBits + kSequenceBits) | part(life, kLifeBits) << kSequenceBits |
          part(sequence, kSequenceBits)) {}

  constexpr explicit operator bool() const { return v != 0; }
  constexpr std::uint32_t node() const { return static_cast<std::uint32_t>(v >> (64 - kNodeBits)); }
  constexpr Kind kind() const {
    return static_cast<Kind>(part(v >> (kQueueBits + kLifeBits + kSequenceBits), kKindBits));
  }
  constexpr std::uint32_t queue() const {
    return static_cast<std::uint32_t>(part(v >> (kLifeBits + kSequenceBits), kQueueBits));
  }
  constexpr std::uint32_t life() const { return static_cast<std::uint32_t>(part(v >> kSequenceBits, kLifeBits)); }
  constexpr std::uint64_t sequence() const { return part(v, kSequenceBits); }

  friend constexpr bool operator==(RequestId a, RequestId b) { return a.v == b.v; }
  friend constexpr bool operator!=(RequestId a, RequestId b) { return a.v != b.v; }
  friend constexpr bool operator<(RequestId a, RequestId b) { return a.v < b.v; }

  // "a.3.17" is request 17 of the send queue of QP 3 on node a; "a.r3.0" one of its receive queue; the other kinds
  // have the letters s, i, f, c, e and q. A number that was in use before has "#" and how often: "a.3#1.17". "" is
  // none.
  std::string text(const std::vector<std::string>& nodes) const;
  // The id of such a text, or nothing.
  static std::optional<RequestId> parse(std::string_view text, const std::vector<std::string>& nodes);

 private:
  static constexpr std::uint64_t part(std::uint64_t value, unsigned bits) {
    return value & ((std::uint64_t{1} << bits) - 1);
  }
};
static_assert(sizeof(RequestId) == 8);

}  // namespace rnic

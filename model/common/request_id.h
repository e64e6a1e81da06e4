// The owner of a beat, a TLP or a frame: the same number in every output of a run. No hardware carries it.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rnic {

// A number and its parts: the node from 1 on, the kind of its owner, the queue or flow, how often that queue's number
// was in use before, and the place in the queue from 0 on. It depends on nothing else, so equal runs have equal ids.
struct RequestId {
  enum class Kind : std::uint8_t {
    kSend = 0,         // the n-th work request of a send queue
    kReceive,          // of a receive queue
    kSharedReceive,    // of a shared receive queue
    kInternal,         // what the chip itself sends on a queue pair: a ready-to-receive message, a Terminate
    kQueuePair,        // of a queue pair, but of no single request
    kCompletionQueue,  // of a completion queue: its consumer's index, arming it
    kFlow,             // of a TCP connection: set-up, pure ACKs, its end. `queue` is the flow
    kCommand,          // the n-th command of the host
    kEvent,            // the n-th event to the host, its interrupt included
    kContext           // the n-th row of contexts that are not on the chip; `queue` is their ContextKind
  };
  static constexpr unsigned kNodeBits = 16, kKindBits = 4, kQueueBits = 17, kLifeBits = 9, kSequenceBits = 28;
  static constexpr unsigned kPlaceBits = kKindBits + kQueueBits + kLifeBits + kSequenceBits;
  // Up to this node an id is one number of 64 bits in files (packed()).
  static constexpr unsigned kPackedNodeBits = 64 - kPlaceBits;
  static constexpr std::uint32_t kMostPackedNode = (1u << kPackedNodeBits) - 1;

  constexpr RequestId() = default;
  // From packed().
  constexpr explicit RequestId(std::uint64_t packed)
      : low_(static_cast<std::uint32_t>(packed)), high_(static_cast<std::uint32_t>(packed >> 32)) {}
  // Each part modulo its range; a node of 0 is no node.
  constexpr RequestId(std::uint32_t node, Kind kind, std::uint32_t queue, std::uint32_t life, std::uint64_t sequence)
      : RequestId(node, part(static_cast<std::uint64_t>(kind), kKindBits) << (kQueueBits + kLifeBits + kSequenceBits) |
                            part(queue, kQueueBits) << (kLifeBits + kSequenceBits) |
                            part(life, kLifeBits) << kSequenceBits | part(sequence, kSequenceBits)) {}

  constexpr explicit operator bool() const { return (more_ | high_ | low_) != 0; }
  constexpr std::uint32_t node() const {
    return std::uint32_t{more_} << kPackedNodeBits | static_cast<std::uint32_t>(packed() >> kPlaceBits);
  }
  constexpr Kind kind() const {
    return static_cast<Kind>(part(place() >> (kQueueBits + kLifeBits + kSequenceBits), kKindBits));
  }
  constexpr std::uint32_t queue() const {
    return static_cast<std::uint32_t>(part(place() >> (kLifeBits + kSequenceBits), kQueueBits));
  }
  constexpr std::uint32_t life() const { return static_cast<std::uint32_t>(part(place() >> kSequenceBits, kLifeBits)); }
  constexpr std::uint64_t sequence() const { return part(place(), kSequenceBits); }

  // All of it but the node.
  constexpr std::uint64_t place() const { return part(packed(), kPlaceBits); }
  constexpr bool packs() const { return more_ == 0; }
  // Only if it packs. Of a higher node, the upper bits are lost.
  constexpr std::uint64_t packed() const { return std::uint64_t{high_} << 32 | low_; }

  friend constexpr bool operator==(RequestId a, RequestId b) { return a.more_ == b.more_ && a.packed() == b.packed(); }
  friend constexpr bool operator!=(RequestId a, RequestId b) { return !(a == b); }
  friend constexpr bool operator<(RequestId a, RequestId b) {
    return a.more_ != b.more_ ? a.more_ < b.more_ : a.packed() < b.packed();
  }

  // "a.3.17" is request 17 of the send queue of QP 3 on node a, "a.rq3.0" one of its receive queue; the other kinds are
  // srq, int, qp, cq, flow, cmd, ev and ctx. A number that was in use before has "#" and how often: "a.3#1.17". "" is
  // none.
  std::string text(const std::vector<std::string>& nodes) const;
  // The id of such a text, or nothing.
  static std::optional<RequestId> parse(std::string_view text, const std::vector<std::string>& nodes);

 private:
  constexpr RequestId(std::uint32_t node, std::uint64_t place) : RequestId(std::uint64_t{node} << kPlaceBits | place) {
    more_ = static_cast<std::uint16_t>(part(node, kNodeBits) >> kPackedNodeBits);
  }
  static constexpr std::uint64_t part(std::uint64_t value, unsigned bits) {
    return value & ((std::uint64_t{1} << bits) - 1);
  }

  std::uint32_t low_ = 0, high_ = 0;  // of packed(): two words, as a Tlp has room for twelve octets and no more
  std::uint16_t more_ = 0;            // the upper bits of the node
};
static_assert(sizeof(RequestId) == 12);

namespace detail {

// Of RequestId::Kind.
inline constexpr std::string_view kOwnerWords[] = {"", "rq", "srq", "int", "qp", "cq", "flow", "cmd", "ev", "ctx"};

// Takes a number off the front.
inline bool take(std::string_view& text, std::uint64_t bits, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number >> bits != 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}
inline bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace detail

inline std::string RequestId::text(const std::vector<std::string>& nodes) const {
  if (!*this) return {};
  std::string s = node() >= 1 && node() <= nodes.size() ? nodes[node() - 1] : std::to_string(node());
  s += '.';
  if (static_cast<unsigned>(kind()) < std::size(detail::kOwnerWords))
    s += detail::kOwnerWords[static_cast<unsigned>(kind())];
  s += std::to_string(queue());
  if (life() != 0) s += '#' + std::to_string(life());
  return s + '.' + std::to_string(sequence());
}

inline std::optional<RequestId> RequestId::parse(std::string_view text, const std::vector<std::string>& nodes) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto node = std::find(nodes.begin(), nodes.end(), text.substr(0, dot));
  if (node == nodes.end()) return std::nullopt;
  text.remove_prefix(dot + 1);
  const std::string_view word = text.substr(0, std::min(text.find_first_of("0123456789"), text.size()));
  const auto kind = std::find(std::begin(detail::kOwnerWords), std::end(detail::kOwnerWords), word);
  if (kind == std::end(detail::kOwnerWords)) return std::nullopt;
  text.remove_prefix(word.size());
  std::uint64_t queue = 0, life = 0, sequence = 0;
  if (!detail::take(text, kQueueBits, queue)) return std::nullopt;
  if (detail::take(text, '#') && !detail::take(text, kLifeBits, life)) return std::nullopt;
  if (!detail::take(text, '.') || !detail::take(text, kSequenceBits, sequence) || !text.empty()) return std::nullopt;
  return RequestId(static_cast<std::uint32_t>(node - nodes.begin()) + 1,
                   static_cast<Kind>(kind - std::begin(detail::kOwnerWords)), static_cast<std::uint32_t>(queue),
                   static_cast<std::uint32_t>(life), sequence);
}

}  // namespace rnic

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
    kEvent             // the n-th event to the host, its interrupt included
  };
  static constexpr unsigned kNodeBits = 6, kKindBits = 4, kQueueBits = 17, kLifeBits = 9, kSequenceBits = 28;
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

  // "a.3.17" is request 17 of the send queue of QP 3 on node a, "a.rq3.0" one of its receive queue; the other kinds are
  // srq, int, qp, cq, flow, cmd and ev. A number that was in use before has "#" and how often: "a.3#1.17". "" is none.
  std::string text(const std::vector<std::string>& nodes) const;
  // The id of such a text, or nothing.
  static std::optional<RequestId> parse(std::string_view text, const std::vector<std::string>& nodes);

 private:
  static constexpr std::uint64_t part(std::uint64_t value, unsigned bits) {
    return value & ((std::uint64_t{1} << bits) - 1);
  }
};
static_assert(sizeof(RequestId) == 8);

namespace detail {

// Of RequestId::Kind.
inline constexpr std::string_view kOwnerWords[] = {"", "rq", "srq", "int", "qp", "cq", "flow", "cmd", "ev"};

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
  if (v == 0) return {};
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

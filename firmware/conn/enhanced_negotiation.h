// RFC 6581 as pure functions on its word of IRD, ORD and RTR kinds. They compute the result of a request, a reply and
// the local policy. MPA carries the word in its frames, SCTP in the control messages of a DDP stream session.
#pragma once

#include <cstdint>

#include "model/abi/host_abi.h"
#include "model/wire/mpa_frame.h"
#include "model/wire/terminate.h"

namespace rnic::fw {

using Rtr = abi::RtrKind;
struct RtrKinds {
  bool send = false, write = false, read = false;
  constexpr bool any() const { return send || write || read; }
};

// The policy of one end. The initiator's is the content of its request.
struct EnhancedPolicy {
  bool enhanced = false;       // initiator: ask for an enhanced setup; responder: support it
  bool peer_to_peer = false;   // initiator: A
  RtrKinds rtr;                // initiator: kinds it can send; responder: kinds it can receive
  std::uint8_t rtr_order = 0;  // initiator: abi::rtr_order
  std::uint16_t ird = 0, ord = 0;
  std::uint16_t max_ird = 0;                        // limit to which IRD may be raised
  bool negotiate_ird = true, negotiate_ord = true;  // initiator: false announces 0x3fff
  std::uint16_t need_ord = 0;                       // responder: rejects an initiator with less IRD
};

// Why a setup fails (RFC 5044 section 8, RFC 6581 section 8).
enum class SetupError : std::uint8_t { kNone, kBadFrame, kInsufficientIrd, kNoMatchingRtr, kLocalFailure };
constexpr wire::TerminateCause cause_of(SetupError error) {
  return error == SetupError::kInsufficientIrd ? wire::mpa::kInsufficientIrd
         : error == SetupError::kNoMatchingRtr ? wire::mpa::kNoMatchingRtr
         : error == SetupError::kLocalFailure  ? wire::mpa::kLocalCatastrophic
                                               : wire::mpa::kInvalidStartupFrame;
}

// The initiator's own values once it has the reply.
struct WordResult {
  SetupError error = SetupError::kNone;  // not kNone: reported to the peer by a Terminate
  std::uint16_t ird = 0, ord = 0;
  Rtr rtr = Rtr::kNone;  // to be sent first
};

namespace enhanced {

inline constexpr std::uint16_t kNotNegotiated = wire::MpaEnhanced::kNotNegotiated;

constexpr std::uint16_t smaller(std::uint16_t a, std::uint16_t b) { return a < b ? a : b; }
constexpr std::uint16_t larger(std::uint16_t a, std::uint16_t b) { return a > b ? a : b; }

constexpr RtrKinds kinds(const wire::MpaEnhanced& word) {
  if (!word.peer_to_peer) return {};
  return {word.rtr_send, word.rtr_write, word.rtr_read};
}
constexpr RtrKinds common(RtrKinds a, RtrKinds b) { return {a.send && b.send, a.write && b.write, a.read && b.read}; }
constexpr void set_kinds(wire::MpaEnhanced& word, RtrKinds rtr) {
  word.rtr_send = rtr.send;
  word.rtr_write = rtr.write;
  word.rtr_read = rtr.read;
}

constexpr bool has(RtrKinds kinds, Rtr kind) {
  return (kind == Rtr::kSend && kinds.send) || (kind == Rtr::kWrite && kinds.write) ||
         (kind == Rtr::kRead && kinds.read);
}

// The initiator's choice among the common kinds. By default a Write is first, as it needs nothing from the peer, and a
// Send last, as it takes an MSN.
constexpr Rtr choose(RtrKinds rtr, std::uint8_t order) {
  for (unsigned rest = order; rest != 0; rest >>= 2) {
    if (has(rtr, static_cast<Rtr>(rest & 3))) return static_cast<Rtr>(rest & 3);
  }
  return rtr.write ? Rtr::kWrite : rtr.read ? Rtr::kRead : rtr.send ? Rtr::kSend : Rtr::kNone;
}

// IRD of at least the peer's ORD, if possible. An ORD of 0 or none in the request counts as 1 if the RTR may be a Read.
constexpr std::uint16_t reply_ird(const wire::MpaEnhanced& request, RtrKinds common_kinds,
                                  const EnhancedPolicy& local) {
  const std::uint16_t told = request.ord == kNotNegotiated ? 0 : request.ord;
  const std::uint16_t wanted = told == 0 && common_kinds.read ? 1 : told;
  return larger(local.ird, smaller(wanted, local.max_ird));
}

// The kinds that a responder with this IRD can offer: IRD 0 leaves no place for a Read Request.
constexpr RtrKinds offered_kinds(const EnhancedPolicy& local, std::uint16_t ird) {
  RtrKinds offered = local.rtr;
  if (ird == 0) offered.read = false;
  return offered;
}

}  // namespace enhanced

constexpr wire::MpaEnhanced request_word(const EnhancedPolicy& local) {
  wire::MpaEnhanced word;
  word.ird = local.negotiate_ird ? local.ird : enhanced::kNotNegotiated;
  word.ord = local.negotiate_ord ? local.ord : enhanced::kNotNegotiated;
  word.peer_to_peer = local.peer_to_peer;
  if (local.peer_to_peer) enhanced::set_kinds(word, local.rtr);
  return word;
}

// The content of a reply. `decision` starts with the responder's depths and gets the connection's, or reject().
// Always inline: a call would cost more on the chip's own processor.
template <class Decision>
[[gnu::always_inline]] constexpr wire::MpaEnhanced answer_word(const wire::MpaEnhanced& asked,
                                                               const EnhancedPolicy& local, Decision& decision) {
  using namespace enhanced;
  const std::uint16_t ird = reply_ird(asked, common(kinds(asked), local.rtr), local);
  const RtrKinds offered = offered_kinds(local, ird);
  const RtrKinds shared = common(kinds(asked), offered);
  const bool ird_open = asked.ird == kNotNegotiated;

  wire::MpaEnhanced word;
  word.peer_to_peer = asked.peer_to_peer;
  if (asked.peer_to_peer) set_kinds(word, shared.any() ? shared : offered);
  word.ird = asked.ord == kNotNegotiated ? kNotNegotiated : ird;

  if (!ird_open && asked.ird < local.need_ord) {
    decision.reject(SetupError::kInsufficientIrd);
    word.ord = local.need_ord;
  } else {
    decision.ird = ird;
    decision.ord = ird_open ? local.ord : smaller(local.ord, asked.ird);
    word.ord = ird_open ? kNotNegotiated : decision.ord;
  }
  return word;
}

// A rejection names the ORD that the responder needs, if it needs one.
constexpr void name_needed_ord(wire::MpaEnhanced& word, const EnhancedPolicy& local) {
  if (local.need_ord != 0) word.ord = local.need_ord;
}

// The initiator asked for an RTR message, but can send none that this responder can receive.
constexpr bool lacks_rtr(const wire::MpaEnhanced& asked, const EnhancedPolicy& local) {
  using namespace enhanced;
  if (!asked.peer_to_peer) return false;
  const std::uint16_t ird = reply_ird(asked, common(kinds(asked), local.rtr), local);
  return !common(kinds(asked), offered_kinds(local, ird)).any();
}

// IRD is checked before the RTR (RFC 6581 section 8).
constexpr WordResult conclude_word(const wire::MpaEnhanced& asked, const wire::MpaEnhanced& answer,
                                   const EnhancedPolicy& local) {
  using namespace enhanced;
  WordResult result{SetupError::kNone, local.ird, local.ord, Rtr::kNone};
  if (answer.ord != kNotNegotiated) {
    if (answer.ord > larger(local.ird, local.max_ird)) {
      result.error = SetupError::kInsufficientIrd;
      return result;
    }
    result.ird = larger(local.ird, answer.ord);
  }
  if (answer.ird != kNotNegotiated) result.ord = smaller(local.ord, answer.ird);

  if (asked.peer_to_peer) {
    RtrKinds usable = common(kinds(answer), local.rtr);
    if (answer.ird == 0) usable.read = false;  // the peer has no place for a Read Request
    result.rtr = choose(usable, local.rtr_order);
    if (result.rtr == Rtr::kNone) {
      result.error = SetupError::kNoMatchingRtr;
      return result;
    }
    if (result.rtr == Rtr::kRead) result.ord = larger(result.ord, 1);
  }
  return result;
}

}  // namespace rnic::fw

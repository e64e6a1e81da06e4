// One SCTP association from its INIT on: counts its chunks, reassembles its DATA, finds its DDP stream sessions.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/capture/association_observer.h"
#include "model/capture/ddp_session.h"
#include "model/capture/sctp_reassembly.h"
#include "model/capture/segment.h"
#include "model/capture/side.h"
#include "model/capture/undecoded.h"
#include "model/wire/sctp.h"

namespace rnic::capture {

// What a side declared in an INIT or an INIT ACK. A side that keeps no state yet draws new values for each INIT ACK, so
// there may be several. The tag that the other side then uses shows which one counts.
struct SctpOffer {
  wire::SctpInit init;
  std::optional<std::uint32_t> adaptation;
  bool is_cut = false;  // the capture did not keep all parameters
};

struct SctpCounts {
  std::uint64_t packets = 0;
  std::map<unsigned, std::uint64_t> by_chunk;  // by type
  std::map<unsigned, std::uint64_t> by_cause;  // of ABORT and ERROR
};

enum class AssociationEnd : std::uint8_t { kNone, kShutdown, kAbort };

class Association {
 public:
  // `observer` may be nullptr.
  Association(const Endpoint& initiator, const Endpoint& responder, UndecodedList& undecoded,
              AssociationObserver* observer = nullptr);

  const Endpoint& initiator() const { return initiator_; }
  const Endpoint& responder() const { return responder_; }
  Side side_of(const Endpoint& sender) const { return sender == initiator_ ? Side::kInitiator : Side::kResponder; }

  // An INIT or INIT ACK of this side.
  void offer(Side from, const SctpOffer& offer) { direction(from).offers[offer.init.initiate_tag] = offer; }
  bool established() const { return established_; }
  // Takes the chunks of a packet. Its tag is one of the receiver's, or one of the sender's if T is set.
  void packet(Side from, const SctpPacket& packet);
  void finish();

  // Every captured side sent DDP's adaptation indication (RFC 5043 section 5.1), or the capture does not tell.
  bool ddp() const;
  // The side's offer that counts; nullptr if the capture has none.
  const SctpOffer* terms(Side of) const;
  const SctpCounts& counts(Side from) const { return directions_[static_cast<std::size_t>(from)].counts; }
  const SctpReassembly& data(Side from) const { return directions_[static_cast<std::size_t>(from)].reassembly; }
  const DdpSessions& sessions() const { return sessions_; }
  AssociationEnd end() const { return end_; }

 private:
  struct Direction {
    Direction(const std::string& name, UndecodedList& undecoded) : reassembly(name, undecoded) {}
    SctpReassembly reassembly;
    SctpCounts counts;
    std::map<std::uint32_t, SctpOffer> offers;  // by tag
    std::optional<std::uint32_t> chosen;        // tag of the offer that counts
    bool started = false, told_no_init = false;
  };
  Direction& direction(Side side) { return directions_[static_cast<std::size_t>(side)]; }
  void chunk(Side from, const wire::SctpChunk& chunk, std::size_t missing, const SctpPacket& packet);
  void data(Side from, const wire::SctpChunk& chunk, std::size_t missing, const SctpPacket& packet);
  void causes(Side from, const wire::SctpChunk& chunk, const SctpPacket& packet);
  void tell(Side from, const SctpPacket& packet, const std::string& what);
  bool start(Direction& direction);
  void ends(AssociationEnd end);

  const Endpoint initiator_, responder_;
  UndecodedList& undecoded_;
  AssociationObserver* const observer_;
  const std::array<std::string, 2> names_;
  std::array<Direction, 2> directions_;
  DdpSessions sessions_;
  bool established_ = false;  // the cookie was returned
  AssociationEnd end_ = AssociationEnd::kNone;
};

}  // namespace rnic::capture

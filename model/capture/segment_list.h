// The DDP segments of a capture, over TCP and SCTP, as `decode --list` shows them: collected, filtered, sorted by
// frame.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "model/capture/association_observer.h"
#include "model/capture/connection.h"
#include "model/capture/ddp_segment.h"
#include "model/capture/place.h"
#include "model/capture/segment.h"
#include "model/capture/segment_filter.h"
#include "model/capture/side.h"

namespace rnic::capture {

struct ListedSegment {
  Place at;                        // of the frame that brought its last octet, in which Wireshark shows it
  std::uint64_t first_frame = 0;   // the number of the frame that brought its first octet
  std::uint32_t conversation = 0;  // index in SegmentList::conversations()
  std::uint32_t payload_bytes = 0;
  std::optional<SegmentHeader> header;
  std::optional<CrcResult> crc;          // over TCP
  std::optional<std::uint16_t> markers;  // over TCP with markers
  std::optional<std::uint16_t> stream;   // over SCTP
  Side side = Side::kInitiator;          // that sent it
};

// A TCP connection or an SCTP association.
struct Conversation {
  std::string initiator, responder;
  bool is_sctp = false;
  bool is_listed = false;  // a segment of it is
};

class SegmentList {
 public:
  explicit SegmentList(SegmentFilter filter) : filter_(std::move(filter)) {}

  SegmentList(const SegmentList&) = delete;
  SegmentList& operator=(const SegmentList&) = delete;

  // Before the first segment: the time of the capture's first packet.
  void begins_at(std::uint64_t time_ns) { first_time_ns_ = time_ns; }
  // The observer of a new conversation; it lives as long as the list.
  ConnectionObserver* connection(const Endpoint& a, const Endpoint& b) { return &begin(a, b, false); }
  AssociationObserver* association(const Endpoint& a, const Endpoint& b) { return &begin(a, b, true); }
  void add(const ListedSegment& segment);
  // Sorts by frame; segments of the same frame keep their order in the stream.
  void finish();

  std::uint64_t first_time_ns() const { return first_time_ns_; }
  // In the order of their first packets.
  const std::deque<Conversation>& conversations() const { return conversations_; }
  // Those that the filter lets pass.
  const std::vector<ListedSegment>& segments() const { return segments_; }
  // With those that it does not.
  std::uint64_t seen() const { return seen_; }

 private:
  // Observes a conversation.
  class Lister final : public ConnectionObserver, public AssociationObserver {
   public:
    Lister(SegmentList& list, std::uint32_t conversation) : list_(list), conversation_(conversation) {}
    void fpdu(Side from, const SeenFpdu& fpdu) override;
    void message(const DdpSession& session, Side from, const SctpMessage& message) override;

   private:
    SegmentList& list_;
    const std::uint32_t conversation_;
  };
  Lister& begin(const Endpoint& initiator, const Endpoint& responder, bool is_sctp);

  const SegmentFilter filter_;
  std::uint64_t first_time_ns_ = 0, seen_ = 0;
  std::deque<Conversation> conversations_;
  std::deque<Lister> listers_;
  std::vector<ListedSegment> segments_;
};

}  // namespace rnic::capture

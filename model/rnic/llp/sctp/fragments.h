// Pieces of messages that came in several DATA chunks (RFC 9260 section 6.9): kept by reference in TSN order, within
// limits, until a message is complete. Pieces may arrive in any order, and of several messages at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/common/buffer.h"
#include "model/common/bytes.h"
#include "model/rnic/llp/sctp/tsn_map.h"
#include "model/rnic/llp/slot_pool.h"
#include "model/wire/ddp_session.h"
#include "model/wire/sctp.h"

namespace rnic::sctp {

struct Piece {
  BufferRef packet;
  const std::uint8_t* data = nullptr;
  std::uint32_t tsn = 0;
  std::uint32_t next = llp::kNil;
  std::uint32_t ppid = 0;
  std::uint16_t stream = 0;
  std::uint16_t bytes = 0;
  std::uint8_t flags = 0;  // of its chunk

  static constexpr const char* kMessage = "sctp_piece";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("tsn", 32, m.tsn);
    v("ppid", 32, m.ppid);
    v("stream", 16, m.stream);
    v("bytes", 16, m.bytes);
    v("flags", 8, m.flags);
  }

  bool begins() const { return flags & wire::SctpData::kBegin; }
  bool ends() const { return flags & wire::SctpData::kEnd; }
  // In one message, if their TSNs are consecutive.
  bool goes_on_with(const Piece& p) const { return !ends() && !p.begins() && stream == p.stream && ppid == p.ppid; }
};

// Of one association.
struct FragmentLimits {
  static constexpr std::uint32_t kMessagePieces = 64;

  // That many messages may be in pieces at a time. Their length is limited to a DDP-SSN and a segment over a path of
  // this MTU, without the reserve for control chunks, which the peer need not keep.
  FragmentLimits(std::uint32_t messages, std::uint32_t ip_mtu, std::uint32_t ip_header_bytes)
      : segment_message(wire::kDdpSsnBytes + wire::sctp_mulpdu(ip_mtu, ip_header_bytes, 0)),
        octets(messages * segment_message),
        pieces(messages * kMessagePieces) {}

  std::uint32_t message(std::uint32_t ppid) const {
    constexpr std::uint32_t kControl = wire::SessionMessage::kHeaderBytes + wire::SessionMessage::kMaxPrivateData;
    return ppid == wire::kPpidDdpSession ? kControl : segment_message;
  }

  std::uint32_t segment_message;
  std::uint32_t octets, pieces;
};

// Shared by the associations of a chip.
struct FragmentMemory {
  explicit FragmentMemory(const FragmentLimits& of_one, std::size_t associations = 1)
      : limits(of_one),
        pool({"fragments", associations * of_one.pieces + 1,
              "sctp.max_associations x sctp.reassembly_messages x 64 pieces, and the one that comes"}),
        message(of_one.segment_message) {}

  const FragmentLimits limits;
  llp::SlotPool<Piece> pool;
  std::vector<std::uint8_t> message;  // the last one completed
};

// Streams whose sessions end because of a chunk: its own and those of neighbouring chunks.
class EndedStreams {
 public:
  using value_type = std::uint16_t;
  using const_iterator = const std::uint16_t*;

  void add(std::uint16_t stream) {
    for (const std::uint16_t known : *this) {
      if (known == stream) return;
    }
    streams_[size_++] = stream;
  }
  const_iterator begin() const { return streams_.data(); }
  const_iterator end() const { return streams_.data() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  std::array<std::uint16_t, 3> streams_ = {};
  std::uint8_t size_ = 0;
};

class Fragments {
 public:
  bool empty() const { return pieces_ == 0; }
  std::uint32_t pieces() const { return pieces_; }
  std::uint32_t octets() const { return octets_; }
  bool room_for(const FragmentMemory& m, std::size_t bytes) const {
    return pieces_ < m.limits.pieces && octets_ + bytes <= m.limits.octets;
  }

  enum class Fate : std::uint8_t { kKept, kComplete, kBroken };
  // kComplete: `message` is the complete message, in the memory; finish() or take_back() follows. kBroken: given its
  // neighbours in `tsns`, the chunk cannot be part of a message, or the message is too long. `ended` gains the streams
  // of all messages that can no longer become complete; their pieces are dropped.
  Fate put(FragmentMemory& m, const TsnMap& tsns, Piece&& piece, ByteSpan& message, EndedStreams& ended);
  // Whether the message of this piece is accepted. If not, the piece counts as never received.
  void finish(FragmentMemory& m, std::uint32_t tsn) { drop(m, run_of(m, tsn)); }
  void take_back(FragmentMemory& m, std::uint32_t tsn) { drop(m, alone(m, tsn)); }
  // The chunk with this TSN is not kept as a piece: messages that needed it as one cannot become complete.
  void pass(FragmentMemory& m, std::uint32_t tsn, EndedStreams& ended) {
    if (!empty()) end_open_neighbours(m, tsn, true, true, ended);
  }
  // Gives up the piece with the highest TSN if that is beyond `tsn`.
  std::optional<std::uint32_t> drop_last(FragmentMemory& m, std::uint32_t tsn);
  void clear(FragmentMemory& m);

 private:
  // Pieces of one message with consecutive TSNs.
  struct Run {
    std::uint32_t before = llp::kNil, first = llp::kNil, last = llp::kNil;  // slots
    std::uint32_t pieces = 0, octets = 0;
  };
  Run run_of(const FragmentMemory& m, std::uint32_t tsn) const;
  Run alone(const FragmentMemory& m, std::uint32_t tsn) const;  // one that is kept
  static bool fits(const FragmentMemory& m, const TsnMap& tsns, const Run& left, const Piece& piece, const Run& right);
  void end_open_neighbours(FragmentMemory& m, std::uint32_t tsn, bool left, bool right, EndedStreams& ended);
  void insert(FragmentMemory& m, Piece&& piece);
  void end(FragmentMemory& m, const Run& run, EndedStreams& ended);
  void drop(FragmentMemory& m, const Run& run);

  llp::SlotList list_;
  std::uint32_t pieces_ = 0, octets_ = 0;
};

}  // namespace rnic::sctp

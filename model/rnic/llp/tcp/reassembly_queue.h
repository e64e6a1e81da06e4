// Octets of a connection received out of order: kept by reference, without overlaps, in sequence order, within limits.
// They stay until they are in order, so SACK may report them (RFC 2018 section 8).
#pragma once

#include <cstdint>

#include "model/rnic/llp/received_octets.h"
#include "model/wire/tcp.h"

namespace rnic::tcp {

// Shared by the queues of all flows.
struct ReassemblyMemory {
  ReassemblyMemory(std::uint32_t byte_limit, std::uint32_t segment_limit, const PoolSize& pieces = {})
      : max_bytes(byte_limit), max_segments(segment_limit), pool(pieces) {}
  void reset() {
    bytes = bytes_peak = segments_peak = 0;
    pool.reset();
  }

  std::uint32_t max_bytes;     // of all flows
  std::uint32_t max_segments;  // of one flow: even a short one occupies its frame's block
  std::uint32_t bytes = 0;
  std::uint32_t bytes_peak = 0, segments_peak = 0;
  llp::ReceivedPool pool;
};

class ReassemblyQueue {
 public:
  ReassemblyQueue() : pieces_(0), fin_(false) {}

  // No octets and no FIN.
  bool empty() const { return list_.empty() && !fin_; }
  bool has_octets() const { return !list_.empty(); }
  std::uint32_t first(const ReassemblyMemory& m) const { return m.pool[list_.head].seq; }
  std::uint32_t pieces() const { return pieces_; }

  struct Kept {
    wire::SackBlock run;   // of octets, to which the segment's first one now belongs (RFC 2018 section 4); may be empty
    bool whole = false;    // all octets are new and form one piece
    bool dropped = false;  // some did not fit, and everything after them was dropped
  };
  // A segment. Only its new octets are kept; a FIN only if all octets before it fit.
  Kept keep(ReassemblyMemory& m, const BufferRef& buf, std::uint32_t seq, ByteSpan octets, bool fin);

  // The gap before these octets is filled.
  bool octets_at(const ReassemblyMemory& m, std::uint32_t rcv_nxt) const {
    return !list_.empty() && first(m) == rcv_nxt;
  }
  bool fin_at(std::uint32_t rcv_nxt) const { return fin_ && fin_seq_ == rcv_nxt; }
  llp::ReceivedOctets take_front(ReassemblyMemory& m);

  // Octets from `seq` on are in host memory: only a header that represents them stays. A segment that contains them is
  // cut, as long as that leaves half of the list to other segments. False if they stay, or are no longer here.
  bool replace(ReassemblyMemory& m, std::uint32_t seq, std::uint32_t bytes, BufferRef header,
               std::uint32_t header_bytes);

  void clear(ReassemblyMemory& m);
  // For a queue that is lost: its octets, from the head() that it had.
  std::uint32_t head() const { return list_.head; }
  static void give_back(ReassemblyMemory& m, std::uint32_t head);

  static constexpr const char* kMessage = "reassembly_queue";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("list", m.list_);
    v("last_run", 32, m.last_run_);
    v("fin_seq", 32, m.fin_seq_);
    visit_bits(v, "pieces", 17, std::uint32_t{m.pieces_}, m, [](auto& of, std::uint32_t value) { of.pieces_ = value; });
    visit_bits(v, "fin", 1, m.fin_ != 0, m, [](auto& of, bool value) { of.fin_ = value; });
  }

 private:
  bool keep_part(ReassemblyMemory& m, std::uint32_t before, const BufferRef& buf, std::uint32_t seq, ByteSpan part);
  wire::SackBlock run_around(const ReassemblyMemory& m, std::uint32_t seq) const;

  llp::SlotList list_;
  std::uint32_t last_run_ = 0;  // the start of the run to which the last piece belongs
  std::uint32_t fin_seq_ = 0;
  std::uint32_t pieces_ : 31, fin_ : 1;
};

}  // namespace rnic::tcp

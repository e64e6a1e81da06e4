// Contexts of queue pairs, flows, completion queues and STags. Freestanding: the firmware builds the same structs.
#pragma once

#include <cstdint>

#include "model/abi/host_abi.h"
#include "model/abi/memory_piece.h"
#include "model/common/ids.h"

namespace rnic {

using abi::QpState;

// The lower layer protocol of a DDP stream. The differences above it: markers, the CRC of FPDUs and the credit of a
// segment belong to MPA; SCTP keeps message boundaries and protects its own packets.
enum class LlpId : std::uint8_t { kMpaTcp, kSctp };
inline constexpr unsigned kLlps = 2;

// Who uses an STag: a stream of a queue pair.
struct StagUser {
  Qpn qpn;
  std::uint32_t epoch = 0;  // use of its number
  Pdn pd;
};

// What beats carry of the use of a queue pair's number: the number is not used 256 times while one is on its way.
constexpr std::uint8_t life_of(std::uint32_t epoch) { return static_cast<std::uint8_t>(epoch); }

// Doorbells count modulo at least twice the ring's size, so that a full ring differs from an empty one.
inline constexpr unsigned kMaxLogWq = 11;

struct QpContext {
  QpState state = QpState::kIdle;
  bool valid = false;
  bool responder = false;               // may not send before the first FPDU came in (RFC 5044 section 7.1.2 rule 4)
  bool absorbs_rtr_send = false;        // the peer's first Send is the agreed ready-to-receive message (RFC 6581)
  std::uint8_t log_sq = 0, log_rq = 0;  // ring sizes in entries, up to kMaxLogWq
  std::uint8_t version = 1;             // DDP and RDMAP version
  bool extensions = false;              // atomics and immediate data are switched on
  std::uint16_t mulpdu = 0;             // octets (RFC 5044 section 4.5)
  std::uint16_t ird = 0, ord = 0;
  Pdn pd;
  FlowId flow = kNoFlow;
  Cqn send_cq, recv_cq;
  bool shares_rq = false;  // takes its receive requests from `srq`; it has no ring of its own
  // Of its flow: what is sent.
  LlpId llp = LlpId::kMpaTcp;
  bool markers = false, crc = true;
  Srqn srq;
  std::uint64_t sq_base = 0, rq_base = 0;
  std::uint32_t epoch = 0;      // counts the QP number's uses: per-QP state of an older epoch is stale
  std::uint32_t first_msn = 1;  // of QN 0, 1 and 3 (RFC 5041 section 4.3); other values only to test wrapping

  // RDMAC peers cannot know the messages of RFC 7306 (choices.md 15).
  constexpr bool extended() const { return extensions && version == 1; }

  static constexpr const char* kMessage = "qp_context";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("state", 3, m.state);
    v("valid", 1, m.valid);
    v("responder", 1, m.responder);
    v("absorbs_rtr_send", 1, m.absorbs_rtr_send);
    v("version", 2, m.version);
    v("extensions", 1, m.extensions);
    v("mulpdu", 16, m.mulpdu);
    v("ird", 16, m.ird);
    v("ord", 16, m.ord);
    v("pd", m.pd);
    v("flow", m.flow);
    v("shares_rq", 1, m.shares_rq);
    v("llp", 1, m.llp);
    v("markers", 1, m.markers);
    v("crc", 1, m.crc);
    v("srq", m.srq);
    v("epoch", 32, m.epoch);
    v("first_msn", 32, m.first_msn);
  }
};

struct SrqContext {
  bool valid = false;
  std::uint8_t log_entries = 0;
  Pdn pd;
  std::uint64_t base = 0;
  std::uint32_t epoch = 0;  // as a QP's

  static constexpr const char* kMessage = "srq_context";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("valid", 1, m.valid);
    v("log_entries", 4, m.log_entries);
    v("pd", m.pd);
    v("base", 64, m.base);
    v("epoch", 32, m.epoch);
  }
};

// Goes to the rows of the flow in its lower layer, whose messages carry what the stages above need of it.
struct FlowContext {
  LlpId llp = LlpId::kMpaTcp;
  bool rdma = false;
  bool tx_markers = false, rx_markers = false, crc = true;
  std::uint32_t qp_epoch = 0;  // the use of the queue pair's number
  Qpn qpn;

  static constexpr const char* kMessage = "flow_context";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("llp", 1, m.llp);
    v("rdma", 1, m.rdma);
    v("tx_markers", 1, m.tx_markers);
    v("rx_markers", 1, m.rx_markers);
    v("crc", 1, m.crc);
    v("qp_epoch", 32, m.qp_epoch);
    v("qpn", m.qpn);
  }
};

struct CqContext {
  bool valid = false;
  std::uint8_t log_entries = 0;
  std::uint64_t base = 0;
  std::uint32_t epoch = 0;             // as a QP's
  std::uint16_t moderation_count = 0;  // abi::Command::moderation
  std::uint32_t moderation_ns = 0;

  static constexpr const char* kMessage = "cq_context";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("valid", 1, m.valid);
    v("log_entries", 4, m.log_entries);
    v("base", 64, m.base);
    v("epoch", 32, m.epoch);
    v("moderation_count", 16, m.moderation_count);
    v("moderation_ns", 32, m.moderation_ns);
  }
};

enum class StagKind : std::uint8_t { kRegion, kWindow1, kWindow2 };

// STag = index << 8 | key. A tagged offset is the virtual address or counts from 0. The octets are contiguous on the
// bus, or in the pages of a list.
struct StagContext {
  bool allocated = false;  // an entry that send-queue requests make valid and invalid
  bool valid = false;
  StagKind kind = StagKind::kRegion;
  bool zero_based = false;
  std::uint8_t key = 0;
  std::uint8_t access = 0;    // abi::AccessFlags
  std::uint8_t log_page = 0;  // size of the list's pages; 0: no list
  Pdn pd;
  std::uint32_t region = 0;               // of a window: the STag it is bound to
  Qpn qpn;                                // of a window of type 2: the queue pair that it serves,
  std::uint32_t qp_epoch = 0;             // in this use of its number
  std::uint64_t address = 0, length = 0;  // virtual
  std::uint64_t bus = 0;  // of the first octet; with a page list, its offset from the first page's start
  std::uint32_t first_page = 0, pages = 0;  // a region's part of the page table, used or reserved; a window's: used

  // A local key: this entry is the region that the STag names, in this domain, and [to, to + bytes) is inside it.
  constexpr bool covers(std::uint32_t stag, Pdn domain, std::uint64_t to, std::uint64_t bytes) const {
    return names(stag) && kind == StagKind::kRegion && pd == domain && contains(to, bytes);
  }
  constexpr bool names(std::uint32_t stag) const { return valid && key == (stag & 0xff); }
  // A window that names its region.
  constexpr bool is_bound() const { return valid && kind != StagKind::kRegion; }
  // By protection domain, or by queue pair (RFC 5042 section 5.2.1).
  constexpr bool serves(const StagUser& user) const {
    return kind == StagKind::kWindow2 ? user.qpn == qpn && user.epoch == qp_epoch : user.pd == pd;
  }
  constexpr std::uint64_t base() const { return zero_based ? 0 : address; }
  constexpr bool contains(std::uint64_t to, std::uint64_t bytes) const {
    return to >= base() && bytes <= length && to - base() <= length - bytes;
  }
  // A window has that of its region.
  constexpr PageList list() const { return PageList::of(first_page, log_page); }
  // The octets [to, to + bytes) of this entry, which `stag` names and which contains them.
  constexpr MemoryPiece piece(std::uint32_t stag, std::uint64_t to, std::uint32_t bytes) const {
    return {bus + (to - base()), bytes, list(), log_page == 0 ? 0 : kind == StagKind::kRegion ? stag : region};
  }

  static constexpr const char* kMessage = "stag_context";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("allocated", 1, m.allocated);
    v("valid", 1, m.valid);
    v("kind", 2, m.kind);
    v("zero_based", 1, m.zero_based);
    v("key", 8, m.key);
    v("access", 8, m.access);
    v("pd", m.pd);
    v("region", 32, m.region);
    v("qpn", m.qpn);
    v("qp_epoch", 32, m.qp_epoch);
    v("address", 64, m.address);
    v("length", 64, m.length);
    v("bus", 64, m.bus);
    v("log_page", 5, m.log_page);
    v("first_page", 32, m.first_page);
    v("pages", 32, m.pages);
  }
};

}  // namespace rnic

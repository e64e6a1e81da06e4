// The transmit side's state of a QP: its work, and what of it may be sent.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/common/node_pool.h"
#include "model/rnic/context/context.h"
#include "model/rnic/messages/terminate.h"
#include "model/rnic/tx/segment_cut.h"
#include "model/wire/fpdu.h"

namespace rnic {

// Why a QP with work cannot send.
enum class TxWait : std::uint8_t { kNothing, kOrd, kFence, kFirstFpdu, kCredit };
// kCredit and what follows: of each lower layer.
constexpr TxWait credit_of(LlpId llp) {
  return static_cast<TxWait>(static_cast<unsigned>(TxWait::kCredit) + static_cast<unsigned>(llp));
}
inline constexpr unsigned kTxWaits = static_cast<unsigned>(TxWait::kCredit) + kLlps;

struct QpTx {
  std::uint32_t epoch = 0;
  PooledQueue wqes;       // fetched, in posting order
  PooledQueue internal;   // the firmware's messages, sent before the host's
  std::uint32_t due = 0;  // responses, including the current one
  OutboundMessage request, response;
  PooledQueue read;          // the target of a Read Response: one or none
  std::uint32_t reads = 0;   // and atomics, outstanding against ORD
  BufferRef terminate;       // the content of the firmware's kTerminate
  std::uint64_t credit = 0;  // octets
  wire::StreamPosition position = 0;
  std::uint32_t msn_send = 1, msn_read = 1;  // next MSN of QN 0 and QN 1,
  std::uint32_t msn_response = 1;            // and of QN 3
  std::uint16_t sinks = 0;                   // of Reads with Invalidate, whose STags have not ended
  std::uint8_t terminate_bytes = 0;          // of its header
  bool unfenced = false;                     // the first FPDU has arrived
  bool peer_closed = false;                  // no more responses will come
  bool response_turn = false;                // requests and responses of one QP alternate
  bool halted = false;                       // a local error: nothing more is sent
  bool terminated = false;                   // by our Terminate, the last message of the stream
  bool draining = false;                     // the firmware waits for everything posted
  bool flushing = false;                     // the stream is over: work completes with an error
  bool working = false;                      // stag_work has its oldest request
  bool listed = false;                       // in the list of those that can send, or its turn has begun
  TxWait waits = TxWait::kNothing;

  // A responder that has not received an FPDU yet (RFC 5044 section 7.1.2 rule 4).
  bool fenced(const QpContext& ctx) const { return ctx.responder && !unfenced; }
  // The host's messages and Read Responses may go out.
  bool open(const QpContext& ctx) const;
  // Fence and ORD let the request begin (RFC 5040 section 5.2.1). ORD 0 lets a Read or
  // an atomic pass, to fail its check.
  bool may_start(const QpContext& ctx, const abi::Wqe& w) const;
  // An untagged message takes the next MSN of its queue; a Read or Atomic Request counts against
  // ORD.
  void number(OutboundMessage& m);
  // A Read or Atomic Response arrived, perhaps an unexpected one.
  void read_done();
  // A response was sent completely, perhaps an unannounced one.
  void response_done();
  // An FPDU of that many octets, markers included, is sent; or a DATA chunk, which has no place in a stream.
  void spend(std::size_t octets);
};

}  // namespace rnic

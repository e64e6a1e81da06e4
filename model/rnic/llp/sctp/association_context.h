// All that the chip keeps of one association: the parts of the protocol, and the messages in progress on its streams.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/buffer.h"
#include "model/common/cycle.h"
#include "model/rnic/llp/sctp/data_receiver.h"
#include "model/rnic/llp/sctp/data_sender.h"
#include "model/rnic/llp/sctp/ddp_streams.h"
#include "model/rnic/llp/sctp/setup.h"
#include "model/rnic/llp/slot_pool.h"
#include "model/wire/ethernet.h"

namespace rnic::sctp {

// A DDP stream, a pair of SCTP streams with the same id.
struct StreamContext {
  bool in_use = false;           // the firmware knows it
  bool open = false;             // segments are sent and placed
  bool told = false;             // the firmware got an event about something the peer began; a kGiveBack does not free
                                 // the stream then
  bool abandoned = false;        // the firmware has no session, but the peer still has one
  bool ending = false;           // the peer's Terminate is on its way through the pipeline
  std::uint32_t credit = 0;      // octets of chunks: granted to the segmenter, but not handed over yet;
  std::uint32_t held = 0;        // handed over, but not acknowledged
  std::uint32_t wqes_acked = 0;  // not reported yet
  std::uint16_t life = 0;        // counts its sessions: the firmware's operations name it
  std::uint16_t old_ends = 0;    // of earlier lives, on their way through the pipeline

  // For the next session, in this association or another one.
  void renew() {
    StreamContext next;
    next.life = static_cast<std::uint16_t>(life + 1);
    next.old_ends = static_cast<std::uint16_t>(old_ends + ending);
    *this = next;
  }
};

// A message until the peer has acknowledged it: `bytes` octets of user data at `offset` of the buffer.
struct SentMessage {
  BufferRef buf;
  std::uint32_t offset = 0, ppid = 0;
  std::uint32_t next = llp::kNil;
  std::uint16_t bytes = 0, stream = 0;
  bool completes_wqe = false;
  bool sent = false;  // its octets are in a frame

  static constexpr const char* kMessage = "sctp_sent_message";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("offset", 16, m.offset);
    v("ppid", 32, m.ppid);
    v("bytes", 16, m.bytes);
    v("stream", 16, m.stream);
    v("completes_wqe", 1, m.completes_wqe);
    v("sent", 1, m.sent);
  }
};

// A message from its arrival until it has left for the pipeline: user data in a packet's block, or in its own block.
struct ReceivedMessage {
  BufferRef buf;
  std::uint8_t* data = nullptr;
  std::uint32_t next = llp::kNil;
  std::uint32_t life = 0;  // of the association
  std::uint16_t bytes = 0, stream = 0, association = 0;
  bool ends = false;      // the peer's session Terminate
  bool fence = false;     // not a message: nothing of an association that is gone follows it in the pipeline
  bool offered = false;   // early_placement has not answered yet
  bool placed = false;    // its payload is in memory; only the header is kept
  bool released = false;  // to be freed after the answer

  static constexpr const char* kMessage = "sctp_received_message";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("life", 32, m.life);
    v("bytes", 16, m.bytes);
    v("stream", 16, m.stream);
    v("association", 16, m.association);
    v("ends", 1, m.ends);
    v("fence", 1, m.fence);
    v("offered", 1, m.offered);
    v("placed", 1, m.placed);
    v("released", 1, m.released);
  }
};

struct AssociationContext {
  AssociationContext(Endpoint& endpoint, const SenderSettings& sender_settings, const StreamLimits& limits)
      : setup(endpoint), sender(sender_settings), streams(limits), stream(limits.streams) {}

  // With the entries of its parts, as they are here.
  static std::size_t bytes(const SenderSettings& sender, const ReceiverSettings& receiver, const StreamLimits& limits) {
    return sizeof(AssociationContext) - sizeof(DataSender) - sizeof(DataReceiver) +
           DataSender::context_bytes(sender.send_chunks) + DataReceiver::context_bytes(receiver.tsn_window) +
           DdpStreams::context_bytes(limits) + limits.streams * sizeof(StreamContext);
  }

  Setup setup;
  DataSender sender;
  DataReceiver receiver;
  DdpStreams streams;
  std::vector<StreamContext> stream;
  std::vector<std::uint32_t> asked;  // cookies of connects that wait for the association
  llp::SlotList backlog;             // messages for which the sender has no room
  wire::MacAddress peer_mac;
  Cycle begun_at = 0;
  Cycle idle_at = 0;       // since when there is no session
  std::uint32_t life = 0;  // counts the uses of its number
  std::uint16_t mulpdu = 0;
  std::uint16_t ddp_streams = 0;  // valid ids; 0: not up
  std::uint16_t in_use = 0, open = 0;
  bool in_service = false;
};

}  // namespace rnic::sctp

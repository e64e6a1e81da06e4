// One end of an SCTP association below its sessions: the model's parts of an association, put together as its engine
// does, without cycles. No time passes here: the caller says which timer expires.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "model/common/buffer.h"
#include "model/golden/enumerations.h"
#include "model/golden/sctp_messages.h"
#include "model/rnic/llp/sctp/data_receiver.h"
#include "model/rnic/llp/sctp/data_sender.h"
#include "model/rnic/llp/sctp/endpoint.h"
#include "model/rnic/llp/sctp/rfc9260.h"
#include "model/rnic/llp/sctp/setup.h"

namespace rnic::golden {

template <>
struct Enumeration<Resend> {
  static constexpr const char* kName = "resend";
  static const ValueWords& words() {
    static const ValueWords kWords{"no", "fast", "timeout", "path_mtu", "window_opened"};
    return kWords;
  }
};
template <>
struct Enumeration<sctp::DataFate> {
  static constexpr const char* kName = "";
  static const ValueWords& words() {
    static const ValueWords kWords{"ignored", "malformed",      "no_user_data", "duplicate", "beyond_window",
                                   "no_room", "unknown_stream", "piece",        "broken",    "message"};
    return kWords;
  }
};
template <>
struct Enumeration<sctp::SetupEvent::Kind> {
  static constexpr const char* kName = "";
  static const ValueWords& words() {
    static const ValueWords kWords{"up", "restarted", "peer_shutdown", "shut_down", "aborted", "failed", "peer_error"};
    return kWords;
  }
};

// A packet from its common header on, with its checksum.
struct PacketMessage : Payload {
  Resend resend = Resend::kNo;  // of one that is given: why its chunks are sent again

  static constexpr const char* kMessage = "sctp_packet_octets";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("resend", 3, m.resend);
  }
};

// A DATA chunk that was received; the octets are a message that it makes complete.
struct DataMessage : Payload {
  sctp::DataFate fate = sctp::DataFate::kIgnored;
  wire::SctpData header;
  std::uint8_t flags = 0;

  static constexpr const char* kMessage = "sctp_data_chunk";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("fate", 4, m.fate);
    v("tsn", 32, m.header.tsn);
    v("stream", 16, m.header.stream);
    v("ssn", 16, m.header.ssn);
    v("ppid", 32, m.header.ppid);
    v("flags", 8, m.flags);
  }
};

// The octets are the information of the cause.
struct AssociationEvent : Payload {
  sctp::SetupEvent::Kind kind{};
  std::uint16_t cause = 0;

  static constexpr const char* kMessage = "sctp_association_event";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("kind", 3, m.kind);
    v("cause", 16, m.cause);
  }
};

struct SctpEndCounters {
  std::uint64_t packets = 0, bad_shape = 0, bad_checksum = 0, malformed = 0, wrong_tag = 0, unexpected = 0;
  std::uint64_t out_of_the_blue = 0;
  template <class V>
  static void fields(V& v) {
    v("packets", &SctpEndCounters::packets, "packets", "packets received");
    v("bad_shape", &SctpEndCounters::bad_shape, "packets",
      "dropped: no common header, no multiple of 4 octets, too long, or port 0");
    v("bad_checksum", &SctpEndCounters::bad_checksum, "packets", "dropped: checksum wrong");
    v("malformed", &SctpEndCounters::malformed, "packets", "dropped: truncated, or a length that is wrong");
    v("wrong_tag", &SctpEndCounters::wrong_tag, "packets", "dropped: verification tag");
    v("unexpected", &SctpEndCounters::unexpected, "chunks", "dropped: no place in the state, or in the packet");
    v("out_of_the_blue", &SctpEndCounters::out_of_the_blue, "packets", "packets of no association");
  }
};

class SctpEnd {
 public:
  SctpEnd(const SctpConfig& config, std::uint32_t mtu, BufferPool& pool);

  // What it gives, in order.
  std::deque<PacketMessage> packets;
  std::deque<DataMessage> data;
  std::deque<Acknowledged> acknowledged;
  std::deque<AssociationEvent> events;

  // An association that is up. Another one before it is forgotten.
  void establish(std::uint16_t port, std::uint16_t peer_port, const sctp::Terms& terms);
  // Throws Error for an INIT or a COOKIE ECHO: tags and cookies are their maker's.
  void receive(const std::vector<std::uint8_t>& packet);
  // These throw Error where there is nothing of the kind.
  void send(const UserMessage& message);
  void consume(std::uint32_t octets);
  void sack_delay_over();
  void t3_expired();

  const SctpEndCounters& counters() const { return counters_; }

 private:
  struct Association {
    Association(sctp::Endpoint& endpoint, const sctp::SenderSettings& sender_settings,
                const sctp::ReceiverSettings& receiver_settings)
        : fragments(receiver_settings.fragments), setup(endpoint), sender(sender_settings) {}
    bool closed() const { return setup.state() == sctp::Setup::State::kClosed; }

    sctp::FragmentMemory fragments;
    sctp::Setup setup;
    sctp::DataSender sender;
    sctp::DataReceiver receiver;
    std::map<std::uint32_t, std::vector<std::uint8_t>> kept;  // messages that are not acknowledged, by handle
    std::uint32_t next_handle = 0;
    std::uint32_t unconsumed = 0;  // octets of received messages
  };
  Association& up();
  void settle(const sctp::Outcome& outcome, const BufferRef& packet = {});
  void on_event(const sctp::SetupEvent& event);
  void on_chunks(const sctp::Outcome& outcome, const BufferRef& packet);
  std::optional<std::uint16_t> on_data(const BufferRef& packet, const sctp::PassedChunk& chunk);
  void on_sack(const sctp::PassedChunk& chunk);
  void fail(wire::SctpCause cause, ByteSpan information = {});
  void answer(const sctp::Outcome& outcome);
  void give();
  bool give_packet(Association& a);

  BufferPool& pool_;
  const std::uint32_t mtu_;
  const sctp::Rfc9260 congestion_;
  const sctp::SenderSettings sender_settings_;
  const sctp::ReceiverSettings receiver_settings_;
  sctp::Endpoint endpoint_;
  sctp::Outcome outcome_, second_;  // of an input; of its consequences
  sctp::DataPacket sent_;
  SctpEndCounters counters_;
  std::unique_ptr<Association> a_;  // null: there is none
};

}  // namespace rnic::golden

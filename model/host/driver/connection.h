// Connection management in the manner of librdmacm: parameters, events and the channel that delivers them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "model/host/driver/resource.h"
#include "model/host/driver/transport.h"
#include "model/wire/mpa_frame.h"
#include "model/wire/terminate.h"

namespace rnic::host {

class Qp;

// rdma_conn_param. The private data is the ULP's: up to 512 octets, 508 with enhanced MPA (RFC 6581 section 9).
struct ConnParam {
  std::uint16_t responder_resources = 16;  // IRD
  std::uint16_t initiator_depth = 16;      // ORD
  std::uint8_t flags = 0;                  // abi::CmFlags; of connect and listen
  std::vector<std::uint8_t> private_data;
  // RFC 6581. max_ird: the limit up to which the peer's ORD may raise responder_resources; none: the device's.
  std::optional<std::uint16_t> max_ird{};
  std::uint16_t need_ord = 0;             // accept: reject an initiator with less IRD
  std::uint8_t options = 0;               // abi::kCmKeepIrd, kCmKeepOrd: connect; kCmStay: connect, accept
  std::uint8_t rtr_order = 0;             // abi::rtr_order(); connect
  abi::TcpLimits tcp{};                   // from RDMA mode on; connect, accept
  bool fall_back = false;                 // connect: retry without enhancement if the peer closes on it (section 10)
  Transport transport = Transport::kTcp;  // connect
};

inline constexpr std::uint8_t kCmEnhancements =
    abi::kCmEnhanced | abi::kCmPeerToPeer | abi::kCmRtrSend | abi::kCmRtrWrite | abi::kCmRtrRead;

// Octets of private data that a startup frame with these options has room for.
constexpr std::size_t private_data_limit(std::uint8_t cm_flags) {
  return abi::kPrivateDataBytes - ((cm_flags & abi::kCmEnhanced) != 0 ? wire::MpaEnhanced::kBytes : 0);
}

// Whether a failed connect warrants a second attempt without enhancements.
constexpr bool may_fall_back(std::uint8_t cm_flags, bool wanted, const abi::Event& event) {
  return wanted && (cm_flags & abi::kCmEnhanced) != 0 && event.type == abi::EventType::kConnectError &&
         event.status == static_cast<std::uint8_t>(abi::ConnectStatus::kReset);
}

enum class CmEventType : std::uint8_t {
  kConnectRequest,
  kEstablished,
  kRejected,
  kConnectError,
  kDisconnected,
  kQpError
};

// The Terminate that ended a stream (RFC 5040 section 4.8): ours or the peer's. to_string(cause) is its meaning.
struct Terminate {
  abi::TerminateOrigin origin = abi::TerminateOrigin::kLocal;
  wire::TerminateCause cause;
  std::uint16_t segment_length = 0;        // ULPDU_Length of the segment at fault; 0 if it was not sent
  std::vector<std::uint8_t> ddp_header;    // 14 or 18 octets, or none
  std::vector<std::uint8_t> read_request;  // 28 octets, or none
};

struct CmEvent {
  CmEventType type = CmEventType::kConnectError;
  abi::ConnectStatus status = abi::ConnectStatus::kOk;
  abi::CommandStatus refused = abi::CommandStatus::kOk;  // kConnectError: why the device did not take the command
  // None for kConnectRequest, nor for kConnectError of a connection that ended before it was accepted.
  Qp* qp = nullptr;
  std::uint32_t connection = 0;  // without a queue pair: the id for accept or reject
  std::uint32_t peer_ip = 0;
  std::uint16_t peer_port = 0, local_port = 0;
  std::uint16_t ird = 0, ord = 0;            // kEstablished: the negotiated depths
  std::uint16_t peer_ird = 0, peer_ord = 0;  // as in the peer's startup frame; 0x3fff: not negotiated
  std::uint8_t mpa_revision = 0, mpa_flags = 0;
  std::uint8_t ddp_version = 1;  // and RDMAP's: 0 with an RDMAC peer
  Terminate terminate;           // kQpError; kConnectError with an MPA error, even if it was not sent to the peer
  std::vector<std::uint8_t> private_data;
};

// rdma_event_channel: events wait here and wake the program that owns the channel.
class EventChannel {
 public:
  explicit EventChannel(Core& owner) : owner_(owner) {}
  bool empty() const { return events_.empty(); }
  CmEvent get_cm_event() {
    CmEvent event = std::move(events_.front());
    events_.pop_front();
    return event;
  }
  void push(CmEvent event) {
    events_.push_back(std::move(event));
    owner_.wake();
  }

 private:
  Core& owner_;
  std::deque<CmEvent> events_;
};

// Of a CmOptions octet.
constexpr std::uint8_t transport_option(Transport transport) {
  return static_cast<std::uint8_t>(transport == Transport::kSctp ? abi::kCmSctp : 0);
}

// A port that takes connection requests.
class Listener final : public Resource {
 public:
  Listener(Core& owner, std::uint16_t port, EventChannel& channel, Transport transport)
      : Resource(owner), port_(port), transport_(transport), channel_(channel) {}
  std::uint16_t port() const { return port_; }
  Transport transport() const { return transport_; }
  EventChannel& channel() const { return channel_; }

 private:
  const std::uint16_t port_;
  const Transport transport_;
  EventChannel& channel_;
};

}  // namespace rnic::host

// What happened at one place of a device, in numbers. Messages declare their events (event_of, message.h); sinks of
// model/trace turn them into text.
#pragma once

#include <array>
#include <cstdint>

#include "model/common/cycle.h"
#include "model/common/ids.h"
#include "model/common/request_id.h"

namespace rnic {

// The stations of a work request on its path, and what can happen to it there.
enum class TraceKind : std::uint8_t {
  kDoorbell,         // the producer index arrived at the chip
  kWqeFetched,       // the work request is on the chip
  kPayloadRead,      // its payload came from host memory
  kFpduSent,         // an FPDU left the framer with markers and CRC
  kFrameSent,        // an Ethernet frame left for the wire
  kFrameReceived,    // an Ethernet frame came from the wire
  kStreamDelivered,  // TCP handed octets up
  kFpduReceived,     // the deframer found an FPDU
  kCrcChecked,       // its CRC was compared: value 1 if it was right, or is not in use
  kPlaced,           // a DDP segment's payload is on its way to host memory
  kDelivered,        // a message is complete and in order
  kResponse,         // a Read or Atomic response was formed
  kCompleted,        // a CQE is to be written
  kInterrupt,        // an MSI-X message was sent
  kRetransmitted,    // TCP retransmitted octets
  kDropped,          // discarded, without effect
  kTerminated,       // the stream ends with a Terminate message, sent or received
  kFirmwareLog,      // an entry of the firmware's log: values are its code and its arguments
  kCommand,          // the firmware has executed a command: values are its operation and the cycles since its arrival
  kPosted,           // post_send or post_recv was called
  kDoorbellWritten,  // by the driver, to the send queue's register: value is the producer index
  kSegmented,        // a DDP segment was cut
  kFramed,           // an FPDU left the framer
  kCqeWritten,       // the CQE is on its way to host memory
  kPolled,           // poll_cq has returned the completion
  kTlpRead,          // a TLP begins on the PCIe link: MRd, bytes are requested
  kTlpWrite,         // MWr: data, a doorbell or an interrupt
  kTlpCompletion,    // Cpl, or CplD with that many bytes
  kMarked,           // an FPDU left the marker inserter
  kDue,              // a Read or Atomic Request's turn has come: the responder gets it from the IRRQ
  kTaken,            // a block has started on what waited for it; value is the kind of the event that it was before
  kTlpConfig,        // CfgRd0, or CfgWr0 with that many bytes; the address is the offset in configuration space
  // What the cable does to a frame. Value 0 is its serial number, 0 if it did not leave a port; the text is the
  // setting.
  kLost,
  kQueueDropped,
  kCorrupted,  // value 1: octet of the frame; value 2: its bit, from the left, and whether a checksum shows it
  kDuplicated,
  kReordered,  // value 1: how much later it arrives, in ns
  kCeMarked,   // Congestion Experienced, RFC 3168
  kInjected,   // an entry of `inject` has changed it; the text says which, and what
  kRefused,    // a stage has found an error that ends the stream, in a segment or a work request
  // Why work does not go on.
  kWaits,    // what the oldest work of a queue pair waits for has changed: value 0 is TxWait, the text says it
  kWindow,   // what bounds a flow's sender has changed: values are octets in flight, congestion window, peer's window;
             // the text says which of the two is the smaller, and whether it is used up
  kReduced,  // a congestion window fell: values are octets before and after; the text is why
  kWorked,   // a core of the host has executed a program's call: values 0 and 1 are its length in ps, the lower half
             // first
  kHandled,  // the firmware has handled an event, which the text names: value 0 is its length in cycles
  kAtPort,   // a frame is in the packet buffer of the receiver
  // Of programs. Value 0 is the number of the message.
  kSeen,         // its receiver has it
  kCheckFailed,  // values 1 and 2: its first wrong octet; what was expected there (upper half), and found
  kStagEnded,    // value 0 is the STag, the text by whom
  // Of a cache of rows, which the place names. Value 0 is the row.
  kMissed,   // it had to be fetched; the text is the stage that asked for it, or "" of a prefetch
  kEvicted,  // it made room; value 1: for which row; value 2: whether it had been changed here
};
inline constexpr unsigned kTraceKinds = static_cast<unsigned>(TraceKind::kEvicted) + 1;
constexpr bool is_tlp(TraceKind kind) {
  return kind == TraceKind::kTlpRead || kind == TraceKind::kTlpWrite || kind == TraceKind::kTlpCompletion ||
         kind == TraceKind::kTlpConfig;
}

// Why a lower layer sends octets or chunks again.
enum class Resend : std::uint8_t {
  kNo,
  kFast,          // acknowledgements show the loss (RFC 5681 section 3.2, RFC 6675, RFC 9260 section 7.2.4)
  kTimeout,       // RFC 6298, RFC 9260 section 6.3.3
  kPathMtu,       // a router has dropped it (RFC 1191)
  kWindowOpened,  // the peer had no room for a probe
};

struct TraceEvent {
  Cycle cycle = 0;
  const char* where = "";  // the stage's full name; the pointer stays valid, and stays that name's
  TraceKind kind{};
  bool again = false;              // of a frame: TCP had sent its octets before
  std::uint8_t visible_after = 0;  // cycles from `cycle`, of the push, until the next stage can see the message
  FlowId flow = kNoFlow;
  static constexpr std::uint32_t kNone = 0xffffffffu;
  std::uint32_t qpn = kNone, bytes = kNone;
  std::array<std::uint32_t, 3> values{};  // their meaning depends on the kind; see trace_words()
  std::uint32_t offset = kNone;           // of a segment: where its payload begins in its message, or in the response
  const char* text = "";                  // of kDropped: why; of a start-up frame's kRefused: its mistake
  RequestId request;                      // the owner, in every output
  RequestId receive;                      // of a completion: the receive request that the message used
  // What goes with some kinds, and into no digest. Of a TLP: address of a request (two words, the lower first); tag of
  // one that reads or answers. Of kTerminated and kRefused: terminate_word() of its cause; Terminated. Of
  // kRetransmitted: Resend.
  std::array<std::uint32_t, 3> facts{};
  std::uint32_t beats_took = 0;  // cycles from a message's first beat to its last, whose cycle is `cycle`

  enum Terminated : std::uint32_t { kSent, kReceived, kMalformed, kOrdered };  // the last by the firmware

  std::uint64_t address() const { return std::uint64_t{facts[1]} << 32 | facts[0]; }
  void set_address(std::uint64_t address) {
    facts[0] = static_cast<std::uint32_t>(address);
    facts[1] = static_cast<std::uint32_t>(address >> 32);
  }
  std::uint32_t tag() const { return facts[2]; }
  void set_tag(std::uint32_t tag) { facts[2] = tag; }
  bool has_address() const { return is_tlp(kind) && kind != TraceKind::kTlpCompletion; }
  bool has_tag() const { return is_tlp(kind) && kind != TraceKind::kTlpWrite; }
};

// How sinks see a message on a traced link. A message defines it beside its fields, for argument-dependent lookup:
//   EventUse event_of(const M& message, const Owners& owners, TraceEvent& event);
// which fills in what is specific to the event. Its cycle, place and kind are the link's, unless the message has
// another kind.
enum class EventUse : std::uint8_t {
  kNone,  // not an event
  kEvent,
  kTimingOnly  // only latency breakdowns want it
};

}  // namespace rnic

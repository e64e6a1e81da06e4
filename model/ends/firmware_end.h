// A connection firmware between a host and a TCP stream: one end of a negotiation. The firmware is the chip's own; the
// host sends it commands and takes its events, and the hardware around it is a bus that carries octets to the other end
// and notes the rest.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/abi/context_types.h"
#include "model/abi/host_abi.h"
#include "model/abi/tx_internal_work.h"
#include "model/common/bytes.h"
#include "model/common/value_words.h"

namespace rnic {

// What one end of a TCP connection makes of the other, in order. The last two stand for the FPDUs that begin or end
// the stream in RDMA mode.
struct StreamSignal {
  enum class Kind : std::uint8_t { kOpen, kOpened, kRefused, kOctets, kFin, kReset, kReadyToReceive, kTerminate };
  friend const ValueWords& value_words(Kind) {
    static const ValueWords kWords{"open", "opened", "refused",          "octets",
                                   "fin",  "reset",  "ready_to_receive", "terminate"};
    return kWords;
  }
  Kind kind = Kind::kOpen;
  std::vector<std::uint8_t> octets{};  // kOctets
  wire::TerminateCause cause{};        // kTerminate
};

// What the firmware did.
struct FirmwareRecord {
  struct Report {
    abi::Event event;
    std::vector<std::uint8_t> private_data;
  };
  std::vector<std::uint8_t> sent;    // to the stream, before RDMA mode
  std::optional<QpContext> qp;       // as written for RDMA mode
  std::optional<FlowContext> flow;   // the same
  std::vector<TxInternalWork> work;  // posted to the QP
  std::vector<Report> reports;       // connection events for the host
  bool closed = false;               // it ended TCP, in order or not
};

// One connection of one QP. Depths may be up to 0x3ffe; what a connection may use is said in its commands.
class FirmwareEnd {
 public:
  static constexpr std::uint32_t kQpn = 0;
  static constexpr std::uint16_t kPort = 7471;

  explicit FirmwareEnd(abi::Personality personality = abi::Personality::kIetf);
  FirmwareEnd(FirmwareEnd&&) noexcept;
  ~FirmwareEnd();

  // As from the host's command ring. Its status comes in kCommandDone.
  abi::CommandStatus command(abi::Command command, ByteSpan private_data = {});
  abi::CommandStatus listen(std::uint8_t cm_flags);

  void receive(const StreamSignal& signal);
  std::vector<StreamSignal> take_signals();

  const FirmwareRecord& record() const;
  FirmwareRecord take_record();  // and begins another one
  // The connection's last event of a type; nullptr if there is none.
  const FirmwareRecord::Report* report(abi::EventType type) const;

 private:
  class Bus;
  struct State;
  std::unique_ptr<State> state_;
};

// Carries signals both ways until there are none.
void exchange(FirmwareEnd& a, FirmwareEnd& b);

}  // namespace rnic

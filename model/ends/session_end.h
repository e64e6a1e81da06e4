// One end of an SCTP association as far as DDP stream sessions go: the state machines of firmware over the numbers of
// hardware. SCTP itself is left out: messages are handed over in any order, and acknowledged by a call.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "firmware/conn/stream_session.h"
#include "model/rnic/llp/sctp/ddp_streams.h"

namespace rnic {

class SessionEnd {
 public:
  struct Message {
    std::uint16_t stream = 0;
    std::uint32_t ppid = 0;
    std::vector<std::uint8_t> user_data;
    bool unordered = true;
  };
  // The events of a host.
  struct Told {
    fw::SessionAction::Kind kind = {};
    std::uint16_t stream = 0;
    fw::SetupError error = fw::SetupError::kNone;
    std::uint16_t ird = 0, ord = 0;
    fw::Rtr rtr = fw::Rtr::kNone;
    bool absorbs_rtr_send = false;
    std::optional<wire::MpaEnhanced> word;
    std::vector<std::uint8_t> private_data;
  };

  explicit SessionEnd(const fw::SessionPolicy& listener = {}, const sctp::StreamLimits& limits = {});

  fw::SessionPolicy listener;
  bool room = true;  // for one more request that waits for the host
  // Firmware comes to what hardware reports only when work() is called, as on a chip; else at once.
  bool busy = false;

  // The host.
  void connect(std::uint16_t stream, const fw::SessionPolicy& policy, ByteSpan private_data = {});
  void accept(std::uint16_t stream, ByteSpan private_data = {});
  void reject(std::uint16_t stream, ByteSpan private_data = {});
  void close(std::uint16_t stream, bool in_order = true);
  void send_segment(std::uint16_t stream, ByteSpan segment);
  void lose_association();
  // Firmware takes the oldest report, if there is one.
  bool work();

  // SCTP.
  sctp::ChunkFate receive(const Message& message);
  void violate(std::uint16_t stream, sctp::StreamViolation why);
  std::vector<Message> take_sent();
  void acknowledge(std::uint16_t stream);  // the oldest chunk
  void acknowledge_all();

  // What became of it.
  fw::SessionState state(std::uint16_t stream) const { return sessions_[stream].state(); }
  std::uint32_t strays(std::uint16_t stream) const { return sessions_[stream].strays(); }
  sctp::DdpStreams& streams() { return streams_; }
  std::vector<Told> told;
  bool was_told(fw::SessionAction::Kind kind) const;
  std::vector<std::vector<std::uint8_t>> placed, delivered;  // segments with their DDP-SSN
  std::size_t buffers() const { return buffers_.size(); }

 private:
  // What hardware tells firmware.
  struct Report {
    enum class Kind : std::uint8_t { kControl, kViolation, kStray, kAcknowledged };
    Kind kind = Kind::kControl;
    std::uint16_t stream = 0;
    bool terminate = false;
    std::vector<std::uint8_t> octets;
  };
  void report(Report report);
  void apply(std::uint16_t stream, const fw::SessionActions& actions, ByteSpan private_data = {});
  void send(std::uint16_t stream, wire::SessionMessage message, ByteSpan private_data);
  void send_rdmap_terminate(std::uint16_t stream, fw::SetupError error);
  void tell(std::uint16_t stream, const fw::SessionAction& action);
  void pump(std::uint16_t stream);

  sctp::DdpStreams streams_;
  std::vector<fw::StreamSession> sessions_;
  std::map<sctp::ReceivedId, std::vector<std::uint8_t>> buffers_;
  std::uint32_t next_token_ = 0;
  std::vector<Message> sent_;
  std::deque<Report> reports_;
};

}  // namespace rnic

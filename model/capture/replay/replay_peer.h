// The captured peer on the wire: a device that sends a captured stream over TCP or SCTP and reads the model's answers.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/capture/replay/peer_transport.h"
#include "model/capture/replay/script.h"
#include "model/common/buffer.h"
#include "model/rnic/boundary/ethernet_socket.h"
#include "model/wire/ethernet.h"
#include "model/wire/ipv4.h"
#include "model/wire/tcp.h"
#include "model/world/device.h"

namespace rnic::replay {

class ReplayPeer final : public sc_core::sc_module, public Device, private EthernetTarget {
 public:
  struct Station {
    wire::MacAddress mac;
    wire::Ipv4Address ip;
  };
  // After this time without a frame the model has handled all earlier frames.
  static constexpr std::uint64_t kRestPs = 20'000'000;
  static constexpr std::uint64_t kPollPs = 1'000'000;
  static constexpr unsigned kLineGbps = 100;

  ReplayPeer(sc_core::sc_module_name nm, const Station& self, const Station& chip);
  std::vector<EthernetPort> ports() override { return {{transmitter_, *this}}; }

  // Plays a script's peer from the SYN or INIT on, one at a time. `fed` is the stream to send, as long as the script's.
  using Apply = std::function<bool(const MemoryChange& change)>;  // false: not done yet, call again
  void begin(const Script& script, std::vector<std::uint8_t> fed, Apply apply);
  // Without progress: counts the messages that the next step waits for as sent. False if it waits for none.
  bool forgive();
  void abort();

  bool begun() const { return transport_ != nullptr; }
  bool over() const { return transport_->over(); }
  bool fed_all() const { return next_step_ == script_->steps.size(); }
  std::size_t acked() const { return transport_->acked(); }
  bool resting() const;
  const MessageReader& answer() const { return *answer_; }
  // Messages of the model, its startup frame and forgiven messages.
  std::size_t answered() const { return answer_->whole_messages() + (answer_->started() ? 1 : 0) + forgiven_; }
  bool refused() const { return transport_->refused(); }
  std::string transport_error() const { return transport_->error(); }
  // Grows with every frame in or out.
  std::uint64_t progress() const { return progress_; }

 private:
  void on_frame(const Frame& frame, std::uint64_t at_ps) override;
  void step();
  void receive(const Frame& frame, std::uint64_t now_ps);
  void feed();
  bool changed(std::size_t position);
  void finish();
  std::unique_ptr<PeerTransport> make_transport();
  void transmit_tcp(const wire::TcpHeader& header, ByteSpan payload);
  void transmit(std::uint8_t protocol, BufferRef buf, std::size_t bytes);

  struct Arrival {
    std::uint64_t at_ps;
    Frame frame;
  };
  const Station self_, chip_;
  EthernetInitiator transmitter_{"transmitter"};
  BufferPool buffers_{16384};
  sc_core::sc_event event_;
  std::deque<Arrival> arrivals_;
  std::uint64_t line_free_ps_ = 0;

  const Script* script_ = nullptr;
  std::vector<std::uint8_t> fed_;
  Apply apply_;
  std::optional<MessageReader> answer_;
  std::unique_ptr<PeerTransport> transport_;
  std::size_t next_step_ = 0, next_change_ = 0, forgiven_ = 0;
  std::uint64_t newest_frame_ps_ = 0;  // of either direction
  bool closing_ = false;
  std::uint32_t connections_ = 0;
  std::uint64_t progress_ = 0;
};

}  // namespace rnic::replay

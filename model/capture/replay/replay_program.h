// The real side's program on the model's host: posts the requests that the capture shows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/capture/replay/replay_memory.h"
#include "model/capture/replay/replay_peer.h"
#include "model/host/driver/context.h"

namespace rnic::replay {

// The outcome of a connection.
struct Outcome {
  const Script* script = nullptr;
  std::vector<std::uint8_t> startup;   // octets of the model's startup frame; empty if it sent none
  std::vector<Message> messages;       // of the model, with the real side's STags and offsets
  std::size_t rest = 0;                // octets of the model after its last complete FPDU
  std::string stream_error;            // why the model's stream could not be read further
  bool refused = false;                // the model answered the SYN with a RST
  std::vector<std::string> misplaced;  // octets of the peer that are not where they belong
  std::string stalled;                 // what was outstanding when progress stopped
};

// Replays one connection after the other.
class ReplayProgram final : public host::App {
 public:
  ReplayProgram(host::Context& context, ReplayPeer& peer, std::uint32_t peer_ip,
                const std::vector<std::unique_ptr<Script>>& scripts);
  ~ReplayProgram() override;

  bool done() const { return sessions_.size() == scripts_.size() && !running_; }
  const std::string& error() const { return error_; }  // of the host; ends the run
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  std::uint64_t progress() const;
  // Without progress: continues without the messages that it waits for. False if it waits for none.
  bool forgive() { return running_ && peer_.begun() && peer_.forgive(); }
  // Ends the current connection as it is.
  void give_up();

  void step() override;
  std::string waiting_for() const override;

 private:
  class Session;
  void conclude();

  host::Context& context_;
  ReplayPeer& peer_;
  const std::uint32_t peer_ip_;
  const std::vector<std::unique_ptr<Script>>& scripts_;
  host::Core& core_;
  std::vector<std::unique_ptr<Session>> sessions_;  // the last one runs; the others stay for late events
  bool running_ = false;
  std::vector<Outcome> outcomes_;
  bool giving_up_ = false;
  std::string error_;
};

}  // namespace rnic::replay

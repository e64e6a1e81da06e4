// The script of a connection's replay: what the peer sends and when, and what the program on the model's host does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/capture/replay/memory_plan.h"
#include "model/capture/replay/message_reader.h"
#include "model/capture/replay/recording.h"

namespace rnic::replay {

// The replay keeps the capture's order: a step is taken once everything captured before it has happened.
struct Script {
  // Sends the fed stream up to `end` after `model_messages` complete messages of the model, startup frame included.
  struct Step {
    std::size_t end = 0;
    std::size_t model_messages = 0;
  };
  // A message that the real side's program posted; the replay posts it once the model has acknowledged `fed_octets`.
  struct Post {
    std::size_t message = 0;  // of real.messages()
    std::size_t fed_octets = 0;
  };

  Script(wire::MpaFrameKind fed_startup, wire::MpaFrameKind real_startup) : fed(fed_startup), real(real_startup) {}

  std::string name;
  Side model = Side::kResponder;  // the side that the model plays
  host::Transport transport = host::Transport::kTcp;
  std::uint16_t model_port = 0, peer_port = 0;
  // Over TCP each side declares its MSS, so that segments are as large as the captured ones.
  std::uint16_t model_mss = 1460, peer_mss = 1460;
  MessageReader fed, real;  // what the captured peer and the real side sent
  MemoryPlan memory;
  std::vector<Step> steps;
  std::size_t close_after = 0;  // messages of the model before the peer's FIN
  std::vector<Post> posts;
  bool model_closes_first = false;
  std::size_t model_closes_after = 0;  // fed octets
  bool refused = false;                // no listener
  bool partial = false;                // the capture may end before the streams do
  bool crc = false;
  bool rtr = false;  // the initiator's first message is its ready-to-receive message

  // Includes incomplete messages: the program posts as much of them as was captured.
  std::size_t real_messages() const { return real.messages().size() + (real.started() ? 1 : 0); }
};

// Scripts of the connections whose initiator spoke MPA, or had no chance to. ConfigError with the reason if there are
// none or one of them cannot be replayed.
std::vector<std::unique_ptr<Script>> make_scripts(const std::vector<Recording>& recordings, Side model);

}  // namespace rnic::replay

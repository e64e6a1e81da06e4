// A connection's replay: what the peer sends and when, what the program on the model's host does.
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

// The capture's order is the replay's: a step is taken when all is there that was captured before it.
struct Script {
  // The fed stream up to `end` is sent once the model has sent so many whole messages, its startup frame counted.
  struct Step {
    std::size_t end = 0;
    std::size_t model_messages = 0;
  };
  // A message of the real side that its program asked for, posted once the model has acknowledged so many fed octets.
  struct Post {
    std::size_t message = 0;  // of real.messages()
    std::size_t fed_octets = 0;
  };

  Script(wire::MpaFrameKind fed_startup, wire::MpaFrameKind real_startup) : fed(fed_startup), real(real_startup) {}

  std::string name;
  Side model = Side::kResponder;  // the side that the model plays
  host::Transport transport = host::Transport::kTcp;
  std::uint16_t model_port = 0, peer_port = 0;
  // Over TCP each tells the other, so that segments are as large as the captured ones.
  std::uint16_t model_mss = 1460, peer_mss = 1460;
  MessageReader fed, real;  // what the captured peer sent, and what the real side did
  MemoryPlan memory;
  std::vector<Step> steps;
  std::size_t close_after = 0;  // messages of the model before the peer's FIN
  std::vector<Post> posts;
  bool model_closes_first = false;
  std::size_t model_closes_after = 0;  // fed octets
  bool refused = false;                // nobody listened
  bool crc = false;
  bool rtr = false;  // the initiator's first message is its ready-to-receive message

  // Unfinished ones too: the program asks for as much of them as was captured.
  std::size_t real_messages() const { return real.messages().size() + (real.started() ? 1 : 0); }
};

// Those of the connections whose initiator spoke MPA, or had no chance to. ConfigError with the reason if there are
// none or one of them cannot be replayed.
std::vector<std::unique_ptr<Script>> make_scripts(const std::vector<Recording>& recordings, Side model);

}  // namespace rnic::replay

// One connection of the real side's program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/capture/replay/replay_program.h"
#include "model/host/session/session.h"

namespace rnic::replay {

class ReplayProgram::Session {
 public:
  Session(const Script& script, host::Context& context, ReplayPeer& peer, std::uint32_t peer_ip, host::Core& core);

  // Makes what progress it can; true when the connection is over on both sides.
  bool advance();
  Outcome outcome() const;
  std::uint64_t progress() const { return progress_; }
  std::string waiting_for() const;

 private:
  enum class Stage : std::uint8_t { kCreating, kSetup, kConnected, kEnded };
  static constexpr std::uint32_t kSends = 128, kReceives = 256;

  void create();
  void begin();
  void take_events();
  void requested(const host::CmEvent& event);
  void post_receives();
  void post_sends();
  bool post(const Script::Post& post);
  host::SendWr request(std::size_t message) const;
  void poll();
  void received(const host::Wc& wc);
  void close_in_turn();

  struct Buffer {
    const Message* message;
    std::uint64_t address;
    std::uint32_t bytes;
  };

  const Script& script_;
  ReplayPeer& peer_;
  const std::uint32_t peer_ip_;
  host::Session session_;
  std::optional<ReplayMemory> memory_;
  const host::Mr* payloads_ = nullptr;     // payloads to send, and receive buffers
  std::vector<std::uint64_t> payload_at_;  // by message of the real side
  std::vector<Buffer> buffers_;            // for the Sends of the peer
  Stage stage_ = Stage::kCreating;
  std::size_t posted_sends_ = 0, posted_receives_ = 0, completed_ = 0;
  bool disconnecting_ = false, failed_ = false;
  std::uint64_t progress_ = 0;
  std::vector<std::string> misplaced_;
};

}  // namespace rnic::replay

// A node on a cable with a captured peer instead of the second node.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/capture/replay/comparison.h"
#include "model/config/overlay.h"
#include "model/system/world.h"

namespace rnic {

class ReplayWorld final : public World {
 public:
  // The scripts are played one after the other; `about` says of which capture. ConfigError for wrong settings.
  ReplayWorld(std::vector<std::unique_ptr<replay::Script>> scripts, const Overlay& command_line,
              const nlohmann::ordered_json& about);
  ~ReplayWorld() override;

  replay::Comparison comparison() const;  // of the connections that have ended
  const std::string& host_error() const;  // the host's error: the settings do not allow what the capture needs
  bool firmware_failed() const;

  bool done() const override { return program_->done(); }
  bool failed() const override { return !host_error().empty() || firmware_failed(); }
  bool working() const override { return peer_->begun() && !done(); }
  std::uint64_t progress() const override { return program_->progress(); }
  bool passed() const override { return comparison().unexplained() == 0; }
  // A connection without progress continues without the messages that are waited for, or is ended, which is a
  // difference.
  Stall stall(std::uint64_t idle_ps, bool dead) override;

  std::string table() const override;
  std::vector<std::string> errors() const override;
  std::string waiting_for() const override { return program_->waiting_for() + '\n'; }
  nlohmann::ordered_json about() const override;
  void add_results(nlohmann::ordered_json& j) const override;

 private:
  const std::unique_ptr<nlohmann::ordered_json> about_;
  const std::vector<std::unique_ptr<replay::Script>> scripts_;
  std::unique_ptr<replay::ReplayPeer> peer_;
  std::unique_ptr<replay::ReplayProgram> program_;
};

}  // namespace rnic

// A node on a cable with a captured peer instead of the second node.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/capture/replay/comparison.h"
#include "model/config/overlay.h"
#include "model/system/system.h"

namespace rnic {

class ReplayPrograms final : public Programs {
 public:
  using Scripts = std::vector<std::unique_ptr<replay::Script>>;
  // Adds the node, the cable and the captured peer to the system. The scripts are played one after the other; `about`
  // says of which capture.
  ReplayPrograms(System& system, Scripts scripts, const nlohmann::ordered_json& about);
  ~ReplayPrograms() override;
  // Of the run and its node. Where the captured devices differ from the model's defaults, or exceed them, settings
  // follow the capture; the command line may change them. ConfigError for wrong settings.
  static SystemConfig settings(const Scripts& scripts, const Overlay& command_line);

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
  Stall stall(std::uint64_t idle_ps, bool dead, std::uint64_t watchdog_ps) override;

  std::string table() const override;
  std::vector<std::string> errors() const override;
  std::string waiting_for() const override { return program_->waiting_for() + '\n'; }
  nlohmann::ordered_json about() const override;
  void add_results(nlohmann::ordered_json& j) const override;

 private:
  const std::unique_ptr<nlohmann::ordered_json> about_;
  const Scripts scripts_;
  Node* node_ = nullptr;                // of the system
  replay::ReplayPeer* peer_ = nullptr;  // of its world
  std::unique_ptr<replay::ReplayProgram> program_;
};

}  // namespace rnic

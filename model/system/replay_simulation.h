// A node on a cable with a captured peer in the place of the second one.
#pragma once

#include <memory>
#include <vector>

#include "model/config/overlay.h"
#include "model/env/peer/comparison.h"
#include "model/system/system_config.h"

namespace rnic {

class Node;

class ReplaySimulation final {
 public:
  // The scripts are played one after the other. ConfigError for wrong settings.
  ReplaySimulation(std::vector<std::unique_ptr<replay::Script>> scripts, const Overlay& command_line);
  ~ReplaySimulation();

  // Runs to the end of the last connection. A connection in which nothing moves any more is ended, which is a
  // difference.
  replay::Comparison run();

 private:
  SystemConfig config_;
  const std::vector<std::unique_ptr<replay::Script>> scripts_;
  std::unique_ptr<Node> node_;
  std::unique_ptr<EthernetLink> cable_;
  std::unique_ptr<replay::ReplayPeer> peer_;
  std::unique_ptr<replay::ReplayProgram> program_;
};

}  // namespace rnic

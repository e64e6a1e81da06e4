// How busy wires, slow links, PCIe links and datapaths are while work is done, without connection setup and teardown.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/system/system.h"

namespace rnic {

struct Utilization {
  std::string resource;
  double share = 0;  // 0 to 1
};

class UtilizationMeter final {
 public:
  struct Resource {
    UseKind kind;
    std::string node;  // the owner, or the sender
    std::string name;
  };

  // The system must outlive this.
  explicit UtilizationMeter(const System& system);

  // To be called after each step of the kernel; shares are exact to a step.
  void follow(bool working);
  // No more work follows.
  void end() { follow(false); }
  // The busiest first; empty if no work was begun.
  std::vector<Utilization> shares() const;

  // The busy time of each resource, and the time it refers to.
  struct Busy {
    std::uint64_t time_ps = 0;
    std::vector<std::pair<std::string, double>> ps;
  };
  Busy busy() const;  // since the start
  // The same without names, for every step; in the order of resources().
  void busy_ps(std::vector<double>& into) const;
  const std::vector<Resource>& resources() const { return resources_; }
  // What came before does not count.
  void restart();

 private:
  using BusyPs = std::function<double()>;
  std::vector<Resource> resources_;
  std::vector<std::vector<BusyPs>> uses_;   // by resource
  std::optional<Busy> phase_begin_, work_;  // of the current phase; of all finished phases
};

}  // namespace rnic

#include "model/world/world.h"

#include <algorithm>

#include "model/common/check.h"
#include "model/common/cycle.h"

namespace rnic {

World::World() = default;

World::~World() = default;

void World::add(std::unique_ptr<Device> device) { devices_.push_back(std::move(device)); }

void World::add(std::unique_ptr<Medium> medium) { media_.push_back(std::move(medium)); }

void World::join(Device& device, unsigned number, Medium& medium, unsigned port) {
  join(device, number, device.ports().at(number), medium, port);
}

void World::join(Device& device, unsigned number, EthernetPort outermost, Medium& medium, unsigned port) {
  RNIC_CHECK(port < medium.ports());
  for (const Joined& j : joined_) {
    RNIC_CHECK_MSG(j.medium != &medium || j.port != port, "two devices at one port of a medium");
    RNIC_CHECK_MSG(j.device != &device || j.number != number, "one port of a device at two media");
  }
  joined_.push_back({&device, number, &medium, port});
  medium.join(port, outermost);
}

// The shortest way from any port of the medium; what a device sends may come back to it.
std::uint64_t World::lookahead_ps(const Joined& at) const {
  std::uint64_t shortest = kNever;
  for (unsigned from = 0; from < at.medium->ports(); ++from) {
    shortest = std::min(shortest, at.medium->lookahead_ps(from, at.port));
  }
  return shortest;
}

void World::settle() {
  for (const auto& medium : media_) {
    const auto here = [&](const Joined& j) { return j.medium == medium.get(); };
    const auto ends = static_cast<std::size_t>(std::count_if(joined_.begin(), joined_.end(), here));
    RNIC_CHECK_MSG(ends == medium->ports(), "a port of a medium is not joined");
  }
  for (const Joined& j : joined_) j.device->set_lookahead(j.number, lookahead_ps(j));
  for (const auto& medium : media_) {
    for (Timed* clock : medium->clocks()) clocks_.add(*clock);
  }
  for (const auto& device : devices_) {
    for (Timed* clock : device->clocks()) clocks_.add(*clock);
  }
}

}  // namespace rnic

// Devices and the media that join them, as a graph in one simulated time. See world.md.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "model/common/clock_group.h"
#include "model/world/device.h"
#include "model/world/medium.h"

namespace rnic {

class World final {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Before settle(). The world owns devices and media.
  template <class D, class... Arguments>
  D& add_device(Arguments&&... arguments) {
    auto device = std::make_unique<D>(std::forward<Arguments>(arguments)...);
    D& added = *device;
    add(std::move(device));
    return added;
  }
  template <class M, class... Arguments>
  M& add_medium(Arguments&&... arguments) {
    auto medium = std::make_unique<M>(std::forward<Arguments>(arguments)...);
    M& added = *medium;
    add(std::move(medium));
    return added;
  }
  // Joins a port of a device to a port of a medium.
  void join(Device& device, unsigned number, Medium& medium, unsigned port);
  // The same, by what stands before the device's port and adds no time: a network device, an injector of errors.
  void join(Device& device, unsigned number, EthernetPort outermost, Medium& medium, unsigned port);

  // The graph is complete: each device learns the look-ahead of its ports. A port of a medium that nothing was joined
  // to stops here. Clocks that are due at the same time are called in this order: media, then devices, as added.
  void settle();

  // Lets the kernel run until then, in ps; ClockGroup says for whom.
  void run_until(std::uint64_t ps) { clocks_.run_until(ps); }

 private:
  struct Joined {
    Device* device;
    unsigned number;
    Medium* medium;
    unsigned port;
  };
  void add(std::unique_ptr<Device> device);
  void add(std::unique_ptr<Medium> medium);
  std::uint64_t lookahead_ps(const Joined& at) const;

  ClockGroup clocks_{"clocks"};
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Medium>> media_;
  std::vector<Joined> joined_;
};

}  // namespace rnic

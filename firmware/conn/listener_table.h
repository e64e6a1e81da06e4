// The ports that the host listens on, with the MPA options and the personality of each.
#pragma once

#include <cstdint>

#include "model/rnic/host_abi.h"

namespace rnic::fw {

struct Listener {
  bool used = false;
  std::uint16_t port = 0;
  std::uint8_t flags = 0;  // abi::CmFlags
  abi::Personality personality = abi::Personality::kDevice;
};

template <std::uint32_t N>
class ListenerTable {
 public:
  Listener* find(std::uint16_t port) {
    for (Listener& l : listeners_) {
      if (l.used && l.port == port) return &l;
    }
    return nullptr;
  }
  // nullptr if the table is full.
  Listener* add(std::uint16_t port, std::uint8_t flags, abi::Personality personality) {
    for (Listener& l : listeners_) {
      if (l.used) continue;
      l = {true, port, flags, personality};
      return &l;
    }
    return nullptr;
  }

 private:
  Listener listeners_[N];
};

}  // namespace rnic::fw

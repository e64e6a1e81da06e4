// The ports that the host listens on, with the MPA options of each.
#pragma once

#include <cstdint>

namespace rnic::fw {

struct Listener {
  bool used = false;
  std::uint16_t port = 0;
  std::uint8_t flags = 0;  // abi::CmFlags
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
  Listener* add(std::uint16_t port, std::uint8_t flags) {
    for (Listener& l : listeners_) {
      if (l.used) continue;
      l = {true, port, flags};
      return &l;
    }
    return nullptr;
  }

 private:
  Listener listeners_[N];
};

}  // namespace rnic::fw

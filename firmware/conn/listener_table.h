// The ports that the host listens on, per transport, with the options and the personality of each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/lib/default_capacity.h"
#include "model/abi/context_types.h"
#include "model/abi/host_abi.h"

namespace rnic::fw {

struct Listener {
  bool used = false;
  LlpId llp = LlpId::kMpaTcp;
  std::uint16_t port = 0;
  std::uint8_t flags = 0;  // abi::CmFlags
  abi::Personality personality = abi::Personality::kDevice;
  std::uint16_t backlog = 0;  // 0: no limit
  std::uint16_t pending = 0;  // connections whose request is unanswered
  std::uint32_t serial = 0;   // never 0, and never reused: a port may get another listener

  bool full() const { return backlog != 0 && pending >= backlog; }
};

template <std::uint32_t N>
class ListenerTable {
 public:
  Listener* find(LlpId llp, std::uint16_t port) {
    for (Listener& l : listeners_) {
      if (l.used && l.llp == llp && l.port == port) return &l;
    }
    return nullptr;
  }
  // nullptr if the table is full.
  Listener* add(LlpId llp, std::uint16_t port, std::uint8_t flags, abi::Personality personality,
                std::uint16_t backlog) {
    for (Listener& l : listeners_) {
      if (l.used) continue;
      l = {true, llp, port, flags, personality, backlog, 0, ++serial_};
      return &l;
    }
    return nullptr;
  }
  // A request of that listener has been answered or is gone.
  void answered(LlpId llp, std::uint16_t port, std::uint32_t serial) {
    Listener* listener = find(llp, port);
    if (listener != nullptr && listener->serial == serial) --listener->pending;
  }

 private:
  Listener listeners_[N];
  std::uint32_t serial_ = 0;
};

// Each port has a place of its own, so that none is searched for.
template <>
class ListenerTable<kAllPorts> {
 public:
  Listener* find(LlpId llp, std::uint16_t port) {
    Listener& l = at(llp, port);
    return l.used ? &l : nullptr;
  }
  Listener* add(LlpId llp, std::uint16_t port, std::uint8_t flags, abi::Personality personality,
                std::uint16_t backlog) {
    Listener& l = at(llp, port);
    l = {true, llp, port, flags, personality, backlog, 0, ++serial_};
    return &l;
  }
  void answered(LlpId llp, std::uint16_t port, std::uint32_t serial) {
    Listener* listener = find(llp, port);
    if (listener != nullptr && listener->serial == serial) --listener->pending;
  }

 private:
  Listener& at(LlpId llp, std::uint16_t port) { return listeners_[static_cast<std::size_t>(llp)][port]; }
  Listener listeners_[kLlps][kAllPorts];
  std::uint32_t serial_ = 0;
};

}  // namespace rnic::fw

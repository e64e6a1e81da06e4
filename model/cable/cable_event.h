// What a cable does to frames beside carrying them, for logs and captures.
#pragma once

#include <cstdint>

#include "model/rnic/boundary/frame.h"

namespace rnic {

struct CableEvent {
  enum class Kind : std::uint8_t { kLost, kQueueDropped, kCorrupted, kDuplicated, kReordered, kMarked, kInjected };
  Kind kind{};
  unsigned direction = 0;        // 0 is from end 0 to end 1
  const Frame* frame = nullptr;  // as it goes on; one that does not, as it came
  // Its last octet arrives at the other end, or would; of one that found no place in the queue, it came there; of an
  // injected one, it left its port.
  std::uint64_t ps = 0;
  const char* text = "";  // the setting below link.forward or link.reverse; of an injection what it was. Stays valid
  std::uint32_t octet = 0, bit = 0;  // kCorrupted: of the frame; of the octet, from the left
  bool checksum_right = false;       // kCorrupted: only a CRC shows it
  std::uint64_t late_ns = 0;         // kReordered

  bool swallows() const { return kind == Kind::kLost || kind == Kind::kQueueDropped; }
};

struct CableTap {
  virtual void happened(const CableEvent& event) = 0;

 protected:
  ~CableTap() = default;
};

}  // namespace rnic

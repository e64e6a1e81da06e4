// A guest's memory and the split virtqueues in it (Virtual I/O Device 1.1, section 2.6), from the device's side.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/common/bytes.h"
#include "model/env/external/descriptor.h"

namespace rnic::external {

class GuestMemory {
 public:
  GuestMemory() = default;
  GuestMemory(const GuestMemory&) = delete;
  GuestMemory& operator=(const GuestMemory&) = delete;
  ~GuestMemory();

  // Forgets all that was mapped.
  void clear();
  // Maps `bytes` of the guest's physical addresses, which lie in the file from `offset` on. Throws PeerError, also if
  // the file is shorter.
  void map(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset, const Descriptor& file);
  // Throws PeerError for what is not the guest's.
  std::uint8_t* at(std::uint64_t address, std::uint64_t bytes) const;

 private:
  struct Region {
    std::uint64_t address, bytes;
    void* mapping;
    std::size_t mapped;
    std::uint8_t* begin;
  };
  std::vector<Region> regions_;
};

// Neither indirect descriptors nor event indexes: we do not offer them.
class Virtqueue {
 public:
  struct Piece {
    std::uint8_t* data;
    std::uint32_t bytes;
  };
  struct Chain {
    std::uint16_t head = 0;
    std::vector<Piece> pieces;
  };
  bool enabled = false;
  std::uint32_t entries = 0;
  std::uint64_t descriptors = 0, used = 0, available = 0;  // the guest's addresses of its three parts
  std::uint16_t next = 0;                                  // the first available entry that was not taken

  // The next buffer that the guest offers.
  std::optional<Chain> pop(const GuestMemory& memory);
  // Gives it back with so many octets written.
  void push(const GuestMemory& memory, const Chain& chain, std::uint32_t written);
  bool wants_interrupt(const GuestMemory& memory) const;
};

}  // namespace rnic::external

// A guest's memory and the split virtqueues in it (Virtual I/O Device 1.1, section 2.6), from the device's side.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <sys/types.h>

#include "model/common/bytes.h"
#include "model/external/descriptor.h"

namespace rnic::external {

// Accesses the memory through its files, not by mapping: a guest that truncates one only violates its protocol.
class GuestMemory {
 public:
  // Drops all regions.
  void clear() { regions_.clear(); }
  // Adds `bytes` of the guest's physical addresses, in the file from `offset` on. PeerError if the file is too short.
  void add(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset, Descriptor file);
  // Both throw PeerError for addresses that are not the guest's, read() also for a truncated file.
  void read(std::uint64_t address, MutableByteSpan octets) const;
  void write(std::uint64_t address, ByteSpan octets) const;
  // Throws PeerError unless the whole range is the guest's.
  void require(std::uint64_t address, std::uint64_t bytes) const { place(address, bytes); }

 private:
  struct Region {
    std::uint64_t address, bytes, offset;
    Descriptor file;
  };
  struct Place {
    int file;
    off_t offset;
  };
  Place place(std::uint64_t address, std::uint64_t bytes) const;
  std::vector<Region> regions_;
};

// Without indirect descriptors and event indexes, which are not offered.
class Virtqueue {
 public:
  static constexpr std::uint32_t kMaxEntries = 32768;  // Virtio 1.1 section 2.6

  struct Piece {
    std::uint64_t address;
    std::uint32_t bytes;
  };
  struct Chain {
    std::uint16_t head = 0;
    std::vector<Piece> pieces;
  };
  bool enabled = false;
  std::uint32_t entries = 0;
  std::uint64_t descriptors = 0, used = 0, available = 0;  // guest addresses of its three parts
  std::uint16_t next = 0;                                  // the first available entry not yet taken

  // The next buffer that the guest offers.
  std::optional<Chain> pop(const GuestMemory& memory);
  // Returns the buffer with `written` octets written.
  void push(const GuestMemory& memory, const Chain& chain, std::uint32_t written);
  bool wants_interrupt(const GuestMemory& memory) const;
};

}  // namespace rnic::external

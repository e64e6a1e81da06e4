#include "model/env/external/guest_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "model/env/external/external_peer.h"

namespace rnic::external {
namespace {

constexpr std::uint16_t kNext = 1;               // flag of a descriptor that others follow
constexpr std::uint16_t kNoInterrupt = 1;        // flag of the available ring
constexpr std::size_t kMaxChainBytes = 1 << 17;  // twice the longest packet
constexpr std::uint64_t kDescriptorBytes = 16, kUsedBytes = 8, kRingHeaderBytes = 4, kIndexOffset = 2;

}  // namespace

GuestMemory::~GuestMemory() { clear(); }

void GuestMemory::clear() {
  for (const Region& r : regions_) ::munmap(r.mapping, r.mapped);
  regions_.clear();
}

void GuestMemory::map(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset, const Descriptor& file) {
  struct stat status {};
  const bool whole = ::fstat(file.get(), &status) == 0 && offset + bytes >= offset &&
                     offset + bytes <= static_cast<std::uint64_t>(status.st_size);
  if (!whole) throw PeerError("the guest's memory is longer than the file that it lies in");
  const std::size_t mapped = offset + bytes;
  void* const mapping = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapping == MAP_FAILED) throw PeerError("the guest's memory cannot be mapped");
  regions_.push_back({address, bytes, mapping, mapped, static_cast<std::uint8_t*>(mapping) + offset});
}

std::uint8_t* GuestMemory::at(std::uint64_t address, std::uint64_t bytes) const {
  for (const Region& r : regions_) {
    if (address >= r.address && address - r.address <= r.bytes && bytes <= r.bytes - (address - r.address)) {
      return r.begin + (address - r.address);
    }
  }
  throw PeerError("the guest's network card is told an address outside of its memory");
}

std::optional<Virtqueue::Chain> Virtqueue::pop(const GuestMemory& memory) {
  const std::uint16_t offered = load_le16(memory.at(available + kIndexOffset, 2));
  if (!enabled || entries == 0 || offered == next) return std::nullopt;
  Chain chain;
  chain.head = load_le16(memory.at(available + kRingHeaderBytes + 2 * (next % entries), 2));
  ++next;
  std::uint16_t index = chain.head;
  std::size_t total = 0;
  for (std::uint32_t n = 0; n < entries; ++n) {
    const std::uint8_t* const d = memory.at(descriptors + kDescriptorBytes * index, kDescriptorBytes);
    const std::uint32_t bytes = load_le32(d + 8);
    if ((total += bytes) > kMaxChainBytes) throw PeerError("a buffer of the guest's network card is too long");
    chain.pieces.push_back({memory.at(load_le64(d), bytes), bytes});
    if ((load_le16(d + 12) & kNext) == 0) return chain;
    index = load_le16(d + 14);
  }
  throw PeerError("a buffer of the guest's network card has no end");
}

void Virtqueue::push(const GuestMemory& memory, const Chain& chain, std::uint32_t written) {
  std::uint8_t* const index = memory.at(used + kIndexOffset, 2);
  const std::uint16_t at = load_le16(index);
  std::uint8_t* const entry = memory.at(used + kRingHeaderBytes + kUsedBytes * (at % entries), kUsedBytes);
  store_le32(entry, chain.head);
  store_le32(entry + 4, written);
  const auto following = static_cast<std::uint16_t>(at + 1);
  index[0] = static_cast<std::uint8_t>(following);
  index[1] = static_cast<std::uint8_t>(following >> 8);
}

bool Virtqueue::wants_interrupt(const GuestMemory& memory) const {
  return (load_le16(memory.at(available, 2)) & kNoInterrupt) == 0;
}

}  // namespace rnic::external

#include "model/external/guest_memory.h"

#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "model/external/external_peer.h"

namespace rnic::external {
namespace {

constexpr std::uint16_t kNext = 1;               // flag of a descriptor: another one follows
constexpr std::uint16_t kNoInterrupt = 1;        // flag of the available ring
constexpr std::size_t kMaxChainBytes = 1 << 17;  // twice the longest packet
constexpr std::uint64_t kDescriptorBytes = 16, kUsedBytes = 8, kRingHeaderBytes = 4, kIndexOffset = 2;

}  // namespace

void GuestMemory::add(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset, Descriptor file) {
  struct stat status {};
  const bool whole = ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && offset + bytes >= offset &&
                     offset + bytes <= static_cast<std::uint64_t>(status.st_size);
  if (!whole) throw PeerError("the guest's memory is longer than its file");
  regions_.push_back({address, bytes, offset, std::move(file)});
}

GuestMemory::Place GuestMemory::place(std::uint64_t address, std::uint64_t bytes) const {
  for (const Region& r : regions_) {
    if (address >= r.address && address - r.address <= r.bytes && bytes <= r.bytes - (address - r.address)) {
      return {r.file.get(), static_cast<off_t>(r.offset + (address - r.address))};
    }
  }
  throw PeerError("the guest's network card got an address outside its memory");
}

void GuestMemory::read(std::uint64_t address, MutableByteSpan octets) const {
  const Place p = place(address, octets.size());
  const ssize_t n = ::pread(p.file, octets.data(), octets.size(), p.offset);
  if (n != static_cast<ssize_t>(octets.size())) throw PeerError("the guest has truncated its memory file");
}

// A write beyond the end of a truncated file only extends the file again.
void GuestMemory::write(std::uint64_t address, ByteSpan octets) const {
  const Place p = place(address, octets.size());
  const ssize_t n = ::pwrite(p.file, octets.data(), octets.size(), p.offset);
  if (n != static_cast<ssize_t>(octets.size())) throw PeerError("the guest has truncated its memory file");
}

namespace {

std::uint16_t half_word(const GuestMemory& memory, std::uint64_t address) {
  std::uint8_t octets[2];
  memory.read(address, octets);
  return load_le16(octets);
}

}  // namespace

std::optional<Virtqueue::Chain> Virtqueue::pop(const GuestMemory& memory) {
  const std::uint16_t offered = half_word(memory, available + kIndexOffset);
  if (!enabled || entries == 0 || offered == next) return std::nullopt;
  Chain chain;
  chain.head = half_word(memory, available + kRingHeaderBytes + 2 * (next % entries));
  ++next;
  std::uint16_t index = chain.head;
  std::size_t total = 0;
  for (std::uint32_t n = 0; n < entries; ++n) {
    if (index >= entries) throw PeerError("the guest's network card got a descriptor outside its queue");
    std::uint8_t d[kDescriptorBytes];
    memory.read(descriptors + kDescriptorBytes * index, d);
    const std::uint32_t bytes = load_le32(d + 8);
    if ((total += bytes) > kMaxChainBytes) throw PeerError("a buffer of the guest's network card is too long");
    memory.require(load_le64(d), bytes);
    chain.pieces.push_back({load_le64(d), bytes});
    if ((load_le16(d + 12) & kNext) == 0) return chain;
    index = load_le16(d + 14);
  }
  throw PeerError("a buffer of the guest's network card has no end");
}

void Virtqueue::push(const GuestMemory& memory, const Chain& chain, std::uint32_t written) {
  const std::uint16_t at = half_word(memory, used + kIndexOffset);
  std::uint8_t entry[kUsedBytes], index[2];
  store_le32(entry, chain.head);
  store_le32(entry + 4, written);
  memory.write(used + kRingHeaderBytes + kUsedBytes * (at % entries), entry);
  const auto following = static_cast<std::uint16_t>(at + 1);
  index[0] = static_cast<std::uint8_t>(following);
  index[1] = static_cast<std::uint8_t>(following >> 8);
  memory.write(used + kIndexOffset, index);
}

bool Virtqueue::wants_interrupt(const GuestMemory& memory) const {
  return (half_word(memory, available) & kNoInterrupt) == 0;
}

}  // namespace rnic::external

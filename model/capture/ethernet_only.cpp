#include "model/capture/ethernet_only.h"

#include <algorithm>
#include <cstring>

namespace rnic::capture {
namespace {

// Section numbers are those of draft-ietf-opsawg-pcapng.
enum BlockType : std::uint32_t {
  kSectionHeader = 0x0a0d0d0a,
  kInterface = 1,
  kObsoletePacket = 2,
  kSimplePacket = 3,
  kStatistics = 5,
  kEnhancedPacket = 6
};
constexpr std::size_t kHeader = 8, kTrailer = 4, kMostOctets = std::size_t{1} << 26;
constexpr std::uint8_t kMagic[] = {0x0a, 0x0d, 0x0d, 0x0a}, kBigEndian[] = {0x1a, 0x2b, 0x3c, 0x4d};
constexpr std::uint32_t kEthernet = 1;

}  // namespace

std::FILE* EthernetOnly::open() {
  cookie_io_functions_t functions{};
  functions.read = [](void* self, char* into, std::size_t size) {
    return static_cast<ssize_t>(static_cast<EthernetOnly*>(self)->read(reinterpret_cast<std::uint8_t*>(into), size));
  };
  // For ftello() alone.
  functions.seek = [](void* self, off64_t* offset, int whence) {
    if (whence != SEEK_CUR || *offset != 0) return -1;
    *offset = static_cast<off64_t>(static_cast<EthernetOnly*>(self)->delivered_);
    return 0;
  };
  return fopencookie(this, "rb", functions);
}

std::size_t EthernetOnly::read(std::uint8_t* into, std::size_t size) {
  while (given_ == block_.size()) {
    if (is_raw_) {
      const std::size_t read = std::fread(into, 1, size, file_.get());
      delivered_ += read;
      return read;
    }
    if (!next_block()) return 0;
  }
  const std::size_t part = std::min(size, block_.size() - given_);
  std::memcpy(into, &block_[given_], part);
  given_ += part;
  delivered_ += part;
  return part;
}

// `size` octets in all of the block. What is not that long passes as it is, with all behind it.
bool EthernetOnly::take(std::size_t size) {
  const std::size_t before = block_.size();
  block_.resize(size);
  block_.resize(before + std::fread(&block_[before], 1, size - before, file_.get()));
  is_raw_ = block_.size() < size;
  return !is_raw_;
}

// False at the end of the file.
bool EthernetOnly::next_block() {
  block_.clear();
  given_ = 0;
  if (!take(kHeader)) return !block_.empty();
  if (std::memcmp(block_.data(), kMagic, sizeof kMagic) == 0) {
    if (!take(kHeader + sizeof kBigEndian)) return true;
    is_big_endian_ = std::memcmp(&block_[kHeader], kBigEndian, sizeof kBigEndian) == 0;
    interfaces_.clear();
    kept_ = 0;
  } else if (begins_) {
    is_raw_ = true;
  }
  begins_ = false;
  const std::size_t size = number(4);
  is_raw_ = is_raw_ || size < std::max(block_.size(), kHeader + kTrailer) || size % 4 != 0 || size > kMostOctets;
  if (is_raw_ || !take(size) || passes()) return true;
  if (gaps_.empty() || gaps_.back().first != delivered_) gaps_.emplace_back(delivered_, 0);
  left_out_ += size;
  gaps_.back().second = left_out_;
  block_.clear();
  return true;
}

std::uint32_t EthernetOnly::number(std::size_t at, std::size_t bytes) const {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= std::uint32_t{block_[at + i]} << 8 * (is_big_endian_ ? bytes - 1 - i : i);
  }
  return value;
}

bool EthernetOnly::passes() {
  switch (number(0)) {
    case kInterface:
      return passes_interface();
    case kEnhancedPacket:
      return passes_packet(true, 4);
    case kObsoletePacket:
      return passes_packet(true, 2);
    case kStatistics:
      return passes_packet(false, 4);
    case kSimplePacket:  // of the first interface, which has no other number then
      if (interfaces_.empty() || interfaces_[0] == 0) return true;
      ++skipped_packets_;
      return false;
    default:
      return true;
  }
}

// Section 4.2: link type, reserved, snapshot length.
bool EthernetOnly::passes_interface() {
  const bool is_ethernet = block_.size() < kHeader + 8 + kTrailer || number(kHeader, 2) == kEthernet;
  interfaces_.push_back(is_ethernet ? kept_++ : -1);
  skipped_interfaces_ += !is_ethernet;
  return is_ethernet;
}

// A packet of an interface that is not there is libpcap's to tell.
bool EthernetOnly::passes_packet(bool is_packet, std::size_t number_bytes) {
  if (block_.size() < kHeader + 4 + kTrailer) return true;
  const std::uint32_t interface = number(kHeader, number_bytes);
  if (interface >= interfaces_.size()) return true;
  if (interfaces_[interface] < 0) {
    skipped_packets_ += is_packet;
    return false;
  }
  const auto renumbered = static_cast<std::uint32_t>(interfaces_[interface]);
  for (std::size_t i = 0; i < number_bytes; ++i) {
    block_[kHeader + i] = static_cast<std::uint8_t>(renumbered >> 8 * (is_big_endian_ ? number_bytes - 1 - i : i));
  }
  return true;
}

std::uint64_t EthernetOnly::place_of(std::uint64_t position) {
  for (; !gaps_.empty() && gaps_.front().first <= position; gaps_.pop_front()) gap_ = gaps_.front().second;
  return position + gap_;
}

}  // namespace rnic::capture

#include "model/capture/pcapng_file.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace rnic::capture {
namespace {

enum BlockType : std::uint32_t {
  kSectionHeader = 0x0a0d0d0a,  // the same in both byte orders
  kInterface = 1,
  kObsoletePacket = 2,
  kSimplePacket = 3,
  kEnhancedPacket = 6
};
enum Option : std::uint16_t { kEndOfOptions = 0, kTimeResolution = 9, kFcsLength = 13, kTimeOffset = 14 };
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d, kMostOfABlock = 1u << 26;  // of a block: more is damage
constexpr std::size_t kHeader = 8, kTrailer = 4;

}  // namespace

bool PcapngFile::knows(const std::array<std::uint8_t, 4>& magic) { return load_le32(magic.data()) == kSectionHeader; }

std::uint16_t PcapngFile::number16(std::size_t at) const {
  return is_big_endian_ ? load_be16(&body_[at]) : load_le16(&body_[at]);
}
std::uint32_t PcapngFile::number(std::size_t at) const {
  return is_big_endian_ ? load_be32(&body_[at]) : load_le32(&body_[at]);
}

std::optional<CapturedFrame> PcapngFile::next(std::string& why) {
  for (;;) {
    const Block block = read_block(why);
    if (block == Block::kEnd) return std::nullopt;
    if (block != Block::kPacket) continue;
    std::optional<CapturedFrame> frame = packet(why);
    if (frame || !why.empty()) return frame;
  }
}

// Section 3.1. A block has its total length at both ends.
PcapngFile::Block PcapngFile::read_block(std::string& why) {
  begins_at(begins_ ? 0 : octets_.position());
  std::array<std::uint8_t, kHeader> header{};
  store_le32(header.data(), kSectionHeader);
  const std::size_t known = begins_ ? 4 : 0, got = known + octets_.read({header.data() + known, kHeader - known});
  begins_ = false;
  if (got == 0) {
    why = octets_.damage();
    return Block::kEnd;
  }
  body_.assign(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(got));
  if (got == kHeader && number(0) == kSectionHeader && !read_section(why)) return Block::kEnd;
  if (got < kHeader) {
    why = "truncated in the header of a block";
    return Block::kEnd;
  }
  type_ = number(0);
  const std::size_t have = body_.size(), size = number(4);
  if (size < have + kTrailer || size % 4 != 0 || size > kMostOfABlock) {
    why = fmt::format("a block of {} octets", size);
    return Block::kEnd;
  }
  body_.resize(size);
  if (const std::size_t there = have + octets_.read({&body_[have], size - have}); there < size) {
    why = fmt::format("truncated: of a block of {} octets {} are there", size, there);
    return Block::kEnd;
  }
  if (number(size - kTrailer) != size) {
    why = fmt::format("a block has two lengths, {} and {}", size, number(size - kTrailer));
    return Block::kEnd;
  }
  body_.resize(size - kTrailer);
  if (type_ == kInterface) add_interface();
  const bool is_packet = type_ == kEnhancedPacket || type_ == kSimplePacket || type_ == kObsoletePacket;
  return is_packet ? Block::kPacket : Block::kOther;
}

// Section 4.1. Starts a section and reads its byte order, which also applies to this block's length.
bool PcapngFile::read_section(std::string& why) {
  body_.resize(kHeader + 4);
  if (octets_.read({&body_[kHeader], 4}) < 4) {
    why = "truncated in the header of a section";
    return false;
  }
  is_big_endian_ = load_be32(&body_[kHeader]) == kByteOrderMagic;
  if (!is_big_endian_ && load_le32(&body_[kHeader]) != kByteOrderMagic) {
    why = "a section without an order of octets";
    return false;
  }
  interfaces_.clear();
  return true;
}

// Section 4.2. A truncated option ends the list.
void PcapngFile::add_interface() {
  Interface in;
  if (body_.size() >= kHeader + 8) {
    in.is_ethernet = number16(kHeader) == kLinkTypeEthernet;
    in.snapshot_bytes = number(kHeader + 4);
  }
  for (std::size_t at = kHeader + 8; at + 4 <= body_.size();) {
    const std::uint16_t option = number16(at), bytes = number16(at + 2);
    const std::size_t value = at + 4;
    if (option == kEndOfOptions || value + bytes > body_.size()) break;
    if (option == kTimeResolution && bytes == 1) {
      constexpr unsigned kBinary = 0x80, kMostDecimals = 19;
      in.is_binary = body_[value] & kBinary;
      in.units = body_[value] & ~kBinary;
      if (!in.is_binary) {
        const unsigned decimals = std::min<unsigned>(static_cast<unsigned>(in.units), kMostDecimals);
        in.units = 1;
        for (unsigned i = 0; i < decimals; ++i) in.units *= 10;
      }
    } else if (option == kTimeOffset && bytes == 8) {
      const std::uint64_t first = number(value), second = number(value + 4);
      in.begin = is_big_endian_ ? first << 32 | second : second << 32 | first;
    } else if (option == kFcsLength && bytes == 1) {
      in.fcs_bytes = body_[value];
    }
    at = value + (bytes + 3u) / 4 * 4;
  }
  (in.is_ethernet ? has_ethernet_ : has_others_) = true;
  if (in.is_ethernet) resolution_ns_ = std::max(resolution_ns_, resolution_ns(in));
  interfaces_.push_back(in);
}

std::uint64_t PcapngFile::resolution_ns(const Interface& in) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (!in.is_binary) return kSecond / in.units;
  return in.units >= 30 ? 1 : kSecond >> in.units;
}

std::uint64_t PcapngFile::nanoseconds(const Interface& in, std::uint64_t time) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (!in.is_binary) {
    const std::uint64_t rest = time % in.units;
    const std::uint64_t part = in.units <= kSecond ? rest * (kSecond / in.units) : rest / (in.units / kSecond);
    return (in.begin + time / in.units) * kSecond + part;
  }
  if (in.units >= 64) return in.begin * kSecond;
  const std::uint64_t rest = in.units == 0 ? 0 : time & ((std::uint64_t{1} << in.units) - 1);
  const auto exact = static_cast<long double>(rest) * kSecond;
  std::uint64_t part = 0;
  if (in.units <= 34) part = (rest * kSecond) >> in.units;  // below 2^64
  else part = static_cast<std::uint64_t>(exact / static_cast<long double>(std::uint64_t{1} << in.units));
  return (in.begin + (time >> in.units)) * kSecond + part;
}

// Sections 4.3 and 4.4 and appendix A. A packet of an unknown interface ends reading.
std::optional<CapturedFrame> PcapngFile::packet(std::string& why) {
  const bool is_simple = type_ == kSimplePacket, is_obsolete = type_ == kObsoletePacket;
  const std::size_t begin = kHeader + (is_simple ? 4 : 20);
  if (body_.size() < begin) {
    why = "a packet's block is too short";
    return std::nullopt;
  }
  const std::uint32_t interface = is_simple ? 0 : is_obsolete ? number16(kHeader) : number(kHeader);
  if (interface >= interfaces_.size()) {
    why = fmt::format("a packet of interface {}, which the section does not have", interface);
    return std::nullopt;
  }
  const Interface& in = interfaces_[interface];
  const std::uint64_t time_ns = is_simple ? 0 : nanoseconds(in, time_at(kHeader + 4));
  if (!in.is_ethernet) {
    count(time_ns);
    ++skipped_packets_;
    return std::nullopt;
  }
  if (!is_simple) return frame(in, begin, number(kHeader + 12), number(kHeader + 16), time_ns, why);
  const std::uint64_t wire_bytes = number(kHeader);
  const std::uint64_t limit = in.snapshot_bytes == 0 ? wire_bytes : in.snapshot_bytes;
  return frame(in, begin, std::min({wire_bytes, limit, std::uint64_t{body_.size() - begin}}), wire_bytes, time_ns, why);
}

std::optional<CapturedFrame> PcapngFile::frame(const Interface& in, std::size_t at, std::uint64_t kept,
                                               std::uint64_t wire_bytes, std::uint64_t time_ns, std::string& why) {
  if (kept > body_.size() - at) {
    why = fmt::format("a packet of {} octets in a block with {}", kept, body_.size() - at);
    return std::nullopt;
  }
  const std::uint64_t on_wire = std::max(wire_bytes, kept),
                      bytes = on_wire - std::min<std::uint64_t>(in.fcs_bytes, on_wire);
  count(time_ns);
  return CapturedFrame{place(), {body_.data() + at, std::min(kept, bytes)}, bytes};
}

}  // namespace rnic::capture

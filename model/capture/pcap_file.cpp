#include "model/capture/pcap_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/common/check.h"

namespace rnic::capture {
namespace {

constexpr std::uint32_t kMicroseconds = 0xa1b2c3d4, kNanoseconds = 0xa1b23c4d, kKuznetsov = 0xa1b2cd34;
constexpr std::uint32_t kLinkTypeMask = 0xffff, kHasFcs = 1u << 26;
constexpr unsigned kFcsShift = 28;
constexpr std::size_t kFileHeader = 20, kRecordHeader = 16, kMoreOfKuznetsov = 8;
constexpr std::uint32_t kMostOfAPacket = 1u << 26;  // octets of a frame: more is damage

std::uint32_t magic_number(const PcapFile::Magic& magic, bool is_big_endian) {
  return is_big_endian ? load_be32(magic.data()) : load_le32(magic.data());
}
bool is_magic(std::uint32_t number) {
  return number == kMicroseconds || number == kNanoseconds || number == kKuznetsov;
}

}  // namespace

bool PcapFile::knows(const Magic& magic) {
  return is_magic(magic_number(magic, false)) || is_magic(magic_number(magic, true));
}

PcapFile::PcapFile(const std::string& path, CaptureOctets octets, const Magic& magic)
    : octets_(std::move(octets)), is_big_endian_(is_magic(magic_number(magic, true))) {
  const std::uint32_t kind = magic_number(magic, is_big_endian_);
  header_bytes_ = kRecordHeader + (kind == kKuznetsov ? kMoreOfKuznetsov : 0);
  units_ = kind == kNanoseconds ? 1 : 1000;
  std::array<std::uint8_t, kFileHeader> header{};
  if (octets_.read(header) < header.size()) throw ConfigError(path + ": not a capture: its header is truncated");
  const std::uint32_t link_type = number(&header[16]);
  if ((link_type & kLinkTypeMask) != kLinkTypeEthernet) {
    throw ConfigError(
        fmt::format("{}: the link type of the capture is {}, which is not Ethernet", path, link_type & kLinkTypeMask));
  }
  if (link_type & kHasFcs) fcs_bytes_ = 2 * (link_type >> kFcsShift);
  begins_at(octets_.position());
}

std::uint32_t PcapFile::number(const std::uint8_t* at) const { return is_big_endian_ ? load_be32(at) : load_le32(at); }

std::optional<CapturedFrame> PcapFile::next(std::string& why) {
  begins_at(octets_.position());
  std::array<std::uint8_t, kRecordHeader + kMoreOfKuznetsov> header{};
  const std::size_t got = octets_.read({header.data(), header_bytes_});
  if (got == 0) {
    why = octets_.damage();
    return std::nullopt;
  }
  if (got < header_bytes_) {
    why = "truncated in the header of a packet";
    return std::nullopt;
  }
  const std::uint32_t kept = number(&header[8]), wire_bytes = number(&header[12]);
  if (kept > kMostOfAPacket) {
    why = fmt::format("a packet of {} octets", kept);
    return std::nullopt;
  }
  frame_.resize(kept);
  if (const std::size_t there = octets_.read(frame_); there < kept) {
    why = fmt::format("truncated: of a packet of {} octets {} are there", kept, there);
    return std::nullopt;
  }
  const std::size_t on_wire = std::max<std::size_t>(wire_bytes, kept), frame = on_wire - std::min(fcs_bytes_, on_wire);
  count(number(&header[0]) * std::uint64_t{1'000'000'000} + std::uint64_t{number(&header[4])} * units_);
  return CapturedFrame{place(), {frame_.data(), std::min<std::size_t>(kept, frame)}, frame};
}

}  // namespace rnic::capture

#include "model/trace/pcapng.h"

#include "model/common/check.h"

namespace rnic {
namespace {

// Section numbers are those of draft-ietf-opsawg-pcapng.
enum BlockType : std::uint32_t { kSectionHeader = 0x0a0d0d0a, kInterface = 1, kEnhancedPacket = 6 };
enum OptionCode : std::uint16_t {
  kEnd = 0,
  kComment = 1,
  kUserApplication = 4,
  kIfName = 2,
  kIfTsresol = 9,
  kEpbFlags = 2,
  kEpbPacketId = 5
};
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr std::uint8_t kNanoseconds = 9;  // negative power of ten
constexpr std::uint64_t kPsPerTick = 1000;
constexpr std::size_t kOptionHeader = 4, kMaxOption = 0xfffc;

constexpr std::size_t padding(std::size_t size) { return (4 - size % 4) % 4; }
constexpr std::size_t padded(std::size_t size) { return size + padding(size); }

ByteSpan as_bytes(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

void put16(OutputFile& out, std::uint16_t v) {
  const std::uint8_t bytes[] = {static_cast<std::uint8_t>(v), static_cast<std::uint8_t>(v >> 8)};
  out.write(bytes);
}
void put32(OutputFile& out, std::size_t v) {
  std::uint8_t bytes[4];
  store_le32(bytes, static_cast<std::uint32_t>(v));
  out.write(bytes);
}
void put_padded(OutputFile& out, ByteSpan bytes) {
  static constexpr std::uint8_t kZeros[4] = {};
  out.write(bytes);
  out.write(ByteSpan(kZeros, padding(bytes.size())));
}
void put_option(OutputFile& out, OptionCode code, ByteSpan value) {
  put16(out, code);
  put16(out, static_cast<std::uint16_t>(value.size()));
  put_padded(out, value);
}

// Type, length, body, and the length again (section 3.1). `body` writes exactly `size` octets, a multiple of 4.
template <class Body>
void put_block(OutputFile& out, BlockType type, std::size_t size, Body body) {
  put32(out, type);
  put32(out, size + 12);
  body();
  put32(out, size + 12);
}

}  // namespace

// Section 4.1.
PcapngWriter::PcapngWriter(const std::string& file) : out_(file) {
  constexpr std::string_view kApplication = "rnicsim";
  const std::size_t size = 16 + kOptionHeader + padded(kApplication.size()) + kOptionHeader;
  put_block(out_, kSectionHeader, size, [&] {
    put32(out_, kByteOrderMagic);
    put16(out_, 1);  // version 1.0
    put16(out_, 0);
    put32(out_, 0xffffffff);  // the section's length is unknown
    put32(out_, 0xffffffff);
    put_option(out_, kUserApplication, as_bytes(kApplication));
    put_option(out_, kEnd, {});
  });
}

// Section 4.2.
unsigned PcapngWriter::add_interface(std::string_view name, LinkType type) {
  const std::size_t size = 8 + kOptionHeader + padded(name.size()) + kOptionHeader + 4 + kOptionHeader;
  put_block(out_, kInterface, size, [&] {
    put16(out_, static_cast<std::uint16_t>(type));
    put16(out_, 0);
    put32(out_, 0);  // no snap length
    put_option(out_, kIfName, as_bytes(name));
    put_option(out_, kIfTsresol, ByteSpan(&kNanoseconds, 1));
    put_option(out_, kEnd, {});
  });
  return interfaces_++;
}

// Section 4.3.
void PcapngWriter::write(unsigned interface, std::uint64_t time_ps, ByteSpan frame, Direction direction,
                         std::string_view comment, std::uint64_t packet_id) {
  RNIC_CHECK_MSG(interface < interfaces_, out_.name() + ": frame of an unknown interface");
  const std::string_view text = comment.substr(0, kMaxOption);
  const std::size_t options = kOptionHeader + 4 + (text.empty() ? 0 : kOptionHeader + padded(text.size())) +
                              (packet_id == 0 ? 0 : kOptionHeader + sizeof packet_id) + kOptionHeader;
  put_block(out_, kEnhancedPacket, 20 + padded(frame.size()) + options, [&] {
    put32(out_, interface);
    put32(out_, time_ps / kPsPerTick >> 32);
    put32(out_, time_ps / kPsPerTick & 0xffffffff);
    put32(out_, frame.size());
    put32(out_, frame.size());
    put_padded(out_, frame);
    std::uint8_t flags[4];
    store_le32(flags, static_cast<std::uint32_t>(direction));
    put_option(out_, kEpbFlags, flags);
    if (!text.empty()) put_option(out_, kComment, as_bytes(text));
    if (packet_id != 0) {
      std::uint8_t id[sizeof packet_id];
      store_le32(id, static_cast<std::uint32_t>(packet_id));
      store_le32(id + 4, static_cast<std::uint32_t>(packet_id >> 32));
      put_option(out_, kEpbPacketId, id);
    }
    put_option(out_, kEnd, {});
  });
}

}  // namespace rnic

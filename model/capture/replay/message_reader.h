// One direction of an MPA connection without markers: octets in, DDP segments and RDMAP messages out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/common/bytes.h"
#include "model/wire/mpa_frame.h"
#include "model/wire/rdmap.h"

namespace rnic::replay {

// What a DDP header and RDMAP's part of it say; of an untagged message `stag` is the STag to invalidate.
struct SegmentHeader {
  wire::Opcode opcode{};
  bool tagged = false, last = false;
  std::uint32_t stag = 0;
  std::uint64_t to = 0;
  std::uint32_t qn = 0, msn = 0, mo = 0;
};

struct DdpSegment {
  SegmentHeader header;
  std::size_t begin = 0, end = 0;  // of its FPDU in the stream
  std::size_t payload_at = 0, payload_bytes = 0;
};

struct Message {
  SegmentHeader header;  // of its first segment; `last` is true once the message is whole
  std::vector<std::uint8_t> payload;
  std::size_t begin = 0, end = 0;  // of its first and its newest FPDU in the stream
};

// "RDMA Write of 64 octets to STag 0x12345678, TO 0x7f00"
std::string describe(const Message& message);
// "4d5041"; "none" for no octets.
std::string hex_text(ByteSpan octets);

class MessageReader {
 public:
  explicit MessageReader(wire::MpaFrameKind startup) : kind_(startup) {}

  void push(ByteSpan octets);
  // CRCs are checked from now on; called before the first FPDU is there.
  void expect_crc(bool on) { crc_ = on; }

  const std::vector<std::uint8_t>& octets() const { return octets_; }
  bool started() const { return startup_bytes_ != 0; }
  std::size_t startup_bytes() const { return startup_bytes_; }
  // Valid iff started(); its private data is a window on octets(), so take it before the next push.
  wire::MpaFrame startup() const;

  const std::vector<DdpSegment>& segments() const { return segments_; }
  ByteSpan payload(const DdpSegment& s) const { return ByteSpan(octets_).subspan(s.payload_at, s.payload_bytes); }
  const std::vector<Message>& messages() const { return messages_; }  // by their first segments
  std::size_t whole_messages() const { return whole_messages_; }
  // Octets behind the last whole FPDU.
  std::size_t rest() const { return octets_.size() - at_; }
  // The first thing that is no MPA, DDP or RDMAP; reading ends there.
  const std::string& error() const { return error_; }

 private:
  bool read_startup();
  bool read_fpdu();
  void take(const DdpSegment& segment);

  const wire::MpaFrameKind kind_;
  bool crc_ = false;
  std::vector<std::uint8_t> octets_;
  std::size_t at_ = 0, startup_bytes_ = 0;
  std::vector<DdpSegment> segments_;
  std::vector<Message> messages_;
  std::array<std::optional<std::size_t>, 16> open_;  // by opcode: messages of different kinds may alternate
  std::size_t whole_messages_ = 0;
  std::string error_;
};

}  // namespace rnic::replay

// One direction of an MPA connection without markers, for a replay: octets in, DDP segments and RDMAP messages out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/capture/ddp_segment.h"
#include "model/capture/mpa_stream.h"
#include "model/common/bytes.h"

namespace rnic::replay {

using capture::SegmentHeader;

struct DdpSegment {
  SegmentHeader header;
  std::size_t begin = 0, end = 0;  // of its FPDU in the stream
  std::size_t payload_at = 0, payload_bytes = 0;
};

struct Message {
  SegmentHeader header;  // of its first segment; `last` is true once the message is complete
  std::vector<std::uint8_t> payload;
  std::size_t begin = 0, end = 0;  // of its first and its newest FPDU in the stream
};

// "RDMA Write of 64 octets to STag 0x12345678, TO 0x7f00"
std::string describe(const Message& message);
// "4d5041"; "none" for no octets.
std::string hex_text(ByteSpan octets);

class MessageReader {
 public:
  explicit MessageReader(wire::MpaFrameKind startup) : mpa_(startup) {}

  void push(ByteSpan octets);
  // Turns CRC checks on or off; call before the first FPDU arrives.
  void expect_crc(bool on) { crc_ = on; }

  const std::vector<std::uint8_t>& octets() const { return octets_; }
  bool started() const { return startup_bytes() != 0; }
  std::size_t startup_bytes() const { return mpa_.startup_bytes(); }
  // Valid iff started(); its private data is a view into this reader.
  wire::MpaFrame startup() const { return *mpa_.startup(); }

  const std::vector<DdpSegment>& segments() const { return segments_; }
  ByteSpan payload(const DdpSegment& s) const { return ByteSpan(octets_).subspan(s.payload_at, s.payload_bytes); }
  const std::vector<Message>& messages() const { return messages_; }  // in the order of their first segments
  std::size_t whole_messages() const { return whole_messages_; }
  // Octets after the last complete FPDU.
  std::size_t rest() const { return octets_.size() - end_; }
  // The first violation of MPA, DDP or RDMAP; reading ends there.
  const std::string& error() const { return error_; }

 private:
  bool read_startup();
  void read_fpdu(const wire::FpduView& fpdu);
  void take(const DdpSegment& segment);

  capture::MpaStream mpa_;
  bool crc_ = false;
  std::vector<std::uint8_t> octets_;
  std::size_t end_ = 0;  // of the startup frame, then of the newest readable FPDU
  std::vector<DdpSegment> segments_;
  std::vector<Message> messages_;
  std::array<std::optional<std::size_t>, 16> open_;  // by opcode: messages of different kinds may alternate
  std::size_t whole_messages_ = 0;
  std::string error_;
};

}  // namespace rnic::replay

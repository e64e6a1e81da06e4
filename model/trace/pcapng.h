// Captures of Ethernet frames in pcapng (draft-ietf-opsawg-pcapng), which Wireshark opens.
#pragma once

#include <string>
#include <string_view>

#include "model/common/bytes.h"
#include "model/trace/output_file.h"

namespace rnic {

// Seen from the interface, as in the flags word of an Enhanced Packet Block.
enum class Direction : std::uint8_t { kInbound = 1, kOutbound = 2 };

// https://www.tcpdump.org/linktypes.html; trace.md defines the packets of kUser0.
enum class LinkType : std::uint16_t { kEthernet = 1, kUser0 = 147 };

// Little-endian blocks. Timestamps are simulated time in whole nanoseconds (if_tsresol 9), rounded down: at resolutions
// finer than 100 ps Wireshark 4.0 overflows when it converts the fraction of a second, and shows wrong times. Frames
// have no FCS and are never truncated.
class PcapngWriter {
 public:
  // Throws ConfigError if the file cannot be created.
  explicit PcapngWriter(const std::string& file);

  // One interface per tap; may be added at any time before its first frame. Returns its index.
  unsigned add_interface(std::string_view name, LinkType type = LinkType::kEthernet);

  // The comment appears on a separate line in Wireshark; `packet_id` names the packet in all its interfaces, 0: nothing
  // does. Copies into the file's buffer and allocates nothing.
  void write(unsigned interface, std::uint64_t time_ps, ByteSpan frame, Direction direction,
             std::string_view comment = {}, std::uint64_t packet_id = 0);

  // Throws OutputError if anything could not be written.
  void close() { out_.close(); }

 private:
  OutputFile out_;
  unsigned interfaces_ = 0;
};

}  // namespace rnic

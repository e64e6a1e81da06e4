// Finds the FPDUs that are completely in a TCP segment when earlier parts of the stream are missing. See
// early_placement.md.
#pragma once

#include <optional>
#include <vector>

#include "model/common/bytes.h"
#include "model/wire/fpdu.h"

namespace rnic {

class FpduSearch {
 public:
  struct Found {
    std::uint32_t at = 0;     // octets from the segment's start
    std::uint32_t bytes = 0;  // on the wire, markers included
    bool intact = false;      // its CRC32c, if the stream has one, and its markers are correct
  };
  // What the connection has negotiated.
  struct Stream {
    bool markers = false, crc = true;
    bool message = false;  // SCTP: a segment is one ULPDU after its length field
  };

  // `position` is the stream position of the segment's first octet. False: no FPDU's start is proven. Only a marker
  // proves one, for any other octets may be a payload that was made to look like an FPDU.
  bool search(ByteSpan segment, wire::StreamPosition position, Stream stream);
  // Of the last search, in stream order.
  const std::vector<Found>& found() const { return found_; }

 private:
  std::optional<std::uint32_t> by_marker() const;
  std::uint32_t fpdu_bytes_at(std::uint32_t at) const;
  void walk(std::uint32_t at);
  bool intact(const Found& fpdu) const;
  wire::StreamPosition position(std::uint32_t at) const { return position_ + at; }

  ByteSpan segment_;
  wire::StreamPosition position_ = 0;
  Stream stream_;
  std::vector<Found> found_;
};

}  // namespace rnic

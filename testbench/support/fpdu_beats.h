// FPDUs as beats, cut from octets in wire order, for tests of the stages that process them.
#pragma once

#include <cstring>
#include <vector>

#include "model/common/bytes.h"
#include "model/rnic/messages/datapath.h"

namespace rnic::test {

using Bytes = std::vector<std::uint8_t>;

inline Bytes from_hex(std::string_view hex) {
  Bytes out;
  const auto nibble = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  std::string digits;
  for (const char c : hex) {
    if (c != ' ') digits += c;
  }
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    out.push_back(static_cast<std::uint8_t>(nibble(digits[i]) << 4 | nibble(digits[i + 1])));
  }
  return out;
}

// Beats of one FPDU given as it is on the wire; `stream_pos` is the position of its first octet relative to SeqStart.
// Markers, at multiples of 512, are taken out and put beside the words.
inline std::vector<FpduBeat> cut_fpdu(BufferPool& pool, const Bytes& wire, unsigned beat_bytes, bool markers,
                                      std::uint64_t stream_pos, FlowId flow = FlowId{1}) {
  Buffer* buf = pool.take().release();
  std::vector<FpduBeat> beats;
  std::size_t used = 0;
  FpduBeat next;
  const auto close = [&](bool last) {
    next.buf = buf;
    next.flow = flow;
    next.first = beats.empty();
    next.last = last;
    beats.push_back(next);
    next = FpduBeat{};
  };
  for (std::size_t i = 0; i < wire.size(); i += 4) {
    if (next.words * 4u == beat_bytes) close(false);
    if (markers && (stream_pos + i) % 512 == 0) {
      next.marker_lane = next.words;
      std::memcpy(next.marker, &wire[i], 4);
      continue;
    }
    if (next.words == 0) next.data = buf->bytes() + used;
    std::memcpy(buf->bytes() + used, &wire[i], 4);
    used += 4;
    ++next.words;
  }
  close(true);
  return beats;
}

}  // namespace rnic::test

// What early_placement reports to tcp_rx about a segment kept after a hole.
#pragma once

#include <cstdint>

#include "model/common/buffer.h"
#include "model/common/ids.h"
#include "model/wire/ddp.h"
#include "model/wire/fpdu.h"

namespace rnic {

// Represents an FPDU whose payload is in host memory: its length field and its tagged DDP header, without markers. It
// fits a beat of every datapath.
inline constexpr std::uint32_t kPlacedHeaderBytes = wire::kUlpduLengthBytes + wire::DdpTaggedHeader::kBytes;

struct EarlyPlaced {
  FlowId flow;
  std::uint64_t offset = 0;  // in the stream, of the FPDU's first octet
  std::uint32_t bytes = 0;   // on the wire; 0: no FPDU
  BufferRef header;          // kPlacedHeaderBytes from the block's start
  bool last = false;         // nothing more of its segment will be written

  static constexpr const char* kMessage = "early_placed";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("flow", m.flow);
    v("offset", 64, m.offset);
    v("bytes", 32, m.bytes);
    v("last", 1, m.last);
  }
};

}  // namespace rnic

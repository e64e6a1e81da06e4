// A ULPDU on its way from the segmenter to the payload fetch.
#pragma once

#include <array>
#include <cstdint>

#include "model/abi/host_abi.h"
#include "model/abi/memory_piece.h"
#include "model/common/owners.h"
#include "model/common/trace_event.h"
#include "model/rnic/messages/datapath.h"

namespace rnic {

// A ULPDU whose header is written and whose payload is still in host memory, in up to one piece per SGE.
struct UlpduJob {
  using Piece = MemoryPiece;
  Ulpdu ulpdu;
  Qpn qpn;
  std::uint32_t epoch = 0;  // of the QP
  std::uint16_t header_bytes = 0;
  std::uint16_t octets = 0;  // of its lower layer: what it takes of the credit, and of the transmit memory
  std::uint8_t pieces = 0;
  std::array<Piece, abi::kMaxSge> piece;

  static constexpr const char* kMessage = "ulpdu_job";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("ulpdu", m.ulpdu);
    v("qpn", m.qpn);
    v("epoch", 32, m.epoch);
    v("header_bytes", 16, m.header_bytes);
    v("octets", 16, m.octets);
    v("pieces", 8, m.pieces);
    v.each("piece", m.piece);
  }
};
inline EventUse event_of(const UlpduJob& j, const Owners& owners, TraceEvent& e) {
  return event_of(j.ulpdu, owners, e);
}

}  // namespace rnic

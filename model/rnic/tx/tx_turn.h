// A turn of a QP: what its next FPDU needs to know of STags, which is read from their table before it is cut.
#pragma once

#include <array>
#include <cstdint>

#include "model/abi/memory_piece.h"
#include "model/rnic/tx/wqe_check.h"

namespace rnic {

struct TxTurn {
  enum class Needs : std::uint8_t {
    kNothing,
    kElements,  // of its oldest request, which begins
    kSource     // of its Read Response
  };
  Qpn qpn;
  std::uint32_t epoch = 0;
  Needs needs = Needs::kNothing;
  std::uint8_t to_ask = 0, to_judge = 0;           // elements of the list; of a source, bit 0
  abi::WcStatus status = abi::WcStatus::kSuccess;  // of the request, as far as it is judged
  std::array<Stag, abi::kMaxSge> stag;
  std::array<MemoryPiece, abi::kMaxSge> piece;  // of each element that was judged

  // One entry a cycle is asked for, and one is judged, in the order of the list.
  Stag take_to_ask() { return stag[take_first(to_ask)]; }
  void judge(const StagRow* row, const TxContext& ctx, const abi::Wqe& w) {
    const unsigned i = take_first(to_judge);
    if (status != abi::WcStatus::kSuccess) return;  // the first error counts
    const abi::Sge& s = w.sge[i];
    status = check_element(row, ctx, w, s);
    if (status == abi::WcStatus::kSuccess) piece[i] = row->stag.piece(s.lkey, s.address, s.length);
  }
  void skip() { take_first(to_judge); }

 private:
  static unsigned take_first(std::uint8_t& elements) {
    const auto first = static_cast<unsigned>(__builtin_ctz(elements));
    elements = static_cast<std::uint8_t>(elements & (elements - 1));
    return first;
  }
};

}  // namespace rnic

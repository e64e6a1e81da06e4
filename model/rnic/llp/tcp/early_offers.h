// Segments out of order that were offered to early_placement and are not answered completely: writes to memory for
// their octets may be in progress.
#pragma once

#include <cstdint>

#include "model/common/check.h"
#include "model/common/ring.h"
#include "model/rnic/messages/early_placed.h"
#include "model/wire/tcp.h"

namespace rnic {

class EarlyOffers {
 public:
  bool empty() const { return offers_.empty(); }
  void add(FlowId flow, std::uint32_t seq, std::uint32_t bytes, std::uint64_t offset) {
    offers_.push({flow, seq, seq + bytes, offset});
  }
  bool awaits(FlowId flow) const {
    return offers_.any([&](const Offer& o) { return o.is_of(flow); });
  }
  bool awaits(FlowId flow, std::uint32_t seq, std::uint32_t end) const {
    return offers_.any(
        [&](const Offer& o) { return o.is_of(flow) && wire::seq_lt(o.seq, end) && wire::seq_gt(o.end, seq); });
  }
  // An answer, to the flow's oldest offer: the sequence number of the FPDU's first octet. Those of other flows may have
  // been answered before.
  std::uint32_t on_answer(const EarlyPlaced& placed) {
    std::size_t i = 0;
    while (i < offers_.size() && !offers_.at(i).is_of(placed.flow)) ++i;
    RNIC_CHECK(i < offers_.size());
    Offer& offer = offers_.at(i);
    const std::uint32_t seq = offer.seq + static_cast<std::uint32_t>(placed.offset - offer.offset);
    offer.answered = placed.last;
    while (!offers_.empty() && offers_.front().answered) offers_.drop();
    return seq;
  }

 private:
  struct Offer {
    FlowId flow;
    std::uint32_t seq = 0, end = 0;
    std::uint64_t offset = 0;  // in the stream, of `seq`
    bool answered = false;
    bool is_of(FlowId f) const { return flow == f && !answered; }
  };
  Ring<Offer> offers_;
};

}  // namespace rnic

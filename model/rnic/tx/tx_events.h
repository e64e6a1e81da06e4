// What happens to queue pairs, on its way to their rows of the transmit table: the events of a QP stay in their order,
// those of others pass one whose row is fetched.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <variant>

#include "model/abi/tx_internal_work.h"
#include "model/common/ids.h"
#include "model/rnic/context/tx_table.h"
#include "model/rnic/messages/llp.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/requests.h"
#include "model/rnic/messages/stag_work.h"
#include "model/rnic/messages/terminate.h"
#include "model/rnic/messages/work_requests.h"

namespace rnic {

using TxEvent = std::variant<TxUnblock, StagRequestDone, TerminateMessage, TxCredit, ReadWork, AtomicWork, FetchedWqe,
                             TxInternalWork>;

class TxEvents {
 public:
  static constexpr unsigned kPlaces = 16;

  explicit TxEvents(Stage& owner) : row_(owner, "rdmap_segmenter_event", kPlaces, RowOrder::kAsTheyCome) {}
  void bind_to(TxTable& table) { table.bind(row_); }

  bool can_take() { return free_ != 0 && row_.can_ask(); }
  // `epoch`: the use of the QP's number that it is about.
  template <class Event>
  void take(Qpn qpn, std::uint32_t epoch, Event&& event) {
    const auto place = static_cast<unsigned>(__builtin_ctz(free_));
    free_ &= free_ - 1;
    places_[place].epoch = epoch;
    places_[place].event = std::forward<Event>(event);
    row_.ask(qpn.v, place);
  }

  // The oldest one whose row is there.
  bool ready() const { return row_.can_use(); }
  Qpn qpn() const { return Qpn{row_.front().index}; }
  bool ok() const { return row_.ok(); }  // false: the row is lost
  const TxRow& row() const { return row_.row(); }
  std::uint32_t epoch() const { return places_[row_.front().tag].epoch; }
  TxEvent& front() { return places_[row_.front().tag].event; }
  void drop() {
    front() = TxUnblock{};  // a Terminate's buffer is free
    free_ |= 1u << row_.front().tag;
    row_.drop();
  }
  void reset() {
    places_ = {};
    free_ = kAll;
  }

 private:
  static constexpr std::uint32_t kAll = (1u << kPlaces) - 1;
  struct Place {
    std::uint32_t epoch = 0;
    TxEvent event;
  };
  TxTable::Reader row_;
  std::array<Place, kPlaces> places_;
  std::uint32_t free_ = kAll;
};

}  // namespace rnic

// What enters a clock domain from outside (Ethernet, PCIe, another clock), with the time at which it arrives.
#pragma once

#include <utility>

#include "model/common/ring.h"
#include "model/common/stage.h"

namespace rnic {

// One sender, one consuming stage. The sender may be ahead of the consumer or behind it in kernel time; only
// the stamp matters, which must not lie in cycles that the domain has already executed (its lookahead guarantees that).
template <class T>
class Inbox final {
 public:
  explicit Inbox(Stage& consumer) : consumer_(consumer) {}
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Visible to the consumer from the first clock edge at or after at_ps. Stamps never decrease.
  void deliver(T&& item, std::uint64_t at_ps) {
    RNIC_CHECK(queue_.empty() || at_ps >= queue_.back().ps);
    const Cycle at = consumer_.clock().cycle_at_or_after(at_ps);
    Item& slot = queue_.add();
    slot.at = at;
    slot.ps = at_ps;
    slot.item = std::move(item);
    consumer_.wake(at);
  }
  bool can_pop() const { return !queue_.empty() && queue_.front().at <= consumer_.clock().now(); }
  const T& front() const { return queue_.front().item; }
  std::uint64_t front_ps() const { return queue_.front().ps; }
  T pop() {
    RNIC_CHECK(can_pop());
    T item = std::move(queue_.front().item);
    queue_.drop();
    return item;
  }
  bool empty() const { return queue_.empty(); }
  // Loses what waits and what is on its way.
  void clear() { queue_.clear(); }

 private:
  struct Item {
    Cycle at = 0;
    std::uint64_t ps = 0;
    T item{};
  };
  Stage& consumer_;
  Ring<Item> queue_;
};

}  // namespace rnic

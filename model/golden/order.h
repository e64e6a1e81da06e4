// What a device has accepted, until it is known in which order the predictor gets it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "model/golden/races.h"
#include "model/golden/stalls.h"

namespace rnic::golden {

class Order {
 public:
  // Cycles, those without room at an output not counted, in which a device decides: what is not shown by then comes in
  // the order of acceptance. A patient message waits longer.
  Order(Cycle window, Cycle patience) : window_(window), patience_(patience) {}

  void add(Item item);
  bool empty() const { return logs_.empty(); }
  // Whether anything waits that an output of this group may come from.
  bool holds(std::uint64_t group) const;
  std::size_t messages() const { return messages_; }
  Cycle oldest() const;  // the cycle of its oldest item; kNever if there is none
  template <class Good>
  const Item* find(Good good) const {
    for (const auto& [group, log] : logs_) {
      const auto item = std::find_if(log.begin(), log.end(), good);
      if (item != log.end()) return &*item;
    }
    return nullptr;
  }

  const Item* oldest_message(std::uint64_t group) const;
  // What comes next for an output of `group` that shows this; nothing if that waits for other outputs.
  std::optional<Item> next(std::uint64_t group, Shown shown, const Races& races);
  // What comes next because its time has come. A patient message has no age in `waits`.
  std::optional<Item> due(Cycle now, const Stalls& stalls, const Stalls& waits, const Races& races);
  // What comes next as the device is at rest.
  std::optional<Item> rest(const Races& races);

 private:
  using Log = std::deque<Item>;
  struct Timer {
    std::uint64_t group, number;
  };
  Item take(const Item& item);
  bool has_message_before(const Item& item) const;
  template <class Good>
  const Item* first(std::uint64_t group, Good good) const;

  const Cycle window_, patience_;
  std::map<std::uint64_t, Log> logs_;   // by group; none is empty
  std::multimap<Cycle, Timer> timers_;  // of all items
  std::uint64_t accepted_ = 0;
  std::size_t messages_ = 0;
};

}  // namespace rnic::golden

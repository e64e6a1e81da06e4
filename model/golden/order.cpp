#include "model/golden/order.h"

#include <algorithm>

namespace rnic::golden {

void Order::add(Item item) {
  item.number = ++accepted_;
  messages_ += item.is_message;
  timers_.emplace(item.cycle + window_, Timer{item.group, item.number});
  logs_[item.group].push_back(std::move(item));
}

bool Order::holds(std::uint64_t group) const {
  if (group == kAllGroups) return !empty();
  return logs_.count(group) != 0 || logs_.count(kAllGroups) != 0;
}

Cycle Order::oldest() const {
  Cycle oldest = kNever;
  for (const auto& [group, log] : logs_) oldest = std::min(oldest, log.front().cycle);
  return oldest;
}

template <class Good>
const Item* Order::first(std::uint64_t group, Good good) const {
  const auto log = logs_.find(group);
  if (log == logs_.end()) return nullptr;
  const auto item = std::find_if(log->second.begin(), log->second.end(), good);
  return item == log->second.end() ? nullptr : &*item;
}

Item Order::take(const Item& which) {
  const auto log = logs_.find(which.group);
  const auto is_it = [number = which.number](const auto& item) { return item.number == number; };
  const auto at = std::find_if(log->second.begin(), log->second.end(), is_it);
  Item item = std::move(*at);
  log->second.erase(at);
  if (log->second.empty()) logs_.erase(log);
  messages_ -= item.is_message;
  timers_.erase(std::find_if(timers_.begin(), timers_.end(), [&](const auto& timer) { return is_it(timer.second); }));
  return item;
}

const Item* Order::oldest_message(std::uint64_t group) const {
  const auto is_message = [](const Item& item) { return item.is_message; };
  if (group != kAllGroups) return first(group, is_message);
  const Item* oldest = nullptr;
  for (const auto& [each, log] : logs_) {
    const Item* const message = first(each, is_message);
    if (message != nullptr && (oldest == nullptr || message->number < oldest->number)) oldest = message;
  }
  return oldest;
}

bool Order::has_message_before(const Item& item) const {
  const Item* const oldest = oldest_message(kAllGroups);
  return oldest != nullptr && oldest->number < item.number;
}

// The oldest control of the group, or of all, that comes before the message; then the message.
std::optional<Item> Order::next(std::uint64_t group, Shown shown, const Races& races) {
  const Item* const message = oldest_message(group);
  const auto comes_first = [&](const Item& item) {
    if (item.is_message) return false;
    if (message != nullptr && shown == Shown::kPassed) return item.number < message->number;
    return message == nullptr || shown == Shown::kControl || goes_first(races.role(item, message, *this), shown);
  };
  // Nothing passes a row that comes later: it may be of the next use of the number.
  const auto stops = [&](const Item& item) {
    return comes_first(item) || (item.table != nullptr && message != nullptr);
  };
  const Item* control = first(message == nullptr ? group : message->group, stops);
  if (control != nullptr && !comes_first(*control)) control = nullptr;
  const Item* const other = first(kAllGroups, comes_first);
  if (other != nullptr && (control == nullptr || other->number < control->number)) control = other;
  if (control != nullptr) return take(*control);
  if (message == nullptr || shown == Shown::kControl) return std::nullopt;
  return take(*message);
}

std::optional<Item> Order::due(Cycle now, const Stalls& stalls, const Stalls& waits, const Races& races) {
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const Timer timer = timers_.begin()->second;
    const Item& item = *first(timer.group, [&](const Item& each) { return each.number == timer.number; });
    // Itself, or the one that it is behind.
    const auto is_message = [](const Item& each) { return each.is_message; };
    const bool is_patient = item.is_message && races.is_patient(*first(timer.group, is_message));
    const Cycle all = now - item.cycle;
    const Cycle age = all - std::min(all, (is_patient ? waits : stalls).since(item.cycle));
    const Cycle wait = is_patient ? patience_ : window_;
    const bool follows = !item.is_message && races.follows_messages(item) && has_message_before(item);
    if (follows) {
      timers_.erase(timers_.begin());
      timers_.emplace(now + window_, timer);
      continue;
    }
    if (age >= wait && item.is_message) return next(item.group, Shown::kNothing, races);
    if (age >= wait) return take(*first(timer.group, [](const Item& each) { return !each.is_message; }));
    timers_.erase(timers_.begin());
    timers_.emplace(now + std::min(wait - age, window_), timer);  // it may lose its patience before
  }
  return std::nullopt;
}

std::optional<Item> Order::rest(const Races& races) {
  if (auto item = next(kAllGroups, Shown::kNothing, races)) return item;
  if (empty()) return std::nullopt;
  return take(logs_.begin()->second.front());
}

}  // namespace rnic::golden

#include "model/trace/event_stream.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "model/common/check.h"

namespace rnic {

EventStream::EventStream(std::vector<std::string> nodes) : nodes_(std::move(nodes)) {
  for (const std::string& node : nodes_) {
    ranks_.push_back(static_cast<std::uint32_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [&](const std::string& other) { return other < node; })));
  }
}

std::uint32_t EventStream::node_of(const TraceDomain& domain) {
  for (const auto& [known, node] : domains_) {
    if (known == &domain) return node;
  }
  const auto found = std::find(nodes_.begin(), nodes_.end(), domain.name);
  RNIC_CHECK_MSG(found != nodes_.end(), domain.name, " is no node of this run");
  domains_.emplace_back(&domain, static_cast<std::uint32_t>(found - nodes_.begin()));
  return domains_.back().second;
}

void EventStream::event(const TraceDomain& domain, const TraceEvent& event) {
  const std::uint64_t ps = event.cycle * domain.period_ps;
  RNIC_CHECK_MSG(ps >= read_until_ps_, std::string(event.where) + ": an event was recorded too late to be in order");
  waiting_.push_back({ps, node_of(domain), event});
}

bool EventStream::before(const TimedEvent& a, const TimedEvent& b) const {
  const auto key = [this](const TimedEvent& t) {
    const TraceEvent& e = t.event;
    return std::make_tuple(ranks_[t.node], e.kind, e.flow, e.qpn, e.bytes, e.values, e.request, e.receive, e.facts);
  };
  const auto ka = key(a), kb = key(b);
  if (ka != kb) return ka < kb;
  const int places = std::strcmp(a.event.where, b.event.where);
  return places != 0 ? places < 0 : a.event.offset < b.event.offset;
}

void EventStream::advance(std::uint64_t ps) {
  keys_.clear();
  later_.clear();
  for (const TimedEvent& t : waiting_) {
    if (t.ps < ps) keys_.push_back({t.ps, static_cast<std::uint32_t>(&t - waiting_.data())});
    else later_.push_back(t);
  }
  read_until_ps_ = ps;
  if (keys_.empty()) return;
  std::sort(keys_.begin(), keys_.end(), [this](const Key& a, const Key& b) {
    return a.ps != b.ps ? a.ps < b.ps : before(waiting_[a.index], waiting_[b.index]);
  });
  batch_.clear();
  for (const Key& k : keys_) batch_.push_back(waiting_[k.index]);
  waiting_.swap(later_);
  for (EventReader* reader : readers_) reader->events(batch_);
}

}  // namespace rnic

#include "model/golden/run/kept_events.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "model/common/cited.h"
#include "model/config/nearest.h"
#include "model/golden/abi/rnic_run.h"
#include "model/golden/status.h"
#include "model/system/event_words.h"
#include "model/trace/transaction_log.h"

namespace rnic::golden {
namespace {

static_assert(RNIC_NO_NUMBER == TraceEvent::kNone);

unsigned kind_named(const char* name) {
  std::vector<std::string> names;
  for (unsigned kind = 0; kind < kTraceKinds; ++kind) {
    names.emplace_back(to_string(static_cast<TraceKind>(kind)));
    if (names.back() == name) return kind;
  }
  throw Error(RNIC_E_NAME,
              fmt::format("no kind of event \"{}\"; the nearest is \"{}\"", cited(name), nearest(name, names)));
}

}  // namespace

void KeptEvents::events(const std::vector<TimedEvent>& batch) {
  for (const TimedEvent& t : batch) {
    of_kind_[static_cast<unsigned>(t.event.kind)].push_back(static_cast<std::uint32_t>(all_.size()));
    all_.push_back(t);
  }
}

const TimedEvent* KeptEvents::find(const char* kind, std::uint64_t i) const {
  if (kind == nullptr) return i < all_.size() ? &all_[i] : nullptr;
  const std::vector<std::uint32_t>& of_kind = of_kind_[kind_named(kind)];
  return i < of_kind.size() ? &all_[of_kind[i]] : nullptr;
}

void KeptEvents::show(const TimedEvent& t, rnic_event& event) {
  const TraceEvent& e = t.event;
  const auto text = [this](RequestId id) { return id ? id.text(nodes_) : std::string(); };
  request_ = text(e.request);
  receive_ = text(e.receive);
  words_ = is_tlp(e.kind) ? tlp_words(e) : trace_words(e);
  event.time_ps = t.ps;
  event.flow = e.flow.v;
  event.qpn = e.qpn;
  event.bytes = e.bytes;
  event.offset = e.offset;
  event.node = nodes_[t.node].c_str();
  event.where = e.where;
  event.kind = to_string(e.kind);
  event.request = request_.c_str();
  event.receive = receive_.c_str();
  event.words = words_.c_str();
}

}  // namespace rnic::golden

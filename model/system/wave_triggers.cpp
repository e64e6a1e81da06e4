#include "model/system/wave_triggers.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/config/nearest.h"
#include "model/system/system.h"

namespace rnic {
namespace {

constexpr const char *kRetransmit = "retransmit", *kTerminate = "terminate", *kCheckFail = "check-fail",
                     *kQp = "qp=", *kRequest = "request=";

bool take(std::string& text, const std::string& prefix) {
  if (text.compare(0, prefix.size(), prefix) != 0) return false;
  text.erase(0, prefix.size());
  return true;
}

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw ConfigError(fmt::format("--wave-on {}: {}", text, why));
}

// Refuses a name that is not a node's.
const Station& station(const std::string& text, const std::string& name, const std::vector<Station>& stations) {
  for (const Station& s : stations) {
    if (s.name == name) return s;
  }
  refuse(text, fmt::format("there is no node '{}'; the nearest is {}", name, nearest(name, node_names(stations))));
}

}  // namespace

WaveTriggers::WaveTriggers(const std::vector<std::string>& on, const std::vector<Station>& stations) {
  for (const std::string& text : on) {
    if (text == kCheckFail) on_failed_check_ = true;
    else triggers_.push_back(parse(text, stations));
  }
}

WaveTriggers::Trigger WaveTriggers::parse(const std::string& text, const std::vector<Station>& stations) {
  Trigger trigger;
  trigger.text = text;
  std::string rest = text;
  if (text == kRetransmit) {
    trigger.kind = TraceKind::kRetransmitted;
  } else if (text == kTerminate) {
    trigger.kind = TraceKind::kTerminated;
  } else if (take(rest, kQp)) {
    std::uint32_t most = 0;
    for (const Station& s : stations) most = std::max(most, s.parts.queue_pairs->queue_pairs());
    if (const std::size_t dot = rest.find('.'); dot != std::string::npos) {
      const std::string node = rest.substr(0, dot);
      const Station& s = station(text, node, stations);
      trigger.node = s.name;
      most = s.parts.queue_pairs->queue_pairs();
      rest.erase(0, dot + 1);
    }
    std::uint32_t qpn = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), qpn);
    if (error != std::errc{} || end != rest.data() + rest.size()) {
      refuse(text, "a queue pair is a number, or a node and a number: qp=3, qp=a.3");
    }
    if (qpn >= most) refuse(text, fmt::format("there are queue pairs 0 to {}; the nearest is {}", most - 1, most - 1));
    trigger.qpn = qpn;
  } else if (take(rest, kRequest)) {
    const std::optional<RequestId> request = RequestId::parse(rest, node_names(stations));
    if (!request) {
      station(text, rest.substr(0, rest.find('.')), stations);
      refuse(text, "a request is named as in the transaction log: request=a.3.17");
    }
    trigger.request = *request;
  } else {
    const std::vector<std::string> known{kRetransmit, kTerminate, kCheckFail, "qp=N", "request=ID"};
    refuse(text, fmt::format("unknown; the nearest is {}", nearest(text, known)));
  }
  return trigger;
}

void WaveTriggers::event(const TraceDomain& domain, const TraceEvent& event) {
  const std::uint64_t ps = event.cycle * domain.period_ps;
  for (Trigger& t : triggers_) {
    const bool is_it = t.kind      ? event.kind == *t.kind
                       : t.request ? event.request == t.request || event.receive == t.request
                                   : event.qpn == t.qpn && (t.node.empty() || t.node == domain.name);
    if (is_it && ps < t.first_ps.value_or(UINT64_MAX)) t.first_ps = ps;
  }
}

std::optional<std::uint64_t> WaveTriggers::fired_ps() const {
  std::optional<std::uint64_t> earliest;
  for (const Trigger& t : triggers_) {
    if (t.first_ps && (!earliest || *t.first_ps < *earliest)) earliest = t.first_ps;
  }
  return earliest;
}

std::string WaveTriggers::fired() const {
  std::string text;
  const std::optional<std::uint64_t> ps = fired_ps();
  for (const Trigger& t : triggers_) {
    if (ps && t.first_ps == ps) text += (text.empty() ? "" : " and ") + t.text;
  }
  return text;
}

}  // namespace rnic

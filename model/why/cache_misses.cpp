#include "model/why/cache_misses.h"

#include <set>

#include <fmt/format.h>

#include "model/why/spans.h"

namespace rnic::why {
namespace {

constexpr unsigned kContextsOfQueuePairs = 3;  // ContextKind, in the texts of owners

constexpr unsigned kTold = 3;  // misses, in the chain

// What happened to the context of a queue pair until a request was polled.
std::vector<EventRow> events_of(const Rows& rows, const std::string& context, const RequestRow& request) {
  return rows.events(
      fmt::format("request = (SELECT id FROM requests WHERE text = {}) AND id <= {} AND kind IN ('missed', 'evicted', "
                  "'tlp_completion')",
                  quoted(context), request.last_event));
}

// Queue pairs of a node whose contexts were not there at a time.
std::size_t contexts(const Rows& rows, const std::string& node) {
  std::set<std::uint64_t> seen;
  for (const EventRow& e : rows.events(fmt::format(
           "kind = 'missed' AND node = {} AND (place GLOB '*.tx_table' OR place GLOB '*.rx_table')", quoted(node)))) {
    if (e.request) seen.insert(*e.request);
  }
  return seen.size();
}

}  // namespace

std::optional<Candidate> missed_context(const Rows& rows, const Passage& passage, const std::string& node,
                                        std::uint64_t from_ps) {
  const auto qp = passage.queue_pair(node);
  if (!qp || !rows.has_kind("missed")) return std::nullopt;
  const std::string context = fmt::format("{}.ctx{}.{}", node, kContextsOfQueuePairs, *qp);
  const RequestRow& request = passage.request();
  Spans away;
  unsigned times = 0;
  std::vector<Step> chain;
  const EventRow *evicted = nullptr, *missed = nullptr;
  const auto events = events_of(rows, context, request);
  for (const EventRow& e : events) {
    if (e.kind == "evicted") evicted = &e;
    if (e.kind == "missed") missed = &e;
    if (e.kind != "tlp_completion" || missed == nullptr) continue;
    away.add(missed->ps, e.ps);
    if (e.ps > from_ps && ++times <= kTold) {
      if (evicted != nullptr) chain.push_back({evicted->ps, node, context + " evicted: " + evicted->words, {}});
      chain.push_back({missed->ps, node, context + " missed: " + missed->words, {}});
      chain.push_back({e.ps, node, context + " is there", {}});
    }
    missed = evicted = nullptr;
  }
  const std::uint64_t ps = away.within(from_ps, request.polled_ps);
  if (ps == 0) return std::nullopt;
  const std::string text = fmt::format(
      "the context of queue pair {} of {} was not on the chip: {} times, for {:.3f} us in all; {} queue pairs missed "
      "theirs, and {} have room",
      *qp, node, times, in_us(ps), contexts(rows, node), rows.number_of(node, "rnic.context.cache.qp.entries"));
  Candidate c = by_setting(ps, "cache", text, fmt::format("nodes.{}.rnic.context.cache.qp.entries", node));
  c.chain = std::move(chain);
  return c;
}

}  // namespace rnic::why

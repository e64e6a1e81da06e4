#include "model/why/slow_requests.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "model/common/check.h"

namespace rnic::why {
namespace {

std::string pair_of_event(const EventRow& event) { return fmt::format("{}.{}", event.node, event.qpn.value_or(0)); }

constexpr const char* kDriver = "driver, doorbell and fetch";
constexpr const char* kEarlier = "earlier requests and other queue pairs";

}  // namespace

std::string shown(const std::string& reason) {
  if (reason == "ord") return "ORD";
  if (reason == "credit") return "TCP credit";
  if (reason == "sctp_credit") return "SCTP credit";
  if (reason == "first_fpdu") return "first FPDU of the peer";
  return reason;
}

SlowRequests::SlowRequests(const Rows& rows) : rows_(rows) {
  for (const RequestRow& row : rows.requests()) {
    Life life;
    life.row = row;
    life.queue = queue_of(row.text);
    life.pair = life.queue.substr(0, life.queue.find('#'));
    life.node = node_of(row.text);
    by_number_[row.number] = lives_.size();
    lives_.push_back(std::move(life));
  }
  read_stations();
  put_in_order();
}

void SlowRequests::read_stations() {
  const auto events = rows_.events("kind IN ('wqe_fetched', 'segmented', 'completed', 'waits', 'window', 'reduced')");
  for (const EventRow& e : events) {
    if (e.kind == "waits") waits_[pair_of_event(e)].push_back({e.ps, e.words});
    if (e.kind == "window") windows_[pair_of_event(e)].push_back({e.ps, e.words});
    if (e.kind == "reduced") reductions_[pair_of_event(e)].push_back({e.ps, e.words});
    const auto found = e.request ? by_number_.find(*e.request) : by_number_.end();
    if (found == by_number_.end()) continue;
    Life& life = lives_[found->second];
    if (e.node != life.node) continue;
    if (e.kind == "wqe_fetched") {
      life.fetched_ps = e.ps;
      life.operation = e.words;
    } else if (e.kind == "segmented") {
      if (life.first_cut_ps == 0) life.first_cut_ps = e.ps;
      life.last_cut_ps = e.ps;
    } else if (e.kind == "completed") {
      life.done_ps = e.ps;
      life.bytes = e.bytes.value_or(0);
    }
  }
}

// A request has its turn when it is posted and the one before it on its queue is cut.
void SlowRequests::put_in_order() {
  const Life* before = nullptr;
  for (Life& life : lives_) {
    const bool same = before != nullptr && before->queue == life.queue;
    std::uint64_t at = life.row.posted_ps;
    const auto follow = [&](std::uint64_t& station) {
      at = station = std::min(std::max(station, at), life.row.polled_ps);
    };
    life.turn_ps = std::min(std::max(at, same ? before->last_cut_ps : 0), life.row.polled_ps);
    follow(life.fetched_ps);
    follow(life.first_cut_ps);
    follow(life.last_cut_ps);
    follow(life.done_ps);
    before = &life;
  }
}

std::map<std::string, std::uint64_t> SlowRequests::reasons(const std::string& queue, std::uint64_t from,
                                                           std::uint64_t to) const {
  std::map<std::string, std::uint64_t> sums;
  const auto found = waits_.find(queue);
  if (found == waits_.end()) return sums;
  const std::vector<Change>& changes = found->second;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::uint64_t end = i + 1 < changes.size() ? changes[i + 1].ps : to;
    const std::uint64_t begin = std::max(changes[i].ps, from), until = std::min(end, to);
    if (changes[i].words != "nothing" && begin < until) sums[changes[i].words] += until - begin;
  }
  return sums;
}

// They add up to the time until it was polled. What a repair took is no part of the stages that it held.
std::vector<Wait> SlowRequests::waits_of(const Life& life, const Passage& passage, std::uint64_t since) const {
  std::vector<Wait> waits;
  const auto add = [&](const std::string& name, std::uint64_t ps) {
    if (ps == 0) return;
    const auto known = std::find_if(waits.begin(), waits.end(), [&](const Wait& w) { return w.name == name; });
    if (known != waits.end()) known->ps += ps;
    else waits.push_back({name, ps});
  };
  const auto after = [since](std::uint64_t from, std::uint64_t to) {
    const std::uint64_t begin = std::max(from, since);
    return to > begin ? to - begin : 0;
  };
  const auto split = [&](const char* rest, std::uint64_t from, std::uint64_t to) {
    std::uint64_t left = after(from, to);
    for (const auto& [reason, ps] : reasons(life.pair, std::max(from, since), to)) {
      add(shown(reason), ps);
      left -= ps;
    }
    add(rest, left);
  };
  split(kDriver, life.row.posted_ps, life.fetched_ps);
  split(kEarlier, life.fetched_ps, life.first_cut_ps);
  split("cutting", life.first_cut_ps, life.last_cut_ps);
  Spans repair;
  const std::uint64_t sent = passage.once(life.node, "frame_sent");
  if (const auto longest = longest_repair(life, std::max(sent, since)))
    repair.add(longest->first.from, longest->first.to);
  for (const Part& part : parts_of(rows_, passage, life.last_cut_ps)) {
    const std::uint64_t repaired = repair.within(std::max(part.from_ps, since), part.to_ps);
    add("retransmission", repaired);
    add(part.name, after(part.from_ps, part.to_ps) - repaired);
  }
  return waits;
}

bool SlowRequests::is_of(const Life& life, const EventRow& again) const {
  return queue_of(rows_.text_of(*again.request)) == life.queue;
}

std::optional<std::pair<Span, Candidate>> SlowRequests::longest_repair(const Life& life, std::uint64_t from) const {
  std::optional<std::pair<Span, Candidate>> longest;
  for (const EventRow& again : rows_.sent_again()) {
    if (again.ps <= from || again.ps > life.row.polled_ps) continue;
    if (!is_of(life, again)) continue;
    const Repair repair = repair_of(rows_, again);
    const Span span{std::max(repair.sent_ps, from), again.ps};
    const std::uint64_t ps = span.to > span.from ? span.to - span.from : 0;
    if (!longest || ps > longest->second.ps) longest = {span, Candidate{ps, repair.cause, repair.chain}};
  }
  return longest;
}

const SlowRequests::Change* SlowRequests::last_before(const std::map<std::string, std::vector<Change>>& changes,
                                                      const std::string& queue, std::uint64_t at) {
  const auto found = changes.find(queue);
  if (found == changes.end()) return nullptr;
  const auto after = std::upper_bound(found->second.begin(), found->second.end(), at,
                                      [](std::uint64_t ps, const Change& change) { return ps < change.ps; });
  return after == found->second.begin() ? nullptr : &*std::prev(after);
}

Answer SlowRequests::answer(const Life& life, Symptom symptom) const {
  Answer a;
  a.symptom = symptom;
  a.node = life.node;
  a.request = life.row.text;
  a.from_ps = symptom == Symptom::kSlowInTurn ? life.turn_ps : life.row.posted_ps;
  a.to_ps = life.row.polled_ps;
  a.text = life.operation;
  const Passage passage(rows_, life.row, life.node);
  a.waits = waits_of(life, passage, a.from_ps);
  std::vector<Candidate> found;
  for (const auto& [reason, ps] : reasons(life.pair, a.from_ps, life.last_cut_ps)) {
    found.push_back(limit(life, reason, ps));
  }
  if (symptom == Symptom::kSlow) {
    if (auto busy = core(life, life.row.posted_ps, life.fetched_ps, "its doorbell was rung")) {
      found.push_back(*std::move(busy));
    }
  }
  if (auto repair = longest_repair(life, a.from_ps)) found.push_back(std::move(repair->second));
  add_stages(life, passage, a.from_ps, found);
  follow_window(life, passage, found);
  std::stable_sort(found.begin(), found.end(), [](const Candidate& x, const Candidate& y) { return x.ps > y.ps; });
  for (Candidate& c : found) {
    if (!matters(c.ps, a.to_ps - a.from_ps)) break;
    const auto is_it = [&](const Cause& known) { return known.text == c.cause.text; };
    if (!a.cause) {
      a.cause = std::move(c.cause);
      a.chain = std::move(c.chain);
    } else if (!is_it(*a.cause) && std::none_of(a.also.begin(), a.also.end(), is_it)) {
      a.also.push_back(std::move(c.cause));
    }
  }
  return a;
}

std::vector<Answer> SlowRequests::slowest() const {
  if (lives_.empty()) return {};
  const auto longest = [&](auto time) {
    return &*std::max_element(lives_.begin(), lives_.end(),
                              [&](const Life& a, const Life& b) { return time(a) < time(b); });
  };
  const Life* by_clock = longest([](const Life& l) { return l.row.polled_ps - l.row.posted_ps; });
  const Life* in_turn = longest([](const Life& l) { return l.row.polled_ps - l.turn_ps; });
  return {answer(*by_clock, Symptom::kSlow), answer(*in_turn, Symptom::kSlowInTurn)};
}

Answer SlowRequests::of(const std::string& request) const {
  for (const Life& life : lives_) {
    if (life.row.text == request) return answer(life, Symptom::kSlow);
  }
  throw ConfigError("explain: the run has no request '" + request + "' that was posted and polled" +
                    (lives_.empty() ? "" : "; there are " + lives_.front().row.text + " to " + lives_.back().row.text));
}

}  // namespace rnic::why

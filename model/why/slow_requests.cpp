#include "model/why/slow_requests.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/why/cache_misses.h"
#include "model/why/payload_reads.h"
#include "model/why/receivers.h"
#include "model/why/state.h"

namespace rnic::why {
namespace {

std::string pair_of_event(const EventRow& event) { return fmt::format("{}.{}", event.node, event.qpn.value_or(0)); }

constexpr const char* kDriver = "driver, doorbell and fetch";
constexpr const char* kEarlier = "earlier requests and other queue pairs";

// The words of `waits` events as a report shows them.
std::string shown(const std::string& reason) {
  if (reason == "ord") return "ORD";
  if (reason == "credit") return "TCP credit";
  if (reason == "first_fpdu") return "first FPDU of the peer";
  return reason;
}

}  // namespace

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

std::uint64_t SlowRequests::last_wait_ends(const Life& life, const std::string& reason) const {
  std::uint64_t at = life.row.posted_ps;
  const std::vector<Change>& changes = waits_.at(life.pair);
  for (std::size_t i = 0; i + 1 < changes.size() && changes[i].ps < life.last_cut_ps; ++i) {
    if (changes[i].words == reason) at = std::min(changes[i + 1].ps, life.last_cut_ps);
  }
  return at;
}

// The window that bounded the sender then.
Candidate SlowRequests::window(const Life& life, std::uint64_t ps, std::uint64_t at) const {
  const Change* const last = last_before(windows_, life.pair, at);
  if (last == nullptr) {
    return {ps, {End::kNotRecorded, "window", "which window was used up: only TCP records its windows", {}, {}}, {}};
  }
  if (last->words.rfind("congestion", 0) == 0) return reduced_window(life, ps, at);
  const Step step{last->ps, life.node, last->words, {}, state_of(last->words)};
  return {ps, {End::kSetting, "window", last->words, {}, "rnic.tcp.window_bytes"}, {step}};
}

// A congestion window: since when it is that small, and why.
Candidate SlowRequests::reduced_window(const Life& life, std::uint64_t ps, std::uint64_t at) const {
  const Change* const last = last_before(reductions_, life.pair, at);
  if (last == nullptr) return {ps, {End::kStart, "slow_start", "the congestion window had not grown yet", {}, {}}, {}};
  const Step step{last->ps, life.node, "congestion window reduced, " + last->words, {}, state_of(last->words)};
  if (last->words.rfind("congestion echo", 0) == 0) {
    const auto marks =
        rows_.events(fmt::format("kind = 'ce_marked' AND node = {} AND time_ps <= {}", quoted(life.node), last->ps));
    if (marks.empty()) return {ps, {End::kNotRecorded, "mark", "who marked", {}, {}}, {step}};
    const EventRow& mark = marks.back();
    const auto frame = rows_.number(mark.node, serial_of(mark.words));
    return {ps, by_cable(mark.kind, mark.words, frame.value_or(0)), {{mark.ps, mark.node, mark.words, frame}, step}};
  }
  for (const EventRow& again : rows_.sent_again()) {
    if (again.node != life.node || again.ps < last->ps || !is_of(life, again)) continue;
    Repair repair = repair_of(rows_, again);
    repair.chain.push_back(step);
    return {ps, std::move(repair.cause), std::move(repair.chain)};
  }
  return {ps, {End::kStart, "idle", last->words, {}, {}}, {step}};
}

Candidate SlowRequests::limit(const Life& life, const std::string& reason, std::uint64_t ps) const {
  if (reason == "credit") return window(life, ps, last_wait_ends(life, reason));
  if (reason == "ord") {
    return {ps,
            {End::kSetting,
             "ord",
             fmt::format("ORD: its queue waited {:.3f} us for answers to earlier Reads and atomics", in_us(ps)),
             {},
             "connections.*.ord"},
            {}};
  }
  if (reason == "fence") return fence(life, ps);
  if (reason == "first_fpdu") {
    return {
        ps, {End::kPeer, "first_fpdu", "the responder of MPA may not send before the peer's first FPDU", {}, {}}, {}};
  }
  return {ps, {End::kSetting, reason, shown(reason) + " was used up", {}, {}}, {}};
}

// It waits for the Reads and atomics that were posted before it, the last of which is named.
Candidate SlowRequests::fence(const Life& life, std::uint64_t ps) const {
  const std::uint64_t ends = last_wait_ends(life, "fence");
  const Life* last = nullptr;
  for (const Life& other : lives_) {
    if (other.queue != life.queue || other.row.number >= life.row.number) continue;
    const bool is_answered = other.operation.rfind("read", 0) == 0 || other.operation == "fetch and add" ||
                             other.operation == "compare and swap";
    if (!is_answered || other.done_ps == 0 || other.first_cut_ps > ends) continue;
    if (last == nullptr || other.done_ps > last->done_ps) last = &other;
  }
  if (last == nullptr) {
    return {ps, {End::kNotRecorded, "fence", "which Read a fence waited for", {}, {}}, {}};
  }
  const auto& frames = rows_.frames(life.node, last->row.number, 0);
  const auto frame = frames.empty() ? std::nullopt : std::optional(frames.front().number);
  const std::string text = fmt::format("a fence: its queue waited {:.3f} us for the Reads before it, the last {}",
                                       in_us(ps), last->row.text);
  return {ps,
          {End::kProgram, "fence", text, frame, "work.*.fence_every"},
          {{last->first_cut_ps, life.node, last->row.text + " cut", frame},
           {last->done_ps, life.node, last->row.text + " completed", {}}}};
}

// The core whose work was most of a stretch of time, if one was.
std::optional<Candidate> SlowRequests::core(const Life& life, std::uint64_t from, std::uint64_t to,
                                            const char* until) const {
  std::map<std::string, std::uint64_t> busy;
  for (const EventRow& e :
       rows_.events(fmt::format("kind = 'worked' AND node = {} AND time_ps < {}", quoted(life.node), to))) {
    const std::uint64_t begin = std::max(e.ps, from);
    const std::uint64_t end = std::min<std::uint64_t>(e.ps + std::strtoull(e.words.c_str(), nullptr, 10), to);
    if (begin < end) busy[e.place] += end - begin;
  }
  const auto most =
      std::max_element(busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == busy.end() || 2 * most->second < to - from) return std::nullopt;
  const std::string text =
      fmt::format("{} of {} worked for {:.3f} us before {}", most->first, life.node, in_us(most->second), until);
  return Candidate{to - from, {End::kProgram, "core", text, {}, "nodes.*.host.cpu"}, {}};
}

// It was fetched, and its queue pair waited for nothing but its turn: whose segments were cut meanwhile.
std::optional<Candidate> SlowRequests::others_turn(const Life& life, std::uint64_t from) const {
  constexpr std::uint64_t kPerQueue = 1u << 28;  // requests of a queue have adjacent numbers
  const std::uint64_t begin = std::max(from, life.fetched_ps), end = life.last_cut_ps;
  std::map<std::uint64_t, std::pair<unsigned, std::uint64_t>> cut;  // by queue: segments, and the request of one
  unsigned all = 0, others = 0;
  for (const EventRow& e : rows_.events(
           fmt::format("id BETWEEN {} AND {} AND kind = 'segmented' AND node = {} AND time_ps > {} AND time_ps <= {}",
                       life.row.first_event, life.row.last_event, quoted(life.node), begin, end))) {
    ++all;
    if (!e.request || *e.request / kPerQueue == life.row.number / kPerQueue) continue;
    auto& [segments, request] = cut[*e.request / kPerQueue];
    ++segments, ++others;
    request = *e.request;
  }
  if (all == 0 || 2 * others < all) return std::nullopt;
  std::uint64_t waited = end - begin;
  for (const auto& [reason, ps] : reasons(life.pair, begin, end)) waited -= ps;
  const auto most =
      std::max_element(cut.begin(), cut.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto& [segments, request] = most->second;
  const std::string text = fmt::format(
      "turns of {} other queues of {}: {} of {} segments that were cut meanwhile were theirs, {} those of {}",
      cut.size(), life.node, others, all, segments, queue_of(rows_.text_of(request)));
  return Candidate{waited, {End::kProgram, "other_queue_pairs", text, {}, "connections.*.qps"}, {}};
}

// Its completion was there, and the program looked again after its interval.
std::optional<Candidate> SlowRequests::poll(const Life& life, const Passage& passage) const {
  const std::uint64_t written = passage.last(life.node, "cqe_written");
  if (written == 0 || written >= life.row.polled_ps) return std::nullopt;
  const std::uint64_t ps = life.row.polled_ps - written;
  const std::uint64_t interval = rows_.number_of(life.node, "host.cpu.poll_interval_ns") * 1000;
  if (2 * interval < ps) return core(life, written, life.row.polled_ps, "it was polled");
  Candidate c = by_setting(std::min(ps, interval), "poll_interval",
                           fmt::format("its completion waited {:.3f} us for the program to poll, which it does every "
                                       "{:.3f} us",
                                       in_us(ps), in_us(interval)),
                           fmt::format("nodes.{}.host.cpu.poll_interval_ns", life.node));
  c.chain = {{written, life.node, life.row.text + ": CQE written", {}}, {life.row.polled_ps, life.node, "polled", {}}};
  return c;
}

// What held it in the stages of both chips, and on the way back.
void SlowRequests::add_stages(const Life& life, const Passage& passage, std::uint64_t from,
                              std::vector<Candidate>& found) const {
  const auto add = [&](std::optional<Candidate> c) {
    if (c) found.push_back(*std::move(c));
  };
  const std::string& peer = passage.peer();
  add(others_turn(life, from));
  add(held_payload(rows_, life.row, life.node, std::max(from, life.fetched_ps)));
  add(poll(life, passage));
  add(missed_context(rows_, passage, life.node, from));
  if (peer.empty()) return;
  add(missed_context(rows_, passage, peer, from));
  const std::uint64_t whole = life.row.polled_ps - from;
  add(held_frames(rows_, passage, life.node, peer, whole));
  if (!passage.is_answered()) {  // an acknowledgement that waited for a repair was not delayed by its timer
    if (!longest_repair(life, passage.once(life.node, "frame_sent"))) add(delayed_ack(rows_, passage));
    add(held_ack(rows_, passage));
    return;
  }
  add(held_payload(rows_, life.row, peer, passage.once(peer, "frame_received")));
  add(held_frames(rows_, passage, peer, life.node, whole));
}

// The peer's window is used up by what its mac_rx holds, if that is most of a round trip: then by what holds that.
void SlowRequests::follow_window(const Life& life, const Passage& passage, std::vector<Candidate>& found) const {
  const FrameRow* const frame = passage.arrived(life.node);
  if (frame == nullptr || passage.peer().empty()) return;
  const auto ack = rows_.acknowledgement(life.node, *frame);
  const std::uint64_t sent = passage.once(life.node, "frame_sent");
  if (!ack || ack->ps <= sent) return;
  const auto held = held_frames(rows_, passage, life.node, passage.peer(), ack->ps - sent);
  if (!held || 2 * held->ps < ack->ps - sent) return;
  for (Candidate& c : found) {
    if (c.cause.kind != "window") continue;
    c.cause = held->cause;
    c.chain.insert(c.chain.end(), held->chain.begin(), held->chain.end());
  }
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

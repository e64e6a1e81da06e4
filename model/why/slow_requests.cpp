#include "model/why/slow_requests.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "model/common/check.h"

namespace rnic::why {
namespace {

std::string queue_of(const std::string& request) { return request.substr(0, request.rfind('.')); }
std::string node_of(const std::string& request) { return request.substr(0, request.find('.')); }
std::string queue_of(const EventRow& event) { return fmt::format("{}.{}", event.node, event.qpn.value_or(0)); }

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
  const auto events =
      rows_.events("kind IN ('wqe_fetched', 'segmented', 'frame_sent', 'completed', 'waits', 'window', 'reduced')");
  for (const EventRow& e : events) {
    if (e.kind == "waits") waits_[queue_of(e)].push_back({e.ps, e.words});
    if (e.kind == "window") windows_[queue_of(e)].push_back({e.ps, e.words});
    if (e.kind == "reduced") reductions_[queue_of(e)].push_back({e.ps, e.words});
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
    } else if (e.kind == "frame_sent") {
      life.sent_ps = e.ps;
    } else if (e.kind == "completed") {
      life.done_ps = e.ps;
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
    follow(life.sent_ps);
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

// They add up to the time until it was polled.
std::vector<Wait> SlowRequests::waits_of(const Life& life, std::uint64_t since) const {
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
  add("payload and framing", after(life.last_cut_ps, life.sent_ps));
  const auto repair = longest_repair(life, std::max(life.sent_ps, since));
  const std::uint64_t away = after(life.sent_ps, life.done_ps), repaired = repair ? std::min(repair->ps, away) : 0;
  add("retransmission", repaired);
  add("wire, peer and way back", away - repaired);
  add("completion and poll", after(life.done_ps, life.row.polled_ps));
  return waits;
}

bool SlowRequests::is_of(const Life& life, const EventRow& again) const {
  return queue_of(rows_.text_of(*again.request)) == life.queue;
}

// Of its own queue, requests or answers, while it was under way since `from`: the one that was waited for longest.
std::optional<SlowRequests::Candidate> SlowRequests::longest_repair(const Life& life, std::uint64_t from) const {
  std::optional<Candidate> longest;
  for (const EventRow& again : rows_.sent_again()) {
    if (again.ps <= from || again.ps > life.row.polled_ps) continue;
    if (!is_of(life, again)) continue;
    const Repair repair = repair_of(rows_, again);
    const std::uint64_t since = std::max(repair.sent_ps, from);
    const std::uint64_t ps = again.ps > since ? again.ps - since : 0;
    if (!longest || ps > longest->ps) longest = Candidate{ps, repair.cause, repair.chain};
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
SlowRequests::Candidate SlowRequests::window(const Life& life, std::uint64_t ps, std::uint64_t at) const {
  const Change* const last = last_before(windows_, life.pair, at);
  if (last == nullptr) {
    return {ps, {End::kNotRecorded, "window", "which window was used up: only TCP records its windows", {}, {}}, {}};
  }
  if (last->words.rfind("congestion", 0) == 0) return reduced_window(life, ps, at);
  const Step step{last->ps, life.node, last->words, {}};
  return {ps, {End::kSetting, "window", last->words, {}, "rnic.tcp.window_bytes"}, {step}};
}

// A congestion window: since when it is that small, and why.
SlowRequests::Candidate SlowRequests::reduced_window(const Life& life, std::uint64_t ps, std::uint64_t at) const {
  const Change* const last = last_before(reductions_, life.pair, at);
  if (last == nullptr) return {ps, {End::kStart, "slow_start", "the congestion window had not grown yet", {}, {}}, {}};
  const Step step{last->ps, life.node, "congestion window reduced, " + last->words, {}};
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

SlowRequests::Candidate SlowRequests::limit(const Life& life, const std::string& reason, std::uint64_t ps) const {
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
SlowRequests::Candidate SlowRequests::fence(const Life& life, std::uint64_t ps) const {
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

// The one whose work was most of that, if one was.
std::optional<SlowRequests::Candidate> SlowRequests::core(const Life& life, std::uint64_t ps) const {
  std::map<std::string, std::uint64_t> busy;
  for (const EventRow& e : rows_.events(
           fmt::format("kind = 'worked' AND node = {} AND time_ps < {}", quoted(life.node), life.fetched_ps))) {
    const std::uint64_t from = std::max(e.ps, life.row.posted_ps);
    const std::uint64_t to =
        std::min<std::uint64_t>(e.ps + std::strtoull(e.words.c_str(), nullptr, 10), life.fetched_ps);
    if (from < to) busy[e.place] += to - from;
  }
  const auto most =
      std::max_element(busy.begin(), busy.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == busy.end() || 2 * most->second < ps) return std::nullopt;
  const std::string text = fmt::format("{} of {} worked for {:.3f} us before its doorbell was rung", most->first,
                                       life.node, in_us(most->second));
  return Candidate{ps, {End::kProgram, "core", text, {}, "nodes.*.host.cpu"}, {}};
}

Answer SlowRequests::answer(const Life& life, Symptom symptom) const {
  Answer a;
  a.symptom = symptom;
  a.node = life.node;
  a.request = life.row.text;
  a.from_ps = symptom == Symptom::kSlowInTurn ? life.turn_ps : life.row.posted_ps;
  a.to_ps = life.row.polled_ps;
  a.text = life.operation;
  a.waits = waits_of(life, a.from_ps);
  const std::uint64_t whole = a.to_ps - a.from_ps;
  Candidate longest;
  const auto consider = [&](Candidate c) {
    if (c.ps > longest.ps) longest = std::move(c);
  };
  for (const auto& [reason, ps] : reasons(life.pair, a.from_ps, life.last_cut_ps)) consider(limit(life, reason, ps));
  if (symptom == Symptom::kSlow) {
    if (auto busy = core(life, life.fetched_ps - a.from_ps)) consider(*std::move(busy));
  }
  if (auto repair = longest_repair(life, a.from_ps)) consider(*std::move(repair));
  if (10 * longest.ps < whole) return a;  // nothing of this is a tenth of its time
  a.cause = longest.cause;
  a.chain = longest.chain;
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

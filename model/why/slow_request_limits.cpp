// What the queue pair of a slow request waited for in the segmenter: rules R10 to R12 of why.md.
#include <algorithm>

#include <fmt/format.h>

#include "model/why/slow_requests.h"
#include "model/why/state.h"

namespace rnic::why {

std::uint64_t SlowRequests::last_wait_ends(const Life& life, const std::string& reason) const {
  std::uint64_t at = life.row.posted_ps;
  const std::vector<Change>& changes = waits_.at(life.pair);
  for (std::size_t i = 0; i + 1 < changes.size() && changes[i].ps < life.last_cut_ps; ++i) {
    if (changes[i].words == reason) at = std::min(changes[i + 1].ps, life.last_cut_ps);
  }
  return at;
}

// Streams of an SCTP association share a window, so it is reduced for all of them in the same instant.
bool SlowRequests::shares_window(const EventRow& again, std::uint64_t reduced_ps) const {
  const std::string queue = queue_of(rows_.text_of(*again.request));
  const auto found = reductions_.find(queue.substr(0, queue.find('#')));
  return found != reductions_.end() &&
         std::any_of(found->second.begin(), found->second.end(), [&](const Change& c) { return c.ps == reduced_ps; });
}

// The window that bounded the sender then.
Candidate SlowRequests::window(const Life& life, std::uint64_t ps, std::uint64_t at) const {
  const Change* last = last_before(windows_, life.pair, at);
  // A share of an association's window is used up for a moment at a time.
  for (const Change* c = last; c != nullptr && last->words.rfind("a_rwnd:", 0) == 0; --c) {
    if (c->words.find(" used up") != std::string::npos) last = c;
    if (c == windows_.at(life.pair).data()) break;
  }
  if (last == nullptr) {
    return {ps, {End::kNotRecorded, "window", "which window was used up", {}, {}}, {}};
  }
  if (last->words.rfind("congestion", 0) == 0) return reduced_window(life, ps, at);
  const Step step{last->ps, life.node, last->words, {}, state_of(last->words)};
  const bool sctp = last->words.rfind("a_rwnd", 0) == 0;
  return {ps,
          {End::kSetting, "window", last->words, {}, sctp ? "rnic.sctp.receive_buffer" : "rnic.tcp.window_bytes"},
          {step}};
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
    if (again.node != life.node || again.ps < last->ps) continue;
    if (!is_of(life, again) && !shares_window(again, last->ps)) continue;
    Repair repair = repair_of(rows_, again);
    repair.chain.push_back(step);
    return {ps, std::move(repair.cause), std::move(repair.chain)};
  }
  return {ps, {End::kStart, "idle", last->words, {}, {}}, {step}};
}

Candidate SlowRequests::limit(const Life& life, const std::string& reason, std::uint64_t ps) const {
  if (reason == "credit" || reason == "sctp_credit") return window(life, ps, last_wait_ends(life, reason));
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

}  // namespace rnic::why

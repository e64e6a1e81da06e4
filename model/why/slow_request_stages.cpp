// What held a slow request before and behind the segmenter, at both nodes: rules R15 to R19 and R22 of why.md.
#include <algorithm>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "model/why/cache_misses.h"
#include "model/why/payload_reads.h"
#include "model/why/receivers.h"
#include "model/why/slow_requests.h"

namespace rnic::why {
namespace {

constexpr std::uint64_t kPerQueue = 1u << 28;  // requests of a queue have adjacent numbers

}  // namespace

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

// It has come to the peer, and its answer is not begun: what the peer's segmenter cut meanwhile.
std::optional<Candidate> SlowRequests::answers_before(const Life& life, const Passage& passage,
                                                      std::uint64_t from) const {
  const std::string& peer = passage.peer();
  const std::uint64_t begin = std::max(from, passage.once(peer, "frame_received"));
  const std::uint64_t end = passage.first(peer, "segmented");
  std::set<std::uint64_t> earlier, queues;  // requests of its queue; other queues
  unsigned all = 0, own = 0;                // segments
  for (const EventRow& e : rows_.events(
           fmt::format("id BETWEEN {} AND {} AND kind = 'segmented' AND node = {} AND time_ps > {} AND time_ps < {}",
                       life.row.first_event, life.row.last_event, quoted(peer), begin, end))) {
    ++all;
    if (!e.request) continue;
    if (*e.request / kPerQueue == life.row.number / kPerQueue) ++own, earlier.insert(*e.request);
    else queues.insert(*e.request / kPerQueue);
  }
  if (all == 0) return std::nullopt;
  const bool is_own = 2 * own >= all;
  const std::string whose = is_own ? fmt::format("{} earlier requests of its queue", earlier.size())
                                   : fmt::format("{} other queue{}", queues.size(), queues.size() == 1 ? "" : "s");
  Candidate c{end - begin,
              {End::kProgram,
               is_own ? "own_queue" : "other_queue_pairs",
               fmt::format("{} worked for {} first: {} of {} segments that it cut meanwhile were theirs", peer, whose,
                           is_own ? own : all - own, all),
               {},
               is_own ? "work.*.depth" : "connections.*.qps"},
              {}};
  c.chain = {{begin, peer, life.row.text + " has come", {}}, {end, peer, "its answer is cut", {}}};
  return c;
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
  add(answers_before(life, passage, from));
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

}  // namespace rnic::why

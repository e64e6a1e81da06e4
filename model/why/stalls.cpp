#include "model/why/stalls.h"

#include <set>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "model/why/passage.h"
#include "model/why/repairs.h"

namespace rnic::why {
namespace {

// How far an unfinished request has come, and what it waits for there.
struct Stand {
  std::string text;
  std::uint64_t ps = 0;
  const char* kind = "";
  std::string waits{};  // of its queue pair in the segmenter, as the event says; empty: for nothing there
  End end = End::kNotRecorded;
};

std::string pair_of(const std::string& request) {
  const std::string queue = queue_of(request);
  return queue.substr(0, queue.find('#'));
}

// An answer or acknowledgement that was lost on its way to a node.
std::optional<Cause> lost_answer(const Rows& rows, const std::string& node, const Stand& stand) {
  const FrameRow* const lost =
      std::string_view(stand.kind) == "answer" ? rows.swallowed(node, stand.ps, rows.run_ps()) : nullptr;
  if (lost == nullptr) return std::nullopt;
  Cause cause = by_cable_of(lost->swallowed, lost->number);
  cause.text = "what answers it: " + cause.text;
  return cause;
}

// What a queue pair waited for at the end.
std::string last_wait(const Rows& rows, const std::string& pair) {
  const std::string node = node_of(pair), qpn = pair.substr(pair.rfind('.') + 1);
  const auto waits =
      rows.events(fmt::format("kind = 'waits' AND node = {} AND qpn = {} AND id = (SELECT max(id) FROM events WHERE "
                              "kind = 'waits' AND node = {} "
                              "AND qpn = {})",
                              quoted(node), quoted(qpn), quoted(node), quoted(qpn)));
  return waits.empty() || waits.back().words == "nothing" ? "" : waits.back().words;
}

Stand stand_of(const Rows& rows, const RequestRow& request) {
  const std::string node = node_of(request.text);
  const Passage passage(rows, request, node);
  const std::string& peer = passage.peer();
  const auto at = [&](const std::string& where, const char* kind) { return passage.last(where, kind); };
  if (const std::uint64_t ps = at(node, "cqe_written")) {
    return {"its completion was written, and no program has polled it", ps, "not_polled", {}, End::kProgram};
  }
  if (!peer.empty() && at(peer, "segmented") != 0) {
    return {"its answer was cut at " + peer + ", and is not complete", at(peer, "segmented"), "answer"};
  }
  if (!peer.empty()) {
    return {peer + " has it, and no answer or acknowledgement has come back", at(peer, "frame_received"), "answer"};
  }
  if (const std::uint64_t ps = at(node, "frame_sent")) return {"it was sent, and never arrived", ps, "frame"};
  if (const std::uint64_t ps = at(node, "segmented")) return {"it was cut, and not sent", ps, "frame"};
  if (const std::uint64_t ps = at(node, "wqe_fetched")) {
    return {"it was fetched, and not cut", ps, "turn", last_wait(rows, pair_of(request.text))};
  }
  return {"it was posted, and not fetched", request.posted_ps, "fetch"};
}

// A queue that waits for answers waits for its oldest request. One that waits for credit waits for its peer: for the
// only unfinished queue of other nodes, as no row says which queue pair is whose peer.
const RequestRow* waited_for(const std::vector<RequestRow>& unfinished, const RequestRow& request, const Stand& stand) {
  const bool own = stand.waits == "ord" || stand.waits == "fence";
  const RequestRow* found = nullptr;
  for (const RequestRow& other : unfinished) {
    if (other.number == request.number) continue;
    if (own ? pair_of(other.text) != pair_of(request.text) : node_of(other.text) == node_of(request.text)) continue;
    if (found != nullptr) return nullptr;
    found = &other;
  }
  return found;
}

// From the oldest request on, until one waits for no other, or for one that was met: a circle.
void follow(const Rows& rows, const std::vector<RequestRow>& unfinished, Answer& a) {
  std::set<std::uint64_t> met;
  const RequestRow* request = &unfinished.front();
  a.request = request->text;
  a.node = node_of(request->text);
  a.from_ps = request->posted_ps;
  while (request != nullptr) {
    const Stand stand = stand_of(rows, *request);
    const std::string waits = stand.waits.empty() ? "" : ", as its queue pair waits for " + stand.waits;
    if (!met.insert(request->number).second) {
      a.cause =
          Cause{End::kProgram, "circle", "requests that wait for each other: " + request->text + " again", {}, {}};
      return;
    }
    a.chain.push_back({stand.ps, node_of(request->text), request->text + ": " + stand.text + waits, {}});
    a.cause = Cause{stand.end, stand.kind, request->text + ": " + stand.text + waits, {}, {}};
    if (auto lost = lost_answer(rows, node_of(request->text), stand)) {
      a.cause = std::move(lost);
      return;
    }
    request = stand.waits.empty() ? nullptr : waited_for(unfinished, *request, stand);
  }
}

// Nothing but receive requests is left.
void by_receive(const RequestRow& receive, Answer& a) {
  a.request = receive.text;
  a.node = node_of(receive.text);
  a.from_ps = receive.posted_ps;
  a.chain.push_back({receive.posted_ps, a.node, receive.text + " posted", {}});
  a.cause = Cause{End::kProgram,
                  "message",
                  "a message for " + receive.text + " was never sent: no work request is unfinished",
                  {},
                  {}};
}

// What the run itself said when it ended: a line for each program and stage that waits.
void add_end_state(const Rows& rows, std::uint64_t end_ps, Answer& a) {
  std::istringstream lines(rows.fact("waiting"));
  for (std::string line; std::getline(lines, line);) a.chain.push_back({end_ps, "-", line, {}});
}

// A run with a time limit, that still went on when it ended.
bool went_on(const Rows& rows, std::uint64_t end_ps) {
  const auto last = rows.events("kind = 'polled' AND id = (SELECT max(id) FROM events WHERE kind = 'polled')");
  return rows.fact("end") == "time limit" && !last.empty() && last.back().ps > end_ps - end_ps / 10;
}

void find_cause(const Rows& rows, std::uint64_t end_ps, Answer& a) {
  if (went_on(rows, end_ps)) {
    a.cause = Cause{End::kSetting, "time", "its time was up while requests still completed", {}, "sim.max_time_us"};
    return;
  }
  if (!rows.sent_again().empty()) {
    const EventRow& again = rows.sent_again().back();
    Repair repair = repair_of(rows, again);
    a.node = again.node;
    a.request = rows.text_of(*again.request);
    a.from_ps = repair.sent_ps;
    a.cause = std::move(repair.cause);
    a.chain = std::move(repair.chain);
    return;
  }
  if (const auto lost = rows.never_repaired()) {
    a.node = lost->first;
    a.from_ps = lost->second.ps;
    a.cause = by_cable_of(lost->second.swallowed, lost->second.number);
    a.chain.push_back({lost->second.ps, a.node, "it would have arrived, and was not sent again", lost->second.number});
    return;
  }
  if (const auto unfinished = rows.unfinished(false); !unfinished.empty()) return follow(rows, unfinished, a);
  if (const auto receives = rows.unfinished(true); !receives.empty()) return by_receive(receives.front(), a);
  a.cause = Cause{End::kNotRecorded, "waits", "no request is unfinished, so a set-up or a program waits", {}, {}};
}

}  // namespace

std::vector<Answer> stalls(const Rows& rows) {
  const std::string end = rows.fact("end");
  if (end == "done" || end == "failed") return {};
  Answer a;
  a.symptom = Symptom::kStalled;
  a.text = "the run ended with '" + end + "'";
  a.to_ps = rows.run_ps();
  find_cause(rows, a.to_ps, a);
  add_end_state(rows, a.to_ps, a);
  a.from_ps = std::min(a.from_ps, a.to_ps);
  return {a};
}

}  // namespace rnic::why

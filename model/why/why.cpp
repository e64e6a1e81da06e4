#include "model/why/why.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "model/why/lost_connections.h"
#include "model/why/set_ups.h"
#include "model/why/slow_requests.h"
#include "model/why/stalls.h"
#include "model/why/stream_ends.h"
#include "model/why/throughput.h"

namespace rnic::why {
namespace {

// What was sent again, by what the first of it shows; and what marks of the cable reduced.
std::vector<Answer> repairs(const Rows& rows) {
  std::vector<Answer> found;
  std::map<std::string, std::size_t> known;  // by cause
  for (const EventRow& again : rows.sent_again()) {
    Repair r = repair_of(rows, again);
    const auto [place, is_new] =
        known.try_emplace(r.cause.text + std::to_string(r.cause.frame.value_or(0)), found.size());
    if (!is_new) {
      found[place->second].to_ps = again.ps;
      continue;
    }
    Answer a;
    a.symptom = Symptom::kResent;
    a.node = again.node;
    a.request = rows.text_of(*again.request);
    a.text = again.words;
    a.from_ps = a.to_ps = again.ps;
    a.cause = std::move(r.cause);
    a.chain = std::move(r.chain);
    found.push_back(std::move(a));
  }
  return found;
}

std::vector<Answer> reductions(const Rows& rows) {
  std::vector<Answer> found;
  for (const EventRow& reduced : rows.events("kind = 'reduced' AND words GLOB 'congestion echo*'")) {
    const auto marks = rows.events(
        fmt::format("kind = 'ce_marked' AND node = {} AND time_ps <= {}", quoted(reduced.node), reduced.ps));
    Answer a;
    a.symptom = Symptom::kReduced;
    a.node = reduced.node;
    a.text = reduced.words;
    a.from_ps = a.to_ps = reduced.ps;
    if (marks.empty()) {
      a.cause = Cause{End::kPeer, "mark", "the mark is of no frame of this run", {}, {}};
    } else {
      const EventRow& mark = marks.back();
      a.cause = by_cable(mark.kind, mark.words, rows.number(mark.node, serial_of(mark.words)).value_or(0));
      a.from_ps = mark.ps;
    }
    found.push_back(std::move(a));
  }
  return found;
}

// What ends at "not recorded", in a list of its own.
void note_not_recorded(Answer& a) {
  const auto note = [&](const Cause& cause) {
    if (cause.end == End::kNotRecorded) a.not_recorded.push_back(cause.text);
  };
  if (a.cause) note(*a.cause);
  for (const Cause& cause : a.also) note(cause);
}

}  // namespace

Report explain(const std::string& database, const std::string& request) {
  const Rows rows(database);
  const SlowRequests slow(rows);
  if (!request.empty()) {
    Report report{{slow.of(request)}, {}};
    note_not_recorded(report.answers.front());
    return report;
  }
  Report report{stalls(rows), cable_summary(rows)};
  std::vector<Answer> set_up;
  if (auto slowest = slowest_set_up(rows)) set_up.push_back(*std::move(slowest));
  std::vector<Answer> limit;
  if (auto whole = throughput(rows, slow.lives())) limit.push_back(*std::move(whole));
  for (auto&& some :
       {stream_ends(rows), lost_connections(rows), slow.slowest(), set_up, repairs(rows), reductions(rows), limit}) {
    report.answers.insert(report.answers.end(), some.begin(), some.end());
  }
  for (Answer& a : report.answers) note_not_recorded(a);
  return report;
}

}  // namespace rnic::why

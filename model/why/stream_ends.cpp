#include "model/why/stream_ends.h"

#include <fmt/format.h>

#include "model/why/repairs.h"

namespace rnic::why {
namespace {

Symptom symptom_of(const std::string& text) {
  return text == "check" ? Symptom::kCheck : text == "startup" ? Symptom::kStartup : Symptom::kTerminate;
}

// Without an event that has changed anything: what the code says is the settings' or the program's.
Cause by_rule(const CauseRow& row) {
  if (row.request.empty()) {
    return {End::kPeer, "peer", "the peer's frame as it was sent; nothing in this run has changed it", row.frame, {}};
  }
  if (row.code.rfind("1/2/02", 0) == 0 && row.operation != "send") {
    return {End::kSetting, "ird", "the peer has more Reads and atomics outstanding than its IRD allows", row.frame,
            "connections.*.ird"};
  }
  if (row.code.rfind("1/2/02", 0) == 0) {
    return {End::kProgram, "receive", "no receive request is posted for " + row.request, row.frame, {}};
  }
  return {End::kProgram, "request", "as it was posted: " + row.request, row.frame, {}};
}

Cause cause_of(const CauseRow& row) {
  if (row.kind == "program") {
    return {End::kProgram, "injected", row.culprit + " (" + row.request + ")", row.frame, "inject"};
  }
  if (row.cause) return by_cable(row.kind, row.culprit, row.frame.value_or(0));
  return by_rule(row);
}

std::string step_text(const EventRow& event, const Rows& rows) {
  std::string text = event.kind;
  if (!event.words.empty()) text += " " + event.words;
  const std::string owner = event.request ? rows.text_of(*event.request) : "";
  return owner.empty() ? text : text + " (" + owner + ")";
}

// The events that lead from the cause to the symptom, and what follows at the peer.
std::vector<Step> chain_of(const CauseRow& row, const Rows& rows) {
  std::vector<Step> chain;
  const auto add = [&](const std::string& condition) {
    for (const EventRow& event : rows.events(condition)) {
      const bool is_cause = row.cause && event.id == *row.cause;
      chain.push_back({event.ps, event.node, step_text(event, rows), is_cause ? row.frame : std::nullopt});
    }
  };
  // "…: STag 0x3ad9e": the end of that STag came before.
  const std::size_t stag = row.culprit.find(": STag ");
  if (row.cause && stag != std::string::npos) {
    const std::string ended = quoted(row.culprit.substr(stag + 2) + ", by *");
    add(fmt::format("kind = 'stag_ended' AND words GLOB {} AND id < {}", ended, *row.cause));
  }
  if (row.cause) add(fmt::format("id = {}", *row.cause));
  if (row.refusal) add(fmt::format("id = {}", *row.refusal));
  add(fmt::format("id = {}", row.event));
  if (symptom_of(row.symptom) == Symptom::kTerminate) {
    add(fmt::format("id IN (SELECT min(id) FROM events WHERE kind = 'terminated' AND words = {} AND id > {})",
                    quoted("received " + row.code), row.event));
  }
  return chain;
}

}  // namespace

std::vector<Answer> stream_ends(const Rows& rows) {
  std::vector<Answer> answers;
  for (const CauseRow& row : rows.causes()) {
    Answer a;
    a.symptom = symptom_of(row.symptom);
    a.node = row.node;
    a.request = row.request;
    a.from_ps = a.to_ps = row.ps;
    a.text = row.code;
    a.cause = cause_of(row);
    a.chain = chain_of(row, rows);
    answers.push_back(std::move(a));
  }
  return answers;
}

}  // namespace rnic::why

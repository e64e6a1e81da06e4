#include "model/diff/compare.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/diff/digests.h"
#include "model/diff/sentence.h"

namespace rnic::diff {
namespace {

using nlohmann::ordered_json;

// Kinds of events that tell what went wrong: a run without them is no other chip.
bool is_incident(const Source& source) {
  constexpr std::string_view kKinds[] = {"retransmitted", "dropped",      "terminated", "refused", "injected",
                                         "firmware_log",  "check_failed", "reduced",    "missed",  "evicted"};
  return source.place.rfind("cable.", 0) == 0 ||
         std::find(std::begin(kKinds), std::end(kKinds), source.kind) != std::end(kKinds);
}

// These tell how long something took or waited, and come and go with times.
bool is_of_time(const Source& source) {
  return source.kind == "waits" || source.kind == "window" || source.kind == "worked";
}

// Of logs alone nobody knows.
bool may_differ_in_chips(const RunInputs& runs, const std::vector<Setting>& settings) {
  if (runs.a.facts.empty() || runs.b.facts.empty()) return true;
  const auto versions = [](const RunInput& run) {
    std::vector<std::string> values;
    for (const Fact& fact : run.facts) {
      if (fact.name == "version.rnicsim") values.push_back(fact.value);
    }
    return values;
  };
  return versions(runs.a) != versions(runs.b) ||
         std::any_of(settings.begin(), settings.end(), [](const Setting& s) { return s.name.rfind("rnic.", 0) == 0; });
}

void leave_out(Vocabulary& vocabulary, std::vector<std::string>& notes) {
  for (const unsigned run : {0u, 1u}) {
    std::vector<std::string> left_out;
    for (Source& source : vocabulary.sources()) {
      if (!source.in[run] || source.in[1 - run] || is_incident(source) || source.left_out) continue;
      source.left_out = true;
      left_out.push_back(fmt::format("{} at {} of {}", source.kind, source.place, source.node));
    }
    std::sort(left_out.begin(), left_out.end());
    if (left_out.empty()) continue;
    notes.push_back(fmt::format("left out, as only {} has them: {}", run == 0 ? "A" : "B", fmt::join(left_out, "; ")));
  }
}

// Work requests of one run that the other has not.
std::uint64_t only_in(const OwnerSums& these, const OwnerSums& others, OwnerSums& only) {
  std::uint64_t count = 0;
  these.each([&](Owner owner, std::uint64_t) {
    if (!is_work(owner) || others.find(owner) != nullptr) return;
    only[owner] = 1;
    ++count;
  });
  return count;
}

Comparison::First described(const Difference& difference, const Pair& events) {
  constexpr const char* kKinds[] = {"only", "content", "order", "time"};
  Comparison::First first;
  first.what = kKinds[static_cast<int>(difference.kind)];
  first.ps = difference.ps;
  if (difference.a) first.a = events.a.tell(*difference.a);
  if (difference.b) first.b = events.b.tell(*difference.b);
  first.text = sentence(difference, first.a, first.b, events);
  return first;
}

// What happened comes before when; but another order follows from times, so it gives way to an earlier time.
std::vector<Difference> by_weight(const WhatDiffers& what, const std::optional<Difference>& when) {
  std::vector<Difference> differences;
  const auto add = [&differences](const std::optional<Difference>& d) {
    if (d) differences.push_back(*d);
  };
  const bool row_is_first = what.row && (!what.order || what.row->ps <= what.order->ps);
  if (row_is_first) add(what.row);
  add(when);
  if (row_is_first) return differences;
  add(what.order);
  add(what.row);
  return differences;
}

// True if all rows are equal, with their times.
bool compare_events(RunInputs& runs, Comparison& c) {
  const Pair events{*runs.a.events, *runs.b.events};
  const bool offsets = events.a.has_offsets() && events.b.has_offsets();
  events.a.use_offsets(offsets);
  events.b.use_offsets(offsets);
  for (Source& source : runs.vocabulary.sources()) source.left_out = is_of_time(source);
  if (may_differ_in_chips(runs, c.settings)) leave_out(runs.vocabulary, c.notes);
  OwnerSums only;
  const Filter filter{runs.vocabulary, only};
  Digests a = digest(events.a, filter), b = digest(events.b, filter);
  const bool has_rest = runs.a.is_cut() || runs.b.is_cut();
  c.only_a = only_in(a.owners, b.owners, only);
  c.only_b = only_in(b.owners, a.owners, only);
  if (only.size() != 0) {  // places are compared without them
    a = digest(events.a, filter);
    b = digest(events.b, filter);
  }
  const WhatDiffers what = what_differs(events, a, b, filter, {runs.a.is_cut(), runs.b.is_cut()});
  const std::uint64_t until_ps =
      std::min(what.row ? what.row->ps : UINT64_MAX, what.order ? what.order->ps : UINT64_MAX);
  const std::vector<Difference> differences = by_weight(what, time_differs(events, filter, until_ps));
  for (const Difference& d : differences) {
    if (!c.first) c.first = described(d, events);
    else c.also.push_back(described(d, events));
  }
  if (c.first) c.around = around(events, differences.front(), filter);
  for (const auto& [run, name, digests] : {std::tuple(&runs.a, "A", &a), std::tuple(&runs.b, "B", &b)}) {
    if (!run->is_cut()) continue;
    c.notes.push_back(fmt::format("{} was ended ({}) at {}: what it lacks from there on is no difference", name,
                                  run->fact("end"), microseconds(digests->last_ps)));
  }
  return differences.empty() && only.size() == 0 && !has_rest;
}

bool has_equal_facts(const RunInput& a, const RunInput& b) {
  return a.fact("digest") == b.fact("digest") && a.fact("end") == b.fact("end");
}

std::string head_of(const Comparison& c, const RunInputs& runs, bool has_events) {
  if (c.first) return fmt::format("first difference at {}: {}", microseconds(c.first->ps), c.first->text);
  const std::string digests = fmt::format("digest {} in A, {} in B", runs.a.fact("digest"), runs.b.fact("digest"));
  if (!has_events) return "the runs differ: " + digests;
  if (runs.a.is_cut() || runs.b.is_cut()) return "what happened is equal until one of the runs was ended";
  if (c.only_a + c.only_b != 0) {
    return "what both did is equal, but one did more";
  }
  if (runs.a.fact("digest") == runs.b.fact("digest")) {
    return fmt::format("all events and their times are equal, but not the {}",
                       c.settings.empty() ? "results" : "settings");
  }
  // The digest covers numbers that events do not show, such as sequence numbers.
  return "all events and their times are equal, but not what they carry: " + digests;
}

void note_missing_events(const RunInputs& runs, std::vector<std::string>& notes) {
  for (const auto& [run, name] : {std::pair(&runs.a, "A"), std::pair(&runs.b, "B")}) {
    if (run->events) continue;
    notes.push_back(fmt::format("events are not compared, as {} has none; rnicsim run … --db {}/run.sqlite writes them",
                                name, run->name));
  }
}

}  // namespace

Comparison compare(RunInputs& runs) {
  Comparison c;
  c.a = runs.a.name;
  c.b = runs.b.name;
  c.settings = settings_that_differ(runs.a, runs.b);
  c.results = results_that_differ(runs.a, runs.b);
  const bool knows_digests = !runs.a.fact("digest").empty() && !runs.b.fact("digest").empty();
  const bool equal_but_for_events = c.settings.empty() && c.results.empty() && has_equal_facts(runs.a, runs.b);
  if (knows_digests && equal_but_for_events) {
    c.is_equal = true;
    c.head = fmt::format("equal: digest {}, settings{}", runs.a.fact("digest"),
                         runs.a.stats && runs.b.stats ? " and results" : "");
    return c;
  }
  const bool has_events = runs.a.events && runs.b.events;
  const bool are_events_equal = has_events && compare_events(runs, c);
  if (!has_events) note_missing_events(runs, c.notes);
  if (are_events_equal && equal_but_for_events) {
    c.is_equal = true;
    c.head = "equal: all events and their times";
    return c;
  }
  c.parts = parts_that_differ(runs.a, runs.b);
  c.counters = counters_that_differ(runs.a, runs.b);
  c.head = head_of(c, runs, has_events);
  return c;
}

}  // namespace rnic::diff

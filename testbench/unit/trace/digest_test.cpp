// The digest depends on every field and every cycle, but not on the order of calls within a cycle.
#include "model/trace/digest.h"

#include <algorithm>
#include <random>
#include <set>

#include <gmock/gmock.h>

namespace rnic {
namespace {

constexpr char kRx[] = "node0.rx";
constexpr char kTx[] = "node0.tx";

TraceEvent event(Cycle cycle, const char* where, TraceKind kind) {
  TraceEvent e;
  e.cycle = cycle;
  e.where = where;
  e.kind = kind;
  return e;
}

TraceEvent sample() {
  TraceEvent e = event(10, kRx, TraceKind::kCrcChecked);
  e.flow = FlowId{1};
  e.qpn = 2;
  e.bytes = 1460;
  e.values = {3, 0, 0};
  e.request = RequestId(4);
  return e;
}

std::uint64_t digest_of(const std::vector<TraceEvent>& events) {
  Recorder trace({"core", 4000});
  TraceDigest digest;
  trace.attach(digest);
  for (const TraceEvent& e : events) trace(e);
  return digest.value();
}

template <class F>
std::uint64_t digest_with(F change) {
  TraceEvent e = sample();
  change(e);
  return digest_of({e});
}

TEST(Recorder, IsOffUntilSomebodyListens) {
  Recorder trace({"core", 4000});
  EXPECT_FALSE(trace.on());
  TraceDigest digest;
  trace.attach(digest);
  EXPECT_TRUE(trace.on());
  trace(sample());
  EXPECT_EQ(digest.events(), 1u);
}

// A log and a breakdown use more details than a digest.
TEST(Recorder, DetailsGoToDetailedSinksOnly) {
  Recorder trace({"core", 4000});
  TraceDigest digest, detailed;
  trace.attach(digest);
  EXPECT_FALSE(trace.detailed());
  trace.attach(detailed, true);
  EXPECT_TRUE(trace.detailed());
  trace(sample());
  trace.detail(sample());
  EXPECT_EQ(digest.events(), 1u);
  EXPECT_EQ(detailed.events(), 2u);
}

TEST(TraceDigest, EveryFieldCounts) {
  const std::set<std::uint64_t> digests = {
      digest_of({}),
      digest_with([](TraceEvent&) {}),
      digest_with([](TraceEvent& e) { e.cycle = 11; }),
      digest_with([](TraceEvent& e) { e.where = kTx; }),
      digest_with([](TraceEvent& e) { e.kind = TraceKind::kPlaced; }),
      digest_with([](TraceEvent& e) { e.flow = FlowId{2}; }),
      digest_with([](TraceEvent& e) { e.qpn = 4; }),
      digest_with([](TraceEvent& e) { e.values[0] = 4; }),
      digest_with([](TraceEvent& e) { e.values[1] = 4; }),
      digest_with([](TraceEvent& e) { e.values[2] = 4; }),
      digest_with([](TraceEvent& e) { e.bytes = 1461; }),
      digest_with([](TraceEvent& e) { e.request = RequestId(5); }),
      digest_with([](TraceEvent& e) { e.receive = RequestId(5); }),
      digest_with([](TraceEvent& e) { e.request = RequestId(1000, RequestId::Kind::kSend, 0, 0, 4); }),
      digest_with([](TraceEvent& e) { e.request = RequestId(1064, RequestId::Kind::kSend, 0, 0, 4); }),
      digest_of({sample(), sample()}),
  };
  EXPECT_EQ(digests.size(), 16u);
}

TEST(TraceDigest, NameCountsByItsText) {
  static const char copy[] = "node0.rx";
  ASSERT_NE(static_cast<const void*>(copy), static_cast<const void*>(kRx));
  EXPECT_EQ(digest_with([](TraceEvent& e) { e.where = copy; }), digest_of({sample()}));
}

TEST(TraceDigest, OrderWithinACycleDoesNotCount) {
  std::vector<TraceEvent> events;
  for (std::uint32_t i = 0; i < 60; ++i) {
    events.push_back(event(i / 6, i % 2 == 0 ? kRx : kTx, TraceKind::kPlaced));
    events.back().flow = FlowId{i};
  }
  const std::uint64_t expected = digest_of(events);
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    for (auto cycle = events.begin(); cycle != events.end(); cycle += 6) std::shuffle(cycle, cycle + 6, random);
    EXPECT_EQ(digest_of(events), expected);
  }
}

TEST(TraceDigest, TheCycleOfAnEventCountsNotWhenItWasStated) {
  TraceEvent a = sample(), b = sample();
  a.cycle = 1, a.qpn = 7;
  b.cycle = 2, b.qpn = 8;
  const std::uint64_t expected = digest_of({a, b});
  EXPECT_EQ(digest_of({b, a}), expected) << "a stage may run ahead of its neighbours";
  std::swap(a.qpn, b.qpn);
  EXPECT_NE(digest_of({a, b}), expected);
}

TEST(TraceDigest, DomainsInterleaveFreely) {
  Recorder core({"core", 4000}), mac({"mac", 2560});
  TraceDigest one, other, renamed;
  for (TraceDigest* d : {&one, &other}) core.attach(*d);
  const TraceEvent at3 = event(3, kRx, TraceKind::kPlaced), at7 = event(7, kTx, TraceKind::kFrameSent);
  one.event(core.domain(), at7);
  one.event(mac.domain(), at3);
  other.event(mac.domain(), at3);
  other.event(core.domain(), at7);
  EXPECT_EQ(one.value(), other.value());
  renamed.event(mac.domain(), at7);
  renamed.event(core.domain(), at3);
  EXPECT_NE(one.value(), renamed.value());
}

// A digest is compared between machines and versions, so its definition is pinned.
TEST(TraceDigest, ValueIsTheSameOnEveryMachine) { EXPECT_EQ(digest_of({sample()}), 185260779499399319u); }

}  // namespace
}  // namespace rnic

#include "model/system/latency_breakdown.h"

#include <map>
#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::StrEq;
using Kind = RequestId::Kind;

constexpr FlowId kFlow{7};

class LatencyBreakdownTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kPingPong = 3;
  LatencyBreakdown breakdown{{"a", "b"},
                             {[](std::uint32_t work) {
                                return std::vector<std::string>{"", "bulk", "control", "ping"}.at(work);
                              },
                              [](std::uint32_t work) { return work == kPingPong; }}};
  const TraceDomain a{"a", 1}, b{"b", 1}, core_a{"a", 4000};

  static RequestId send(std::uint64_t n) { return {1, Kind::kSend, 3, 0, n}; }
  static RequestId receive(std::uint64_t n) { return {2, Kind::kReceive, 4, 0, n}; }
  static RequestId shared(std::uint64_t n) { return {2, Kind::kSharedReceive, 1, 0, n}; }

  // A message whose first beat was pushed at `first` and its last at `last`; the next block sees that one at `visible`.
  struct Time {
    Cycle last, visible, first;
    Time(Cycle at) : Time(at, at) {}
    Time(Cycle at, Cycle seen) : Time(at, seen, at) {}
    Time(Cycle at, Cycle seen, Cycle begun) : last(at), visible(seen), first(begun) {}
  };
  static TraceEvent made(Time at, TraceKind kind, RequestId id, std::uint32_t value = 0) {
    TraceEvent e;
    e.cycle = at.last;
    e.visible_after = static_cast<std::uint8_t>(at.visible - at.last);
    e.beats_took = static_cast<std::uint32_t>(at.last - at.first);
    e.kind = kind;
    e.flow = kFlow;
    e.request = id;
    e.values[0] = value;
    return e;
  }
  void on(const TraceDomain& domain, Time at, TraceKind kind, RequestId id, std::uint32_t value = 0) {
    breakdown.event(domain, made(at, kind, id, value));
  }
  void taken(const TraceDomain& domain, Cycle at, TraceKind kind, RequestId id, std::uint32_t count = 0) {
    TraceEvent e = made(at, TraceKind::kTaken, id, static_cast<std::uint32_t>(kind));
    e.values[1] = count;
    breakdown.event(domain, e);
  }
  void again(const TraceDomain& domain, Cycle at, TraceKind kind, RequestId id) {
    TraceEvent e = made(at, kind, id, static_cast<std::uint32_t>(TraceKind::kFrameSent));
    e.again = true;
    breakdown.event(domain, e);
  }
  // At the port, where mac_rx passes it on.
  void comes(const TraceDomain& domain, Time at, RequestId id, bool once_more = false) {
    for (const TraceKind kind : {TraceKind::kAtPort, TraceKind::kFrameReceived}) {
      TraceEvent e = made(kind == TraceKind::kAtPort ? Time(at.last) : at, kind, id);
      e.again = once_more;
      breakdown.event(domain, e);
    }
  }
  void rang(Cycle at, TraceKind kind, std::uint32_t producer) {
    on(a, at, kind, {1, Kind::kQueuePair, 3, 0, 0}, producer);
  }
  void fetched(Cycle at, std::uint64_t n, abi::WrOpcode op) {
    on(a, at, TraceKind::kWqeFetched, send(n), static_cast<std::uint32_t>(op));
  }
  void used(Cycle at, RequestId message, RequestId by) {
    TraceEvent e = made({at, at + 1}, TraceKind::kCompleted, message);
    e.receive = by;
    breakdown.event(b, e);
  }
  // tcp_tx begins a segment of `owner`, and mac_tx takes it; the sender has received up to `ack`, and ends before
  // `end`.
  void writes(const TraceDomain& at, Cycle ps, RequestId owner, FlowId flow, std::uint32_t ack, std::uint32_t end) {
    TraceEvent e = made(ps, TraceKind::kTaken, owner, static_cast<std::uint32_t>(TraceKind::kStreamDelivered));
    e.flow = flow;
    e.values[1] = ack;
    e.values[2] = end;
    breakdown.event(at, e);
  }
  void port(const TraceDomain& at, Cycle ps, RequestId owner, std::uint32_t serial) {
    on(at, ps, TraceKind::kAtPort, owner, serial);
  }
  void learns(Cycle ps, std::uint32_t una) {
    TraceEvent e = made(ps, TraceKind::kTaken, kConnectionOfA, static_cast<std::uint32_t>(TraceKind::kFrameReceived));
    e.values[1] = una;
    breakdown.event(a, e);
  }
  static constexpr FlowId kFlowOfB{9};
  static constexpr RequestId kConnectionOfA{1, Kind::kFlow, 7, 0, 0}, kConnectionOfB{2, Kind::kFlow, 9, 0, 0};
  // A Write of one segment, frame `n` + 1 of a. B has it at `ps` + 200 and hands it up until + 250.
  void arrives_whole(std::uint64_t n, Cycle ps, std::uint32_t end) {
    on(a, ps, TraceKind::kPosted, send(n));
    fetched(ps, n, abi::WrOpcode::kRdmaWrite);
    writes(a, ps + 10, send(n), kFlow, 1, end);
    on(a, {ps + 10, ps + 20}, TraceKind::kFrameSent, send(n));
    taken(a, ps + 30, TraceKind::kFrameSent, send(n));
    port(b, ps + 200, send(n), static_cast<std::uint32_t>(n + 1));
    on(b, {ps + 200, ps + 202}, TraceKind::kFrameReceived, send(n));
    TraceEvent e = made({ps + 240, ps + 250, ps + 210}, TraceKind::kStreamDelivered, send(n));
    e.flow = kFlowOfB;
    breakdown.event(b, e);
  }
  // Message `n` of a ping-pong from `from`, of its queue pair `qp`, is with its program.
  void seen(const TraceDomain& at, Cycle ps, RequestId id, Qpn by, std::uint32_t n) {
    TraceEvent e = made(ps, TraceKind::kSeen, id, n);
    e.qpn = by.v;
    breakdown.event(at, e);
  }
  // A Write with only the events of the wire.
  void written(std::uint64_t n, Cycle posted, Cycle sent, Cycle arrived) {
    on(a, posted, TraceKind::kPosted, send(n));
    fetched(posted, n, abi::WrOpcode::kRdmaWrite);
    on(a, sent, TraceKind::kFrameSent, send(n));
    if (arrived != 0) comes(b, arrived, send(n));
  }
  void done(std::uint64_t n, Cycle at) {
    on(a, at, TraceKind::kCompleted, send(n));
    on(a, at, TraceKind::kPolled, send(n));
  }
  std::uint64_t part(std::size_t request, std::string_view name) const {
    for (const auto& [part, ps] : breakdown.request(request).parts) {
      if (part == name) return ps;
    }
    return 0;
  }
  void expect_sums() const {
    for (std::size_t i = 0; i < breakdown.requests(); ++i) {
      const LatencyBreakdown::Request r = breakdown.request(i);
      const auto add = [](std::uint64_t sum, const auto& part) { return sum + part.second; };
      EXPECT_EQ(std::accumulate(r.parts.begin(), r.parts.end(), std::uint64_t{0}, add), r.total_ps) << i;
    }
  }
};

TEST_F(LatencyBreakdownTest, AWriteIsCompleteWithItsAcknowledgement) {
  on(a, 100, TraceKind::kPosted, send(0));
  rang(110, TraceKind::kDoorbellWritten, 1);
  rang(300, TraceKind::kDoorbell, 1);
  taken(a, 350, TraceKind::kDoorbell, send(0), 1);
  fetched(700, 0, abi::WrOpcode::kRdmaWrite);
  on(a, {705, 707}, TraceKind::kSegmented, send(0));
  on(a, {718, 720}, TraceKind::kSegmented, send(0));  // the last segment counts; each takes a cycle
  taken(a, 730, TraceKind::kSegmented, send(0));
  on(a, {999, 1000}, TraceKind::kPayloadRead, send(0));
  on(a, {1030, 1031, 1007}, TraceKind::kFramed, send(0));
  on(a, {1033, 1038}, TraceKind::kMarked, send(0));
  on(a, {1039, 1049}, TraceKind::kFpduSent, send(0));
  on(a, {1060, 1070}, TraceKind::kFrameSent, send(0));
  taken(a, 1100, TraceKind::kFrameSent, send(0));
  comes(b, 1600, send(0));
  on(b, 9000, TraceKind::kPlaced, send(0));  // in its own time
  on(a, 2200, TraceKind::kCompleted, send(0));
  on(a, {2210, 2211}, TraceKind::kCqeWritten, send(0));
  on(a, 2500, TraceKind::kPolled, send(0));
  ASSERT_EQ(breakdown.requests(), 1u);
  const LatencyBreakdown::Request r = breakdown.request(0);
  EXPECT_EQ(r.id, send(0));
  EXPECT_EQ(r.total_ps, 2400u);
  EXPECT_THAT(
      r.parts,
      ElementsAre(Pair(StrEq("driver"), 10), Pair(StrEq("doorbell"), 190), Pair(StrEq("WQE fetch queue"), 50),
                  Pair(StrEq("WQE fetch"), 350), Pair(StrEq("rdmap_segmenter queue"), 17),
                  Pair(StrEq("rdmap_segmenter"), 3), Pair(StrEq("payload_fetch queue"), 10),
                  Pair(StrEq("payload_fetch"), 270), Pair(StrEq("mpa_framer queue"), 7), Pair(StrEq("mpa_framer"), 24),
                  Pair(StrEq("marker_inserter queue"), 2), Pair(StrEq("marker_inserter"), 5),
                  Pair(StrEq("crc_insert queue"), 1), Pair(StrEq("crc_insert"), 10), Pair(StrEq("tcp_tx queue"), 11),
                  Pair(StrEq("tcp_tx"), 10), Pair(StrEq("mac_tx queue"), 30), Pair(StrEq("wire"), 500),
                  Pair(StrEq("peer mac_rx"), 0), Pair(StrEq("TCP acknowledgement"), 600),
                  Pair(StrEq("CQE write queue"), 10), Pair(StrEq("CQE write"), 1), Pair(StrEq("poll"), 289)));
}

TEST_F(LatencyBreakdownTest, AReadPassesBothChipsAndTheirClocks) {
  on(a, 100, TraceKind::kPosted, send(0));
  rang(100, TraceKind::kDoorbellWritten, 1);
  rang(200, TraceKind::kDoorbell, 1);
  fetched(300, 0, abi::WrOpcode::kRdmaRead);
  on(core_a, {1, 2}, TraceKind::kFrameSent, send(0));  // at 4000 ps
  comes(b, 9000, send(0));
  on(b, {9090, 9100}, TraceKind::kDelivered, send(0));
  on(b, 9150, TraceKind::kDue, send(0));
  on(b, 9200, TraceKind::kResponse, send(0));
  on(b, {9300, 9301}, TraceKind::kSegmented, send(0));
  taken(b, 9400, TraceKind::kSegmented, send(0));
  on(b, 9700, TraceKind::kPayloadRead, send(0));
  on(b, 10000, TraceKind::kFrameSent, send(0));
  taken(b, 10300, TraceKind::kFrameSent, send(0));
  comes(core_a, 3, send(0));  // at 12000 ps
  on(a, {12100, 12150}, TraceKind::kPlaced, send(0));
  on(a, 12300, TraceKind::kCompleted, send(0));
  on(a, 13000, TraceKind::kPolled, send(0));
  const LatencyBreakdown::Request r = breakdown.request(0);
  EXPECT_THAT(
      r.parts,
      ElementsAre(Pair(StrEq("driver"), 0), Pair(StrEq("doorbell"), 100), Pair(StrEq("WQE fetch"), 100),
                  Pair(StrEq("tcp_tx queue"), 3700), Pair(StrEq("tcp_tx"), 4000), Pair(StrEq("wire"), 1000),
                  Pair(StrEq("peer mac_rx"), 0), Pair(StrEq("peer rdmap_dispatch queue"), 90),
                  Pair(StrEq("peer rdmap_dispatch"), 10), Pair(StrEq("peer responder queue"), 50),
                  Pair(StrEq("peer responder"), 50), Pair(StrEq("peer rdmap_segmenter queue"), 100),
                  Pair(StrEq("peer rdmap_segmenter"), 1), Pair(StrEq("peer payload_fetch queue"), 99),
                  Pair(StrEq("peer payload_fetch"), 300), Pair(StrEq("peer tcp_tx queue"), 300),
                  Pair(StrEq("peer tcp_tx"), 0), Pair(StrEq("peer mac_tx queue"), 300), Pair(StrEq("wire back"), 1700),
                  Pair(StrEq("mac_rx"), 0), Pair(StrEq("ddp_placement queue"), 100), Pair(StrEq("ddp_placement"), 50),
                  Pair(StrEq("completion"), 150), Pair(StrEq("poll"), 700)));
}

TEST_F(LatencyBreakdownTest, AReadHasThreeHops) {
  on(a, 1000, TraceKind::kPosted, send(0));
  fetched(3000, 0, abi::WrOpcode::kRdmaRead);
  on(a, 4000, TraceKind::kFrameSent, send(0));
  comes(b, {9000, 9010}, send(0));
  on(b, 9200, TraceKind::kResponse, send(0));
  on(b, 10'000, TraceKind::kFrameSent, send(0));
  taken(b, 10'300, TraceKind::kFrameSent, send(0));
  comes(a, {12'000, 12'004}, send(0));
  done(0, 13'000);
  on(a, 20'000, TraceKind::kPosted, send(1));  // fails before anything is sent
  fetched(20'100, 1, abi::WrOpcode::kRdmaRead);
  done(1, 20'500);
  const nlohmann::ordered_json read = breakdown.json().at(0);
  ASSERT_EQ(read["hops"].size(), 3u);
  const std::pair<const char*, double> expected[] = {{"request", 8}, {"peer", 1.3}, {"response", 2.7}};
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(read["hops"][i]["name"], expected[i].first);
    EXPECT_DOUBLE_EQ(read["hops"][i]["worst_ns"], expected[i].second);
    EXPECT_DOUBLE_EQ(read["hops"][i]["mean_ns"], expected[i].second / 2);
    EXPECT_DOUBLE_EQ(read["hops"][i]["p50_ns"], 0);  // it was never sent
  }
  std::map<std::string, std::string> hops;
  for (const auto& part : read["parts"]) hops[part["name"]] = part.value("hop", "");
  for (const char* name : {"WQE fetch", "wire"}) EXPECT_EQ(hops[name], "request");
  for (const char* name : {"peer mac_rx", "peer responder", "peer mac_tx queue"}) EXPECT_EQ(hops[name], "peer");
  for (const char* name : {"wire back", "mac_rx", "completion", "poll"}) EXPECT_EQ(hops[name], "response");
  written(2, 100, 200, 300);
  done(2, 400);
  const nlohmann::ordered_json list = breakdown.json();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["operation"], "write");
  EXPECT_FALSE(list[0].contains("hops"));
}

TEST_F(LatencyBreakdownTest, OverSctpTheAssociationEngineTakesThePlaceOfMpaAndTcp) {
  on(a, 100, TraceKind::kPosted, send(0));
  on(b, 90, TraceKind::kPosted, receive(0));
  fetched(200, 0, abi::WrOpcode::kSend);
  on(a, {300, 301}, TraceKind::kPayloadRead, send(0));
  on(a, {360, 366, 350}, TraceKind::kFrameSent, send(0));
  taken(a, 370, TraceKind::kFrameSent, send(0));
  comes(b, 500, send(0));
  on(b, {560, 562, 550}, TraceKind::kCrcChecked, send(0), 1);
  on(b, {563, 570}, TraceKind::kPlaced, send(0));
  used(580, send(0), receive(0));
  on(b, 590, TraceKind::kPolled, receive(0));
  on(a, 700, TraceKind::kCompleted, send(0));
  on(a, 750, TraceKind::kPolled, send(0));
  ASSERT_EQ(breakdown.requests(), 2u);
  EXPECT_THAT(
      breakdown.request(0).parts,
      ElementsAre(Pair(StrEq("no message"), 410), Pair(StrEq("message"), 0), Pair(StrEq("mac_rx"), 0),
                  Pair(StrEq("sctp_rx"), 50), Pair(StrEq("sctp_association receive"), 12),
                  Pair(StrEq("ddp_placement queue"), 1), Pair(StrEq("ddp_placement"), 7),
                  Pair(StrEq("rdmap_dispatch queue"), 10), Pair(StrEq("rdmap_dispatch"), 1), Pair(StrEq("poll"), 9)));
  EXPECT_THAT(breakdown.request(1).parts,
              ElementsAre(Pair(StrEq("WQE fetch"), 100), Pair(StrEq("payload_fetch"), 101),
                          Pair(StrEq("sctp_association send"), 49), Pair(StrEq("sctp_tx"), 16),
                          Pair(StrEq("mac_tx queue"), 4), Pair(StrEq("wire"), 130), Pair(StrEq("peer mac_rx"), 0),
                          Pair(StrEq("SCTP acknowledgement"), 200), Pair(StrEq("poll"), 50)));
  expect_sums();
}

// An unneeded retransmission: the chunk was handed up before it arrived.
TEST_F(LatencyBreakdownTest, OverSctpALateRetransmissionTakesNoTime) {
  written(0, 100, 200, 300);
  on(a, 150, TraceKind::kPayloadRead, send(0));
  on(b, 310, TraceKind::kCrcChecked, send(0), 1);
  again(a, 400, TraceKind::kRetransmitted, send(0));
  comes(b, 500, send(0), true);
  done(0, 450);
  EXPECT_EQ(part(0, "retransmission"), 0u);
  EXPECT_EQ(part(0, "SCTP acknowledgement"), 150u);
  expect_sums();
}

// One read brings three; the last of them is not posted yet.
TEST_F(LatencyBreakdownTest, AReadOfWorkRequestsIsOfAllThatItBrings) {
  for (std::uint64_t n = 0; n < 3; ++n) on(a, 100, TraceKind::kPosted, send(n));
  rang(100, TraceKind::kDoorbellWritten, 3);
  rang(200, TraceKind::kDoorbell, 3);
  taken(a, 250, TraceKind::kDoorbell, send(1), 3);
  for (std::uint64_t n = 0; n < 3; ++n) {
    fetched(400, n, abi::WrOpcode::kSend);
    on(a, 500, TraceKind::kPolled, send(n));
  }
  EXPECT_EQ(part(0, "WQE fetch queue"), 0u);
  EXPECT_EQ(part(1, "WQE fetch queue"), 50u);
  EXPECT_EQ(part(2, "WQE fetch queue"), 50u);
}

TEST_F(LatencyBreakdownTest, WhatWasNeverSentHasNoAcknowledgement) {
  on(a, 100, TraceKind::kPosted, send(0));
  fetched(200, 0, abi::WrOpcode::kLocalInv);
  done(0, 300);
  EXPECT_THAT(breakdown.request(0).parts,
              ElementsAre(Pair(StrEq("WQE fetch"), 100), Pair(StrEq("completion"), 100), Pair(StrEq("poll"), 0)));
}

TEST_F(LatencyBreakdownTest, TheTimeUntilARetransmissionIsItsOwn) {
  written(0, 100, 200, 0);  // lost
  again(a, 5000, TraceKind::kRetransmitted, send(0));
  again(a, 5050, TraceKind::kTaken, send(0));
  comes(b, 5500, send(0), true);
  on(b, {5510, 5520}, TraceKind::kStreamDelivered, send(0));
  done(0, 6000);
  EXPECT_THAT(
      breakdown.request(0).parts,
      ElementsAre(Pair(StrEq("WQE fetch"), 0), Pair(StrEq("tcp_tx queue"), 100), Pair(StrEq("tcp_tx"), 0),
                  Pair(StrEq("retransmission"), 4800), Pair(StrEq("mac_tx queue"), 50), Pair(StrEq("wire"), 450),
                  Pair(StrEq("peer mac_rx"), 0), Pair(StrEq("TCP acknowledgement"), 500), Pair(StrEq("poll"), 0)));
}

// The second request arrived at once; the first, earlier in the stream, only after a retransmission.
TEST_F(LatencyBreakdownTest, ARequestWaitsForTheRetransmissionOfOctetsBeforeIt) {
  written(0, 100, 200, 0);
  written(1, 100, 210, 700);
  again(a, 5000, TraceKind::kRetransmitted, send(0));
  comes(b, 5500, send(0), true);
  on(b, {5510, 5520}, TraceKind::kStreamDelivered, send(0));
  on(b, {5512, 5522}, TraceKind::kStreamDelivered, send(1));
  written(2, 5505, 5506, 5511);
  on(b, {5514, 5524}, TraceKind::kStreamDelivered, send(2));
  for (std::uint64_t n = 0; n < 3; ++n) done(n, 6000);
  EXPECT_EQ(part(0, "retransmission"), 4800u);
  EXPECT_EQ(part(1, "wire"), 490u);
  EXPECT_EQ(part(1, "wait for retransmission"), 4800u);
  EXPECT_EQ(part(1, "TCP acknowledgement"), 500u);
  EXPECT_EQ(part(2, "wait for retransmission"), 0u);  // arrived after the retransmission
  expect_sums();
}

// The same on the way back, for a Read Response.
TEST_F(LatencyBreakdownTest, AResponseIsSentOnceMore) {
  on(a, 100, TraceKind::kPosted, send(0));
  fetched(200, 0, abi::WrOpcode::kRdmaRead);
  on(a, 300, TraceKind::kFrameSent, send(0));
  comes(b, 400, send(0));
  on(b, 500, TraceKind::kFrameSent, send(0));
  again(b, 4000, TraceKind::kRetransmitted, send(0));
  comes(a, 4100, send(0), true);
  on(a, {4150, 4160}, TraceKind::kStreamDelivered, send(0));
  done(0, 5000);
  EXPECT_EQ(part(0, "wire"), 100u);
  EXPECT_EQ(part(0, "retransmission"), 0u);
  EXPECT_EQ(part(0, "retransmission back"), 3500u);
  EXPECT_EQ(part(0, "wire back"), 100u);
  EXPECT_EQ(part(0, "completion"), 840u);
  expect_sums();
}

// All data had arrived, and only the acknowledgement was lost.
TEST_F(LatencyBreakdownTest, ALostAcknowledgementWaitsForARetransmission) {
  written(0, 100, 200, 700);
  on(b, {710, 720}, TraceKind::kStreamDelivered, send(0));
  again(a, 5000, TraceKind::kRetransmitted, send(0));
  comes(b, 5500, send(0), true);
  done(0, 6000);
  EXPECT_EQ(part(0, "wire"), 500u);
  EXPECT_EQ(part(0, "retransmission"), 0u);
  EXPECT_EQ(part(0, "wait for retransmission"), 4800u);
  EXPECT_EQ(part(0, "TCP acknowledgement"), 500u);
}

// A long message loses a frame in its middle, whose retransmission arrives before the last frame: it delays nothing.
TEST_F(LatencyBreakdownTest, ARetransmissionInTheMidstOfAMessageCostsNothing) {
  written(0, 100, 200, 700);
  again(a, 800, TraceKind::kRetransmitted, send(0));
  comes(b, 1300, send(0), true);
  on(b, {1310, 1320}, TraceKind::kStreamDelivered, send(0));
  on(a, 1500, TraceKind::kFrameSent, send(0));
  comes(b, 2000, send(0));
  on(b, {2010, 2020}, TraceKind::kStreamDelivered, send(0));
  done(0, 2500);
  EXPECT_EQ(part(0, "tcp_tx queue"), 1400u);
  EXPECT_EQ(part(0, "retransmission"), 0u);
  EXPECT_EQ(part(0, "wait for retransmission"), 0u);
  EXPECT_EQ(part(0, "wire"), 500u);
}

// TCP's retransmission after the request's completion delays nothing, and the sum holds.
TEST_F(LatencyBreakdownTest, ALateRetransmissionTakesNoTime) {
  written(0, 100, 300, 400);
  on(a, 500, TraceKind::kCompleted, send(0));
  again(a, 900, TraceKind::kRetransmitted, send(0));
  on(a, 700, TraceKind::kPolled, send(0));
  comes(b, 950, send(0), true);
  expect_sums();
  EXPECT_EQ(breakdown.request(0).total_ps, 600u);
  EXPECT_EQ(part(0, "TCP acknowledgement"), 100u);
}

// A chip that lags behind keeps frames in its buffer, which is no part of the wire. Of a message the last one counts.
TEST_F(LatencyBreakdownTest, TheWireEndsAtThePort) {
  on(b, 50, TraceKind::kPosted, receive(0));
  on(a, 100, TraceKind::kPosted, send(0));
  fetched(200, 0, abi::WrOpcode::kSend);
  on(a, 300, TraceKind::kFrameSent, send(0));
  on(b, 400, TraceKind::kAtPort, send(0));
  on(b, 450, TraceKind::kAtPort, send(0));
  on(b, {5000, 5002}, TraceKind::kFrameReceived, send(0));
  on(b, {8000, 8002}, TraceKind::kFrameReceived, send(0));
  used(8100, send(0), receive(0));
  on(b, 8200, TraceKind::kPolled, receive(0));
  done(0, 9000);
  EXPECT_EQ(part(0, "no message"), 350u);
  EXPECT_EQ(part(0, "message"), 50u);
  EXPECT_EQ(part(0, "mac_rx queue"), 7550u);
  EXPECT_EQ(part(0, "mac_rx"), 2u);
  EXPECT_EQ(part(1, "wire"), 150u);
  EXPECT_EQ(part(1, "peer mac_rx queue"), 7550u);
  EXPECT_EQ(part(1, "peer mac_rx"), 2u);
  EXPECT_EQ(part(1, "TCP acknowledgement"), 998u);
  expect_sums();
}

TEST_F(LatencyBreakdownTest, ARetransmissionWaitsInTheBufferToo) {
  written(0, 100, 200, 0);
  again(a, 5000, TraceKind::kRetransmitted, send(0));
  TraceEvent e = made(5400, TraceKind::kAtPort, send(0));
  e.again = true;
  breakdown.event(b, e);
  e = made({5700, 5701}, TraceKind::kFrameReceived, send(0));
  e.again = true;
  breakdown.event(b, e);
  done(0, 6000);
  EXPECT_EQ(part(0, "retransmission"), 4800u);
  EXPECT_EQ(part(0, "wire"), 400u);
  EXPECT_EQ(part(0, "peer mac_rx queue"), 300u);
  EXPECT_EQ(part(0, "peer mac_rx"), 1u);
  expect_sums();
}

TEST_F(LatencyBreakdownTest, AReceiveRequestWaitsForItsMessage) {
  on(b, 50, TraceKind::kPosted, receive(0));
  taken(b, 60, TraceKind::kDoorbell, receive(0), 1);
  on(b, 80, TraceKind::kWqeFetched, receive(0), 256);
  on(a, 100, TraceKind::kPosted, send(0));
  fetched(200, 0, abi::WrOpcode::kSend);
  on(a, 300, TraceKind::kFrameSent, send(0));
  comes(b, 400, send(0));
  comes(b, 600, send(0));
  on(b, {640, 650, 610}, TraceKind::kStreamDelivered, send(0));
  on(b, {653, 660}, TraceKind::kFpduReceived, send(0));
  on(b, {660, 670}, TraceKind::kCrcChecked, send(0));
  on(b, {675, 676}, TraceKind::kPlaced, send(0));
  used(700, send(0), receive(0));
  on(b, {705, 706}, TraceKind::kCqeWritten, send(0));
  on(b, 800, TraceKind::kPolled, receive(0));
  done(0, 900);
  ASSERT_EQ(breakdown.requests(), 2u);
  EXPECT_EQ(breakdown.request(0).id, receive(0));
  EXPECT_THAT(
      breakdown.request(0).parts,
      ElementsAre(Pair(StrEq("RQE fetch queue"), 10), Pair(StrEq("RQE fetch"), 20), Pair(StrEq("no message"), 320),
                  Pair(StrEq("message"), 200), Pair(StrEq("mac_rx"), 0), Pair(StrEq("tcp_rx queue"), 10),
                  Pair(StrEq("tcp_rx"), 40), Pair(StrEq("mpa_deframer queue"), 3), Pair(StrEq("mpa_deframer"), 7),
                  Pair(StrEq("crc_check"), 10), Pair(StrEq("ddp_placement queue"), 5), Pair(StrEq("ddp_placement"), 1),
                  Pair(StrEq("rdmap_dispatch queue"), 24), Pair(StrEq("rdmap_dispatch"), 1),
                  Pair(StrEq("CQE write queue"), 4), Pair(StrEq("CQE write"), 1), Pair(StrEq("poll"), 94)));
  expect_sums();
  const nlohmann::ordered_json of_receives = breakdown.json()[1];
  EXPECT_EQ(of_receives["operation"], "receive");
  ASSERT_EQ(of_receives["hops"].size(), 2u);
  EXPECT_EQ(of_receives["hops"][0]["name"], "no message");
  EXPECT_DOUBLE_EQ(of_receives["hops"][0]["mean_ns"], 0.35);
  EXPECT_EQ(of_receives["hops"][1]["name"], "message");
  EXPECT_DOUBLE_EQ(of_receives["hops"][1]["mean_ns"], 0.4);
}

// The sender gets its acknowledgement before the receiver's chip has placed the message.
TEST_F(LatencyBreakdownTest, AReceiverMayBeSlowerThanTheSender) {
  on(b, 50, TraceKind::kPosted, shared(0));
  on(b, 50, TraceKind::kPosted, shared(1));
  for (std::uint64_t n = 0; n < 2; ++n) {
    on(a, 100, TraceKind::kPosted, send(n));
    fetched(200, n, abi::WrOpcode::kSend);
    on(a, 300, TraceKind::kFrameSent, send(n));
    comes(b, 400 + n, send(n));
    done(n, 500);
  }
  used(700, send(0), shared(1));  // a shared queue's requests complete in any order
  on(b, {705, 706}, TraceKind::kCqeWritten, send(0));
  used(708, send(1), shared(0));
  on(b, {715, 716}, TraceKind::kCqeWritten, send(1));
  on(b, 800, TraceKind::kPolled, shared(1));
  on(b, 810, TraceKind::kPolled, shared(0));
  ASSERT_EQ(breakdown.requests(), 4u);
  EXPECT_EQ(breakdown.request(2).id, shared(1));
  EXPECT_EQ(part(2, "no message"), 350u);
  EXPECT_EQ(part(2, "CQE write queue"), 4u);
  EXPECT_EQ(breakdown.request(3).id, shared(0));
  EXPECT_EQ(part(3, "no message"), 351u);
  EXPECT_EQ(part(3, "poll"), 94u);
  expect_sums();
}

TEST_F(LatencyBreakdownTest, AFlushedReceiveRequestHadNoMessage) {
  on(b, 50, TraceKind::kPosted, receive(0));
  on(b, {700, 701}, TraceKind::kCompleted, receive(0));
  on(b, {705, 706}, TraceKind::kCqeWritten, receive(0));
  on(b, 800, TraceKind::kPolled, receive(0));
  EXPECT_THAT(breakdown.request(0).parts, ElementsAre(Pair(StrEq("no message"), 651), Pair(StrEq("CQE write queue"), 4),
                                                      Pair(StrEq("CQE write"), 1), Pair(StrEq("poll"), 94)));
}

TEST_F(LatencyBreakdownTest, AnAcknowledgementIsDelayedAndComesBack) {
  arrives_whole(0, 1000, 5000);
  writes(b, 51'000, kConnectionOfB, kFlowOfB, 5000, 1);
  taken(b, 51'030, TraceKind::kFrameSent, kConnectionOfB);
  port(a, 51'500, kConnectionOfB, 1);
  learns(51'540, 5000);
  on(a, 51'560, TraceKind::kCompleted, send(0));
  on(a, 51'600, TraceKind::kPolled, send(0));
  EXPECT_THAT(
      breakdown.request(0).parts,
      ElementsAre(Pair(StrEq("WQE fetch"), 0), Pair(StrEq("tcp_tx queue"), 10), Pair(StrEq("tcp_tx"), 10),
                  Pair(StrEq("mac_tx queue"), 10), Pair(StrEq("wire"), 170), Pair(StrEq("peer mac_rx"), 2),
                  Pair(StrEq("peer tcp_rx queue"), 8), Pair(StrEq("peer tcp_rx"), 40), Pair(StrEq("ACK delay"), 49'750),
                  Pair(StrEq("peer mac_tx queue"), 30), Pair(StrEq("wire back"), 470), Pair(StrEq("tcp_rx"), 40),
                  Pair(StrEq("completion"), 20), Pair(StrEq("poll"), 40)));
  expect_sums();
}

// The first that covers the end counts, not one of an earlier part, and not a later one. A lost one does not count.
TEST_F(LatencyBreakdownTest, TheFirstAcknowledgementThatCoversTheEndCounts) {
  for (std::uint32_t n = 0; n < 2; ++n) arrives_whole(n, 1000 + n, 5000 + 100 * n);
  const auto acks = [&](Cycle ps, std::uint32_t serial, std::uint32_t ack, bool comes_through) {
    writes(b, ps, kConnectionOfB, kFlowOfB, ack, 1);
    taken(b, ps + 30, TraceKind::kFrameSent, kConnectionOfB);
    if (!comes_through) return;
    port(a, ps + 100, kConnectionOfB, serial);
    learns(ps + 140, ack);
  };
  acks(2000, 1, 4999, true);
  acks(3000, 2, 5000, false);
  acks(4000, 3, 5050, true);  // the first request, and a part of the second
  acks(5000, 4, 5100, true);
  acks(6000, 5, 5100, true);
  for (std::uint64_t n = 0; n < 2; ++n) done(n, 7000);
  EXPECT_EQ(part(0, "ACK delay"), 2750u);
  EXPECT_EQ(part(0, "wire back"), 70u);
  EXPECT_EQ(part(0, "completion"), 2860u);
  EXPECT_EQ(part(1, "ACK delay"), 3749u);
  EXPECT_EQ(part(1, "completion"), 1860u);
  expect_sums();
}

// It is complete for tcp_tx with its last segment only.
TEST_F(LatencyBreakdownTest, ALongMessageIsAcknowledgedWithItsLastSegment) {
  arrives_whole(0, 1000, 5000);
  writes(b, 1300, kConnectionOfB, kFlowOfB, 5000, 1);
  taken(b, 1310, TraceKind::kFrameSent, kConnectionOfB);
  port(a, 1400, kConnectionOfB, 1);
  learns(1440, 5000);
  writes(a, 2000, send(0), kFlow, 1, 6000);
  writes(a, 2001, send(0), kFlow, 1, 5000);  // a retransmission
  on(a, {2000, 2010}, TraceKind::kFrameSent, send(0));
  taken(a, 2020, TraceKind::kFrameSent, send(0));
  comes(b, 2200, send(0));
  writes(b, 2400, kConnectionOfB, kFlowOfB, 6000, 1);
  taken(b, 2410, TraceKind::kFrameSent, kConnectionOfB);
  port(a, 2500, kConnectionOfB, 2);
  learns(2540, 6000);
  done(0, 2600);
  EXPECT_EQ(part(0, "ACK delay"), 200u);
  EXPECT_EQ(part(0, "tcp_rx"), 40u);
  EXPECT_EQ(part(0, "completion"), 60u);
  expect_sums();
}

// tcp_rx still hands octets up when their acknowledgement leaves. An answer carries it, by a frame of another owner.
TEST_F(LatencyBreakdownTest, AnAnswerMayCarryTheAcknowledgement) {
  const RequestId answer(2, Kind::kSend, 4, 0, 0);
  arrives_whole(0, 1000, 5000);
  on(b, 1100, TraceKind::kPosted, answer);
  on(b, 1190, TraceKind::kTaken, {2, Kind::kFlow, 1, 0, 0},
     static_cast<std::uint32_t>(TraceKind::kFrameSent));  // else's
  writes(b, 1230, answer, kFlowOfB, 5000, 70);
  taken(b, 1240, TraceKind::kFrameSent, answer);
  port(a, 1400, answer, 2);
  learns(1450, 5000);
  done(0, 1500);
  EXPECT_EQ(part(0, "peer tcp_rx"), 20u);
  EXPECT_EQ(part(0, "ACK delay"), 0u);
  EXPECT_EQ(part(0, "peer mac_tx queue"), 10u);
  EXPECT_EQ(part(0, "wire back"), 160u);
  EXPECT_EQ(part(0, "completion"), 50u);
  expect_sums();
}

// The flow's number and the sequence numbers belong to another connection.
TEST_F(LatencyBreakdownTest, AConnectionThatHasAFlowsNumberNextIsNoneOfTheEarlier) {
  arrives_whole(0, 1000, 4'000'000'000);  // never acknowledged
  const RequestId next(1, Kind::kSend, 3, 1, 0);
  on(a, 2000, TraceKind::kPosted, next);
  on(a, 2000, TraceKind::kWqeFetched, next, static_cast<std::uint32_t>(abi::WrOpcode::kRdmaWrite));
  writes(a, 2010, next, kFlow, 1, 300);
  on(a, 2020, TraceKind::kFrameSent, next);
  taken(a, 2030, TraceKind::kFrameSent, next);
  comes(b, 2200, next);
  writes(b, 2400, kConnectionOfB, kFlowOfB, 300, 1);
  taken(b, 2410, TraceKind::kFrameSent, kConnectionOfB);
  port(a, 2500, kConnectionOfB, 1);
  learns(2540, 300);
  on(a, 2600, TraceKind::kCompleted, next);
  on(a, 2600, TraceKind::kPolled, next);
  ASSERT_EQ(breakdown.requests(), 1u);
  EXPECT_EQ(part(0, "ACK delay"), 200u);
  EXPECT_EQ(part(0, "completion"), 60u);
}

// A Send there and one back. What results report is half of the time until the answer is seen.
TEST_F(LatencyBreakdownTest, ARoundOfAPingPongIsTwoWays) {
  const RequestId there = send(0), back(2, Kind::kSend, 4, 0, 0);
  on(b, 50, TraceKind::kPosted, receive(0), kPingPong);
  on(a, 100, TraceKind::kPosted, there, kPingPong);
  fetched(200, 0, abi::WrOpcode::kSend);
  on(a, 300, TraceKind::kFrameSent, there);
  comes(b, 400, there);
  used(700, there, receive(0));
  on(a, 800, TraceKind::kCompleted, there);
  on(a, 850, TraceKind::kPolled, there);  // before the receiver's program sees the message
  on(b, {705, 706}, TraceKind::kCqeWritten, there);
  on(b, 890, TraceKind::kPolled, receive(0));
  seen(b, 900, there, Qpn(4), 0);
  on(b, 1000, TraceKind::kPosted, back, kPingPong);
  on(b, 1010, TraceKind::kWqeFetched, back, static_cast<std::uint32_t>(abi::WrOpcode::kSend));
  on(b, 1100, TraceKind::kFrameSent, back);
  comes(a, 1301, back);
  seen(a, 1801, back, Qpn(3), 0);
  ASSERT_EQ(breakdown.requests(), 5u);
  EXPECT_EQ(breakdown.request(0).total_ps, 750u);  // its own completion
  const LatencyBreakdown::Request way = breakdown.request(2);
  EXPECT_EQ(way.kind, stations::RequestClass::kOneWay);
  EXPECT_EQ(way.total_ps, 800u);
  EXPECT_THAT(way.parts, ElementsAre(Pair(StrEq("WQE fetch"), 100), Pair(StrEq("tcp_tx queue"), 100),
                                     Pair(StrEq("tcp_tx"), 0), Pair(StrEq("wire"), 100), Pair(StrEq("peer mac_rx"), 0),
                                     Pair(StrEq("peer rdmap_dispatch queue"), 300),
                                     Pair(StrEq("peer rdmap_dispatch"), 1), Pair(StrEq("peer CQE write queue"), 4),
                                     Pair(StrEq("peer CQE write"), 1), Pair(StrEq("peer poll"), 194)));
  EXPECT_EQ(breakdown.request(3).id, back);
  EXPECT_EQ(breakdown.request(3).total_ps, 801u);
  const LatencyBreakdown::Request round = breakdown.request(4);
  EXPECT_EQ(round.kind, stations::RequestClass::kRound);
  EXPECT_EQ(round.id, there);
  EXPECT_EQ(round.total_ps, 850u);   // of 1701
  EXPECT_EQ(part(4, "wire"), 150u);  // of 100 and 201
  EXPECT_EQ(part(4, "peer program"), 50u);
  expect_sums();
  const nlohmann::ordered_json list = breakdown.json();
  ASSERT_EQ(list.size(), 5u);
  EXPECT_EQ(list[0]["operation"], "half a round trip");
  EXPECT_EQ(list[0]["work"], "ping");
  EXPECT_EQ(list[0]["node"], "a");
  EXPECT_DOUBLE_EQ(list[0]["total"]["p50_ns"], 0.85);
  EXPECT_EQ(list[1]["operation"], "one way");
  EXPECT_EQ(list[2]["node"], "b");
}

// The next message of a queue pair answers none.
TEST_F(LatencyBreakdownTest, AMessageThatAnswersNothingEndsNoRound) {
  for (std::uint32_t n = 0; n < 2; ++n) {
    on(a, 100 + n, TraceKind::kPosted, send(n), kPingPong);
    fetched(100 + n, n, abi::WrOpcode::kRdmaWrite);
    seen(b, 200 + n, send(n), Qpn(4), n);
    seen(b, 300 + n, send(n), Qpn(4), n);  // once
  }
  on(a, 400, TraceKind::kPosted, send(2), 1);  // other work
  seen(b, 500, send(2), Qpn(4), 2);
  ASSERT_EQ(breakdown.requests(), 2u);
  EXPECT_EQ(breakdown.request(1).kind, stations::RequestClass::kOneWay);
  EXPECT_EQ(breakdown.request(1).total_ps, 100u);
}

TEST_F(LatencyBreakdownTest, OneDoorbellIsOfAllThatWerePostedBefore) {
  for (std::uint64_t n = 0; n < 3; ++n) on(a, 100 + n, TraceKind::kPosted, send(n));
  rang(200, TraceKind::kDoorbellWritten, 3);
  rang(300, TraceKind::kDoorbell, 3);
  for (std::uint64_t n = 0; n < 3; ++n) {
    on(a, 400, TraceKind::kCompleted, send(n));
    on(a, 500 + n, TraceKind::kPolled, send(n));
  }
  ASSERT_EQ(breakdown.requests(), 3u);
  EXPECT_THAT(breakdown.request(2).parts, ElementsAre(Pair(StrEq("driver"), 98), Pair(StrEq("doorbell"), 100),
                                                      Pair(StrEq("completion"), 100), Pair(StrEq("poll"), 102)));
}

TEST_F(LatencyBreakdownTest, TheProducerIndexWraps) {
  for (std::uint64_t n = 0; n < 5000; ++n) {
    on(a, n * 10, TraceKind::kPosted, send(n));
    rang(n * 10 + 1, TraceKind::kDoorbellWritten, (n + 1) & 0xfff);
    rang(n * 10 + 3, TraceKind::kDoorbell, (n + 1) & 0xfff);
    on(a, n * 10 + 7, TraceKind::kPolled, send(n));
  }
  ASSERT_EQ(breakdown.requests(), 5000u);
  for (const std::size_t n : {0u, 4095u, 4096u, 4999u}) {
    EXPECT_THAT(breakdown.request(n).parts,
                ElementsAre(Pair(StrEq("driver"), 1), Pair(StrEq("doorbell"), 2), Pair(StrEq("poll"), 4)));
  }
}

// More requests are in flight than the ring had room for at the start, and they wrap in it.
TEST_F(LatencyBreakdownTest, ManyRequestsAreUnderWay) {
  std::uint64_t posted = 0, polled = 0;
  for (unsigned round = 0; round < 40; ++round) {
    for (unsigned i = 0; i < 7; ++i, ++posted) on(a, 1000 + posted, TraceKind::kPosted, send(posted));
    for (unsigned i = 0; i < 5; ++i, ++polled) on(a, 10000 + 3 * polled, TraceKind::kPolled, send(polled));
  }
  ASSERT_EQ(breakdown.requests(), polled);
  for (std::size_t n = 0; n < polled; ++n) EXPECT_EQ(breakdown.request(n).total_ps, 9000 + 2 * n);
}

TEST_F(LatencyBreakdownTest, UnsignaledRequestsEndWithTheCompletionThatCoversThem) {
  for (std::uint64_t n = 0; n < 4; ++n) written(n, 100 + n, 200 + 10 * n, 300 + 10 * n);
  on(a, 430, TraceKind::kCompleted, send(3));
  on(a, {440, 441}, TraceKind::kCqeWritten, send(3));
  on(a, 500, TraceKind::kPolled, send(3));
  on(a, 600, TraceKind::kFrameSent, send(1));  // late
  on(a, 700, TraceKind::kPosted, send(4));
  on(a, 800, TraceKind::kPolled, send(4));
  ASSERT_EQ(breakdown.requests(), 5u);
  for (std::size_t n = 0; n < 5; ++n) EXPECT_EQ(breakdown.request(n).id, send(n));
  EXPECT_EQ(breakdown.request(1).total_ps, 399u);
  EXPECT_EQ(part(1, "wire"), 100u);
  EXPECT_EQ(part(1, "covering completion"), 120u);
  EXPECT_EQ(part(1, "TCP acknowledgement"), 0u);
  EXPECT_EQ(part(1, "CQE write"), 1u);
  EXPECT_EQ(part(1, "poll"), 59u);
  EXPECT_EQ(part(3, "covering completion"), 0u);
  EXPECT_EQ(part(3, "TCP acknowledgement"), 100u);
  EXPECT_EQ(breakdown.request(4).total_ps, 100u);
  expect_sums();
}

// Each has its own completion, which a later one covers as well.
TEST_F(LatencyBreakdownTest, ARequestEndsOnce) {
  for (std::uint64_t n = 0; n < 3; ++n) written(n, 100, 200, 300);
  for (std::uint64_t n = 0; n < 3; ++n) done(n, 400 + n);
  ASSERT_EQ(breakdown.requests(), 3u);
  EXPECT_EQ(breakdown.request(0).total_ps, 300u);
  EXPECT_EQ(part(0, "covering completion"), 0u);
}

// As results: a request counts if it completes after the warm-up.
TEST_F(LatencyBreakdownTest, TheWarmUpCountsInNoGroup) {
  for (std::uint64_t n = 0; n < 3; ++n) written(n, 100, 200, 300);
  done(0, 400);
  breakdown.restart();
  done(1, 500);
  done(2, 700);
  const nlohmann::ordered_json list = breakdown.json();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["requests"], 2);
  EXPECT_EQ(list[0]["examples"]["p50"], "a.3.1");
  EXPECT_DOUBLE_EQ(list[0]["total"]["mean_ns"], 0.5);
  EXPECT_EQ(breakdown.requests(), 3u);  // breakdown.tsv has them all
  breakdown.restart();
  EXPECT_TRUE(breakdown.json().empty());
}

// Events of the queue's earlier use arrive late.
TEST_F(LatencyBreakdownTest, ANumberUsedAgainHasRequestsOfItsOwn) {
  const RequestId before = send(0), now(1, Kind::kSend, 3, 1, 0);
  on(a, 100, TraceKind::kPosted, before);
  on(a, 200, TraceKind::kPosted, now);
  on(a, 300, TraceKind::kFrameSent, before);
  on(a, 400, TraceKind::kPolled, before);
  rang(450, TraceKind::kDoorbellWritten, 1);  // of the earlier use
  on(a, 500, TraceKind::kPolled, now);
  ASSERT_EQ(breakdown.requests(), 1u);
  EXPECT_EQ(breakdown.request(0).id, now);
  EXPECT_THAT(breakdown.request(0).parts, ElementsAre(Pair(StrEq("poll"), 300)));
}

// An id has 28 bits of the sequence.
TEST_F(LatencyBreakdownTest, ASequenceThatGoesRoundBeginsAnew) {
  const std::uint64_t last = (std::uint64_t{1} << RequestId::kSequenceBits) - 1;
  on(a, 100, TraceKind::kPosted, send(last));
  rang(110, TraceKind::kDoorbellWritten, 0);
  on(a, 200, TraceKind::kPosted, send(last + 1));
  rang(230, TraceKind::kDoorbellWritten, 1);
  on(a, 300, TraceKind::kPolled, send(last + 1));
  ASSERT_EQ(breakdown.requests(), 1u);
  EXPECT_THAT(breakdown.request(0).parts, ElementsAre(Pair(StrEq("driver"), 30), Pair(StrEq("poll"), 70)));
}

TEST_F(LatencyBreakdownTest, TheExamplesOfAPercentileAreRequests) {
  for (std::uint64_t n = 0; n < 100; ++n) {
    on(a, 1000 * n, TraceKind::kPosted, send(n));
    fetched(1000 * n + n, n, abi::WrOpcode::kSend);
    on(a, 1000 * n + 2 * n + 1, TraceKind::kPolled, send(n));
  }
  const nlohmann::ordered_json list = breakdown.json();
  ASSERT_EQ(list.size(), 1u);
  const auto& group = list[0];
  EXPECT_FALSE(group.contains("work"));
  EXPECT_EQ(group["operation"], "send");
  EXPECT_EQ(group["requests"], 100);
  EXPECT_EQ(group["examples"]["p50"], "a.3.49");
  EXPECT_EQ(group["examples"]["p99"], "a.3.98");
  EXPECT_EQ(group["examples"]["worst"], "a.3.99");
  for (std::uint64_t n = 100; n < 103; ++n) {  // as the histogram of results has it: the 52nd and the 102nd of 103
    on(a, 1000 * n, TraceKind::kPosted, send(n));
    on(a, 1000 * n + 2 * n + 1, TraceKind::kPolled, send(n));
  }
  EXPECT_EQ(breakdown.json()[0]["examples"]["p50"], "a.3.51");
  EXPECT_EQ(breakdown.json()[0]["examples"]["p99"], "a.3.101");
  EXPECT_DOUBLE_EQ(group["total"]["worst_ns"], 0.199);
  EXPECT_DOUBLE_EQ(group["total"]["mean_ns"], 0.1);
  EXPECT_EQ(group["parts"][0]["name"], "WQE fetch");
  EXPECT_DOUBLE_EQ(group["parts"][0]["worst_ns"], 0.099);
}

TEST_F(LatencyBreakdownTest, WorkItemsOfOneOperationAreToldApart) {
  constexpr std::uint32_t kWork[] = {0, 1, 1, 1, 1, 2, 2};
  for (std::uint64_t n = 0; n < std::size(kWork); ++n) {
    on(a, 1000 * n, TraceKind::kPosted, send(n), kWork[n]);
    on(a, 1000 * n + (kWork[n] == 2 ? 10 : 500), TraceKind::kPolled, send(n));
  }
  const nlohmann::ordered_json list = breakdown.json();
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0]["work"], "bulk");
  EXPECT_EQ(list[0]["requests"], 4);
  EXPECT_DOUBLE_EQ(list[0]["total"]["mean_ns"], 0.5);
  EXPECT_EQ(list[1]["work"], "control");
  EXPECT_DOUBLE_EQ(list[1]["total"]["worst_ns"], 0.01);
  EXPECT_FALSE(list[2].contains("work"));
}

}  // namespace
}  // namespace rnic::test

#include "model/system/latency_breakdown.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace rnic::test {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::StrEq;
using Kind = RequestId::Kind;

class LatencyBreakdownTest : public testing::Test {
 protected:
  LatencyBreakdown breakdown{{"a", "b"}};
  const TraceDomain a{"a", 1}, b{"b", 1}, core_a{"a", 4000};

  static RequestId send(std::uint64_t n) { return {1, Kind::kSend, 3, 0, n}; }
  void on(const TraceDomain& domain, Cycle at, TraceKind kind, RequestId id, const char* where = "",
          std::uint32_t value = 0) {
    TraceEvent e;
    e.cycle = at;
    e.where = where;
    e.kind = kind;
    e.request = id;
    e.values[0] = value;
    breakdown.event(domain, e);
  }
  void rang(Cycle at, TraceKind kind, std::uint32_t producer) {
    on(a, at, kind, {1, Kind::kQueuePair, 3, 0, 0}, "", producer);
  }
  void fetched(Cycle at, std::uint64_t n, abi::WrOpcode op) {
    on(a, at, TraceKind::kWqeFetched, send(n), "", static_cast<std::uint32_t>(op));
  }
};

TEST_F(LatencyBreakdownTest, AWriteIsCompleteWithItsAcknowledgement) {
  on(a, 100, TraceKind::kPosted, send(0));
  rang(110, TraceKind::kDoorbellWritten, 1);
  rang(300, TraceKind::kDoorbell, 1);
  fetched(700, 0, abi::WrOpcode::kRdmaWrite);
  on(a, 710, TraceKind::kSegmented, send(0));
  on(a, 720, TraceKind::kSegmented, send(0));  // the last segment counts
  on(a, 1000, TraceKind::kPayloadRead, send(0));
  on(a, 1010, TraceKind::kPassed, send(0), "rnic_a.tx.framed");
  on(a, 1021, TraceKind::kPassed, send(0), "rnic_a.tx.marked");
  on(a, 1033, TraceKind::kFpduSent, send(0));
  on(a, 1100, TraceKind::kFrameSent, send(0));
  on(b, 1600, TraceKind::kFrameReceived, send(0));
  on(b, 9000, TraceKind::kPlaced, send(0));  // in its own time
  on(a, 2200, TraceKind::kCompleted, send(0));
  on(a, 2210, TraceKind::kCqeWritten, send(0));
  on(a, 2500, TraceKind::kPolled, send(0));
  ASSERT_EQ(breakdown.requests(), 1u);
  const LatencyBreakdown::Request r = breakdown.request(0);
  EXPECT_EQ(r.id, send(0));
  EXPECT_EQ(r.total_ps, 2400u);
  EXPECT_THAT(
      r.parts,
      ElementsAre(Pair(StrEq("driver"), 10), Pair(StrEq("doorbell"), 190), Pair(StrEq("WQE fetch"), 400),
                  Pair(StrEq("rdmap_segmenter"), 20), Pair(StrEq("payload_fetch"), 280), Pair(StrEq("mpa_framer"), 10),
                  Pair(StrEq("marker_inserter"), 11), Pair(StrEq("crc_insert"), 12), Pair(StrEq("tcp_tx"), 67),
                  Pair(StrEq("wire"), 500), Pair(StrEq("TCP acknowledgement"), 600), Pair(StrEq("CQE write"), 10),
                  Pair(StrEq("poll"), 290)));
}

TEST_F(LatencyBreakdownTest, AReadPassesBothChipsAndTheirClocks) {
  on(a, 100, TraceKind::kPosted, send(0));
  rang(100, TraceKind::kDoorbellWritten, 1);
  rang(200, TraceKind::kDoorbell, 1);
  fetched(300, 0, abi::WrOpcode::kRdmaRead);
  on(core_a, 1, TraceKind::kFrameSent, send(0));  // at 4000 ps
  on(b, 5000, TraceKind::kFrameReceived, send(0));
  on(b, 5100, TraceKind::kDelivered, send(0));
  on(b, 5200, TraceKind::kResponse, send(0));
  on(b, 5300, TraceKind::kSegmented, send(0));
  on(b, 6000, TraceKind::kFrameSent, send(0));
  on(core_a, 2, TraceKind::kFrameReceived, send(0));  // at 8000 ps
  on(a, 8100, TraceKind::kPlaced, send(0));
  on(a, 8300, TraceKind::kCompleted, send(0));
  on(a, 9000, TraceKind::kPolled, send(0));
  const LatencyBreakdown::Request r = breakdown.request(0);
  EXPECT_THAT(
      r.parts,
      ElementsAre(Pair(StrEq("driver"), 0), Pair(StrEq("doorbell"), 100), Pair(StrEq("WQE fetch"), 100),
                  Pair(StrEq("tcp_tx"), 3700), Pair(StrEq("wire"), 1000), Pair(StrEq("peer rdmap_dispatch"), 100),
                  Pair(StrEq("peer responder"), 100), Pair(StrEq("peer rdmap_segmenter"), 100),
                  Pair(StrEq("peer tcp_tx"), 700), Pair(StrEq("wire back"), 2000), Pair(StrEq("ddp_placement"), 100),
                  Pair(StrEq("completion"), 200), Pair(StrEq("poll"), 700)));
}

// What TCP sends once more when the request is complete is on nobody's way, and the sum holds.
TEST_F(LatencyBreakdownTest, ALateRetransmissionTakesNoTime) {
  on(a, 100, TraceKind::kPosted, send(0));
  fetched(200, 0, abi::WrOpcode::kSend);
  on(a, 300, TraceKind::kFrameSent, send(0));
  on(b, 400, TraceKind::kFrameReceived, send(0));
  on(a, 500, TraceKind::kCompleted, send(0));
  on(a, 900, TraceKind::kRetransmitted, send(0));
  on(a, 700, TraceKind::kPolled, send(0));
  on(b, 950, TraceKind::kFrameReceived, send(0));
  const LatencyBreakdown::Request r = breakdown.request(0);
  std::uint64_t sum = 0;
  for (const auto& [part, ps] : r.parts) sum += ps;
  EXPECT_EQ(sum, r.total_ps);
  EXPECT_EQ(r.total_ps, 600u);
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
  EXPECT_THAT(breakdown.request(2).parts,
              ElementsAre(Pair(StrEq("driver"), 98), Pair(StrEq("doorbell"), 100),
                          Pair(StrEq("TCP acknowledgement"), 100), Pair(StrEq("poll"), 102)));
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

// A completion stands for the unsignaled requests before it, which have no end of their own.
TEST_F(LatencyBreakdownTest, UnsignaledRequestsAreNotBrokenDown) {
  for (std::uint64_t n = 0; n < 4; ++n) on(a, 100, TraceKind::kPosted, send(n));
  on(a, 500, TraceKind::kPolled, send(3));
  on(a, 600, TraceKind::kFrameSent, send(1));  // late
  on(a, 700, TraceKind::kPosted, send(4));
  on(a, 800, TraceKind::kPolled, send(4));
  ASSERT_EQ(breakdown.requests(), 2u);
  EXPECT_EQ(breakdown.request(0).id, send(3));
  EXPECT_EQ(breakdown.request(1).total_ps, 100u);
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
  EXPECT_EQ(group["operation"], "send");
  EXPECT_EQ(group["requests"], 100);
  EXPECT_EQ(group["examples"]["p50"], "a.3.49");
  EXPECT_EQ(group["examples"]["p99"], "a.3.98");
  EXPECT_EQ(group["examples"]["worst"], "a.3.99");
  EXPECT_DOUBLE_EQ(group["total"]["worst_ns"], 0.199);
  EXPECT_DOUBLE_EQ(group["total"]["mean_ns"], 0.1);
  EXPECT_EQ(group["parts"][0]["name"], "WQE fetch");
  EXPECT_DOUBLE_EQ(group["parts"][0]["worst_ns"], 0.099);
}

}  // namespace
}  // namespace rnic::test

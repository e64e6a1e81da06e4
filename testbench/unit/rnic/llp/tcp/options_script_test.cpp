// Timestamps (RFC 7323), ECN (RFC 3168), DCTCP (RFC 8257), keepalive and probes (RFC 9293 section 3.8).
#include "testbench/unit/rnic/llp/tcp/packet_script.h"

namespace rnic::test {
namespace {

// ---- Timestamps

TEST(TimestampScript, TheyAreInEverySegmentAndTakeTwelveOctetsOfIt) {
  run_script(R"(
    config timestamps 1
    listen
    +1 < S 0 {mss 1000, ts 7000 0}
    > SA 0 ack 1 {mss 1460, ts 1 7000}
    +20 < A 1 ack 1 {ts 7020 1}
    +1 rdma
    event accepted 988
    fpdu 988 x2
    > PA 1:989 {ts * 7020}
    > PA 989:1977 {ts * 7020}
    +10 < PA 1:101 ack 1977 {ts 7040 21}
    +0.5 > A 1977 ack 101 {ts * 7040}
  )");
}

TEST(TimestampScript, WithoutThePeersThereAreNone) {
  run_script(R"(
    config timestamps 1
    listen
    +1 < S 0 {mss 1000}
    > SA 0 ack 1 {mss 1460}
  )");
}

TEST(TimestampScript, AnOldOneIsAnsweredAndItsOctetsAreDropped) {
  run_script(R"(
    config timestamps 1
    handshake mss 1000, ts 4294967290 0
    < PA 1:101 ack 1 {ts 5 1}                  # later: the clock wraps
    +0.5 > A 1 ack 101 {ts * 5}
    +1 < PA 101:201 ack 1 {ts 4294967295 1}    # an old duplicate
    > A 1 ack 101 {ts * 5}
    +1 < PA 101:201 ack 1                      # none at all
    silence 5
    count rx.paws 1
    count rx.no_timestamp 1
    < PA 101:201 ack 1 {ts 5 1}
    +0.5 > A 1 ack 201 {ts * 5}
    +1 delivered 200
  )");
}

// RFC 7323 section 5.5: by then the peer's clock may be in the other half of its circle.
TEST(TimestampScript, TheRecentOneIsOldAfterTwentyFourDays) {
  run_script(R"(
    config timestamps 1
    config timestamp_ns 1000000
    handshake mss 1000, ts 100 0
    silence 2073599000000
    < PA 1:101 ack 1 {ts 99 1}
    > A 1 ack 1
    +2000000 < PA 1:101 ack 1 {ts 99 1}
    +0.5 > A 1 ack 101 {ts * 99}
    count rx.paws 1
  )");
}

// The echo is of the first segment that the ACK covers. So a delayed ACK or a hole makes the round trip longer, never
// shorter.
TEST(TimestampScript, TheEchoIsOfTheFirstSegmentThatTheAckCovers) {
  run_script(R"(
    config timestamps 1
    handshake mss 1000, sackOK, ts 100 0
    < PA 1:101 ack 1 {ts 110 1}
    +0.1 < PA 101:201 ack 1 {ts 120 1}
    > A 1 ack 201 {ts * 110}
    +5 < PA 301:401 ack 1 {ts 130 1}
    > A 1 ack 201 {ts * 110, sack 301:401}
    +5 < PA 201:301 ack 1 {ts 140 1}
    > A 1 ack 401 {ts * 140}
  )");
}

// A segment outside the window proves nothing, whatever its timestamp (RFC 7323 section 5.3, R2 before R3).
TEST(TimestampScript, ASegmentOfThePastDoesNotMoveTheClock) {
  run_script(R"(
    config timestamps 1
    config ack_every 1
    handshake mss 1000, ts 100 0
    < PA 1:101 ack 1 {ts 110 1}
    > A 1 ack 101 {ts * 110}
    +5 < PA 101:201 ack 1 {ts 120 1}
    > A 1 ack 201 {ts * 120}
    +5 < PA 1:101 ack 1 {ts 2000000000 1}
    > A 1 ack 201 {ts * 120}
    +5 < S 1 {mss 1000, ts 2000000000 0}
    > A 1 ack 201 {ts * 120}
    +5 < PA 201:301 ack 1 {ts 130 1}
    > A 1 ack 301 {ts * 130}
    count rx.paws 0
  )");
}

// Without timestamps, the 300 us from the first transmission to the ACK of the second would be ambiguous. The echo says
// 20 us, so the next timeout is at its lower bound again.
TEST(TimestampScript, TheRoundTripOfARetransmissionIsMeasured) {
  run_script(R"(
    config timestamps 1
    config rto_initial_us 300
    handshake mss 1000, ts 100 0
    fpdu 500
    > PA 1:501
    +199.6 > PA 1:501
    +20 < A 1 ack 501 {ts 1000 203}
    fpdu 500
    > PA 501:1001
    +199.6 > PA 501:1001
  )");
}

// ---- ECN

TEST(EcnScript, ItIsAgreedBySynFlagsAndMarksNewDataAlone) {
  run_script(R"(
    config ecn 1
    config rto_initial_us 300
    listen
    +1 < SEW 0 {mss 1000}
    > SAE 0 ack 1
    +20 < A 1 ack 1
    +1 rdma
    fpdu 1000
    > PA 1:1001 ect0
    +199.6 > PA 1:1001                         # sent again: not capable of ECN
    +10 < PA 1:101 ack 1001 win 0
    +0.5 > A 1001 ack 101
    fpdu 1000
    +199.4 > A 1000                            # nor is a probe
    +1 < A 101 ack 1001 win 65535
    > PAW 1001:2001 ect0
  )");
}

// RFC 3168 section 6.1.1: some peers return all reserved bits.
class EcnAnswers : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Flags, EcnAnswers, testing::Values("SAEW", "SAW", "SA"));

TEST_P(EcnAnswers, OtherThanEceAreNoConsent) {
  const std::string syn_ack = GetParam();
  PacketScript(R"(
    config ecn 1
    open
    > SEW 0
    +20 < )" + syn_ack +
               R"( 0 ack 1 {mss 1000}
    > A 1 ack 1
    rdma
    fpdu 1000
    > PA 1:1001                                # not capable of ECN
    +10 < AE 1 ack 1001
    fpdu 1000
    > PA 1001:2001
    count tx.congestion_echoes 0
  )")
      .run();
}

TEST(EcnScript, WhoDoesNotWantItDoesNotAgree) {
  run_script(R"(
    listen
    +1 < SEW 0 {mss 1000}
    > SA 0 ack 1
    +20 < A 1 ack 1
    +1 rdma
    fpdu 1000
    > PA 1:1001
  )");
}

TEST(EcnScript, APeerThatSendsNoFlagsGetsNone) {
  run_script(R"(
    config ecn 1
    listen
    +1 < S 0 {mss 1000}
    > SA 0 ack 1
  )");
}

TEST(EcnScript, AMarkIsEchoedUntilThePeerReducedItsWindow) {
  run_script(R"(
    config ecn 1
    config ack_every 1
    listen
    +1 < SEW 0 {mss 1000}
    > SAE 0 ack 1
    +20 < A 1 ack 1
    +1 rdma
    < PA 1:101 ack 1
    > A 1 ack 101
    +1 < PA 101:201 ack 1 ce
    > AE 1 ack 201
    +1 < PA 201:301 ack 1
    > AE 1 ack 301
    +1 < PAW 301:401 ack 1
    > A 1 ack 401
    count tx.congestion_marks 1
  )");
}

TEST(EcnScript, AnEchoHalvesTheWindowOncePerWindow) {
  run_script(R"(
    config ecn 1
    config initial_window 4
    listen
    +1 < SEW 0 {mss 1000}
    > SAE 0 ack 1
    +20 < A 1 ack 1
    +1 rdma
    fpdu 1000 x12
    > PA 1:1001 ect0
    > PA 1001:2001 ect0
    > PA 2001:3001 ect0
    > PA 3001:4001 ect0
    +20 < AE 1 ack 1001
    +1 < AE 1 ack 2001
    +1 < AE 1 ack 3001
    > PAW 4001:5001 ect0
    +20 < A 1 ack 5001
    > PA 5001:6001 ect0
    > PA 6001:7001 ect0
    > PA 7001:8001 ect0                        # three: a window of two was acknowledged
    silence 10
    count tx.congestion_echoes 1
  )");
}

// RFC 3168 section 6.1.2: a window of one segment cannot be halved. The next new segment waits for the timer.
TEST(EcnScript, AtAWindowOfOneSegmentAnEchoSetsThePaceOfTheTimer) {
  run_script(R"(
    config ecn 1
    open
    > SEW 0
    +1000 > SEW 0                              # a lost SYN leaves one segment
    +20 < SAE 0 ack 1 {mss 1000}
    > A 1 ack 1
    rdma
    fpdu 1000 x3
    > PAW 1:1001 ect0
    +20 < AE 1 ack 1001
    +199.9 > PAW 1001:2001 ect0
    +20 < AE 1 ack 2001
    +199.9 > PAW 2001:3001 ect0
    +20 < A 1 ack 3001
    fpdu 1000 x3
    > PA 3001:4001 ect0
    > PA 4001:5001 ect0                        # it grows again
    count tx.timeouts 1                        # that of the SYN
    count tx.retransmissions 1
  )");
}

TEST(DctcpScript, AnAckCoversNoChangeOfTheMark) {
  run_script(R"(
    config congestion dctcp
    listen
    +1 < SEW 0 {mss 1000}
    > SAE 0 ack 1
    +20 < A 1 ack 1
    +1 rdma
    < PA 1:101 ack 1
    +0.1 < PA 101:201 ack 1 ce
    > A 1 ack 101                              # at once, without the echo
    +0.5 > AE 1 ack 201
    +1 < PA 201:301 ack 1 ce
    +0.1 < PA 301:401 ack 1
    > AE 1 ack 301
    +0.5 > A 1 ack 401
  )");
}

// ---- Keepalive and probes

TEST(KeepaliveScript, ASilentPeerIsAskedAndGivenUp) {
  run_script(R"(
    config keepalive_us 1000
    config max_retries 2
    handshake mss 1000
    +999 > A 0 ack 1
    +1 < A 1 ack 1                             # it is there
    +1000 > A 0 ack 1
    +999.8 > A 0 ack 1
    +1001 event reset
    count tx.keepalives 3
  )");
}

// RFC 9293 section 3.8.4: keepalive is off by default.
TEST(KeepaliveScript, ByDefaultAPeerMayBeSilentForHours) {
  run_script(R"(
    handshake mss 1000
    silence 10800000000
    < PA 1:101 ack 1
    +0.5 > A 1 ack 101
    count tx.keepalives 0
    count connection.resets 0
  )");
}

// A connection turns keepalive on where the chip has no interval. It gets two hours, the shortest default that RFC 9293
// section 3.8.4 allows.
TEST(KeepaliveScript, AConnectionTurnsItOn) {
  run_script(R"(
    handshake mss 1000
    limits keep_alive on
    +7199999990 count tx.keepalives 0
    +10 > A 0 ack 1
    +1 < A 1 ack 1
    count tx.keepalives 1
  )");
}

TEST(KeepaliveScript, TurningItOnLeavesTheTimeoutOfWhatIsInFlight) {
  run_script(R"(
    handshake mss 1000
    fpdu 1000
    > PA 1:1001
    +100 limits keep_alive on
    +99.8 > PA 1:1001
    +10 < A 1 ack 1001
    count tx.timeouts 1
  )");
}

TEST(KeepaliveScript, AConnectionTurnsItOff) {
  run_script(R"(
    config keepalive_us 1000
    handshake mss 1000
    limits keep_alive off
    silence 10800000000
    fpdu 1000
    > PA 1:1001
    +1 < A 1 ack 1001
    silence 10800000000
    count tx.keepalives 0
  )");
}

TEST(KeepaliveScript, DataPutsItOff) {
  run_script(R"(
    config keepalive_us 1000
    handshake mss 1000
    +900 fpdu 1000
    > PA 1:1001
    +20 < A 1 ack 1001
    +1000 > A 1000 ack 1
  )");
}

TEST(ProbeScript, AClosedWindowIsAskedAtGrowingIntervals) {
  run_script(R"(
    window 2000
    handshake mss 1000
    fpdu 1000 x2
    > PA 1:1001
    > PA 1001:2001
    +10 < A 1 ack 2001 win 0
    fpdu 1000 x1
    +199.9 > A 2000
    +1 < A 1 ack 2001 win 0
    +399.9 > A 2000
    +1 < A 1 ack 2001 win 0
    +799.9 > A 2000
    +1 < A 1 ack 2001 win 5000
    > PA 2001:3001
    count tx.probes 3
    count tx.retransmissions 0
  )");
}

}  // namespace
}  // namespace rnic::test

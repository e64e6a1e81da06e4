// When received data is acknowledged, and when sent data is sent again (RFC 6298 section 5, RFC 9293 sections 3.8.3 and
// 3.8.6.3).
#include "testbench/unit/rnic/llp/tcp/packet_script.h"

namespace rnic::test {
namespace {

// ---- Acknowledgements

// RFC 9293 section 3.10.7.4: waiting segments are acknowledged together.
TEST(AckScript, OfABurstEverySecondSegmentIsAcknowledged) {
  run_script(R"(
    handshake mss 1000
    < PA 1:101 ack 1
    < PA 101:201 ack 1
    < PA 201:301 ack 1
    < PA 301:401 ack 1
    < PA 401:501 ack 1
    < PA 501:601 ack 1
    < PA 601:701 ack 1
    < PA 701:801 ack 1
    > A 1 ack 201
    > A 1 ack 401
    > A 1 ack 601
    > A 1 ack 801
    silence 10
    delivered 800
  )");
}

TEST(AckScript, OrTheWholeIfThatIsConfigured) {
  run_script(R"(
    config ack_every 4
    handshake mss 1000
    < PA 1:101 ack 1
    < PA 101:201 ack 1
    < PA 201:301 ack 1
    < PA 301:401 ack 1
    > A 1 ack 401
    silence 10
  )");
}

// ---- The retransmission timer

TEST(TimerScript, StartsWithDataStartsAnewWithAnAckDoublesAndStops) {
  run_script(R"(
    handshake mss 1000
    fpdu 1000
    > PA 1:1001                 # it starts
    +100 fpdu 1000
    > PA 1001:2001              # and goes on
    +20 < A 1 ack 1001          # it starts anew
    +199.8 > PA 1001:2001
    +399.8 > PA 1001:2001
    +799.8 > PA 1001:2001
    +10 < A 1 ack 2001          # it stops
    silence 10000
    fpdu 1000
    > PA 2001:3001
    +199.8 > PA 2001:3001
    +10 < A 1 ack 3001
    silence 10000
    count tx.timeouts 4
  )");
}

// The segments sent last have not waited that long.
TEST(TimerScript, SendsTheFirstSegmentAgainAndNoOther) {
  run_script(R"(
    handshake mss 1000
    fpdu 1000
    > PA 1:1001
    +190 fpdu 1000
    > PA 1001:2001
    +9.6 > PA 1:1001
    silence 390
    +9.6 > PA 1:1001
    +10 < A 1 ack 2001
    silence 10000
    count tx.retransmissions 2
  )");
}

TEST(TimerScript, StartsAnewWhenTheFirstSegmentGoesAgain) {
  run_script(R"(
    handshake mss 1000
    fpdu 1000 x4
    > PA 1:1001
    > PA 1001:2001
    > PA 2001:3001
    > PA 3001:4001
    +150 < A 1 ack 1
    < A 1 ack 1
    < A 1 ack 1
    > PA 1:1001
    +199.8 > PA 1:1001
    +10 < A 1 ack 4001
    silence 10000
  )");
}

// The accounts count a loss's repair from the start of the timer until all data is acknowledged.
TEST(TimerScript, TheTimeThatALossTakesIsTold) {
  PacketScript script(R"(
    handshake mss 1000
    fpdu 1000
    > PA 1:1001
    +199.8 > PA 1:1001
    +10 < A 1 ack 1001
    silence 100
  )");
  script.run();
  const Cycle now = script.chip().tcp_tx.clock().next();
  const Account::Totals in_flight = script.chip().tcp_tx.in_flight().totals(now);
  const Account::Totals repairing = script.chip().tcp_tx.repairing().totals(now);
  EXPECT_NEAR(static_cast<double>(repairing.taken), 210e3 / 4, 200);
  EXPECT_GE(in_flight.taken, repairing.taken);
  EXPECT_NEAR(static_cast<double>(repairing.busy), 10e3 / 4, 100) << "once it is found";
}

TEST(TimerScript, GivesUpAfterTheLastRetry) {
  run_script(R"(
    config max_retries 3
    handshake mss 1000
    fpdu 1000
    > PA 1:1001
    +199.8 > PA 1:1001
    +399.8 > PA 1:1001
    +799.8 > PA 1:1001
    +1598 count connection.resets 0
    +3 event reset
    count connection.resets 1
    silence 10000
  )");
}

// R2 of a connection (RFC 9293 section 3.8.3) overrides the chip's.
TEST(TimerScript, AConnectionIsGivenUpAfterFewerRetries) {
  run_script(R"(
    config max_retries 3
    handshake mss 1000
    limits max_retries 1
    fpdu 1000
    > PA 1:1001
    +199.8 > PA 1:1001
    +399 count connection.resets 0
    +3 event reset
  )");
}

TEST(TimerScript, AConnectionIsGivenUpAfterMoreRetries) {
  run_script(R"(
    config max_retries 1
    handshake mss 1000
    limits max_retries 2
    fpdu 1000
    > PA 1:1001
    +199.8 > PA 1:1001
    +399.8 > PA 1:1001
    +799 count connection.resets 0
    +3 event reset
  )");
}

}  // namespace
}  // namespace rnic::test

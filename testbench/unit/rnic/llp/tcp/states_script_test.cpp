// Opening and closing in every order, and RST in every state (RFC 9293 sections 3.5, 3.6 and 3.10.7).
#include "testbench/unit/rnic/llp/tcp/packet_script.h"

namespace rnic::test {
namespace {

TEST(StatesScript, BothEndsOpen) {
  run_script(R"(
    open
    > S 0
    < S 0 {mss 1000}
    > SA 0 ack 1
    < SA 0 ack 1
    > A 1 ack 1
    +1 event connected
  )");
}

TEST(StatesScript, BothEndsClose) {
  run_script(R"(
    handshake mss 1000
    close
    > FA 1 ack 1
    < FA 1 ack 1                # crossed ours
    > A 2 ack 2
    < A 2 ack 2
    +1 event closed
    < FA 1 ack 2                # our ACK was lost: TIME-WAIT says it again
    > A 2 ack 2
  )");
}

TEST(StatesScript, AFinInTimeWaitRestartsIt) {
  run_script(R"(
    config time_wait_us 100
    handshake mss 1000
    close
    > FA 1 ack 1
    < FA 1 ack 2
    > A 2 ack 2
    +1 event closed
    +80 < FA 1 ack 2
    > A 2 ack 2
    +80 < FA 1 ack 2
    > A 2 ack 2
    +110 < FA 1 ack 2           # it is over
    > R 2
  )");
}

TEST(StatesScript, APeerThatClosedStillReceives) {
  run_script(R"(
    handshake mss 1000
    < FA 1 ack 1
    > A 1 ack 2
    +1 event peer_closed
    fpdu 1000
    > PA 1:1001 ack 2
    +10 < A 2 ack 1001
    +1 close
    > FA 1001 ack 2
    < A 2 ack 1002
    +1 event closed
  )");
}

TEST(StatesScript, AnEndThatClosedStillReceives) {
  run_script(R"(
    handshake mss 1000
    close
    > FA 1 ack 1
    < A 1 ack 2
    +10 < PA 1:101 ack 2
    +0.5 > A 2 ack 101
    +10 < FA 101 ack 2
    > A 2 ack 102
    +1 event closed
    delivered 100
  )");
}

TEST(StatesScript, ALostFinIsRepeated) {
  run_script(R"(
    handshake mss 1000
    close
    > FA 1 ack 1
    +199.8 > FA 1 ack 1
    < FA 1 ack 2
    > A 2 ack 2
    +1 event closed
  )");
}

TEST(StatesScript, AnAbortTellsThePeer) {
  run_script(R"(
    handshake mss 1000
    abort
    > RA 1 ack 1
    < A 1 ack 1                 # of a connection that is gone
    > R 1
  )");
}

// ---- RST

TEST(StatesScript, ARstInSynSentRefusesIfItAcknowledgesTheSyn) {
  run_script(R"(
    open
    > S 0
    < R 0
    silence 10
    < RA 0 ack 5
    silence 10
    < RA 0 ack 1
    +1 event open_failed
  )");
}

TEST(StatesScript, ARstInSynReceivedForgetsTheConnection) {
  run_script(R"(
    listen
    +1 < S 0
    > SA 0 ack 1
    < R 1
    +1 < A 1 ack 1
    > R 1
  )");
}

TEST(StatesScript, ARstInFinWait1Resets) {
  run_script(R"(
    handshake mss 1000
    close
    > FA 1 ack 1
    < R 1
    +1 event reset
  )");
}

TEST(StatesScript, ARstInFinWait2Resets) {
  run_script(R"(
    handshake mss 1000
    close
    > FA 1 ack 1
    < A 1 ack 2
    +1 < R 1
    +1 event reset
  )");
}

TEST(StatesScript, ARstInCloseWaitResets) {
  run_script(R"(
    handshake mss 1000
    < FA 1 ack 1
    > A 1 ack 2
    +1 event peer_closed
    < R 2
    +1 event reset
  )");
}

TEST(StatesScript, ARstInLastAckEnds) {
  run_script(R"(
    handshake mss 1000
    < FA 1 ack 1
    > A 1 ack 2
    +1 close
    > FA 1 ack 2
    < R 2
    +1 event peer_closed
    event reset
  )");
}

TEST(StatesScript, ARstInTimeWaitEndsItSilently) {
  run_script(R"(
    handshake mss 1000
    close
    > FA 1 ack 1
    < FA 1 ack 2
    > A 2 ack 2
    +1 event closed
    < R 2
    +1 < A 2 ack 2
    > R 2
  )");
}

}  // namespace
}  // namespace rnic::test

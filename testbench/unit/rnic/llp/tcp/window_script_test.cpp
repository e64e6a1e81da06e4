// The peer's window: when it counts, when it shrinks, and when it holds no FPDU (RFC 9293 sections 3.8.6 and 3.10.7.4).
#include "testbench/unit/rnic/llp/tcp/packet_script.h"

namespace rnic::test {
namespace {

TEST(WindowScript, AWindowBelowAnFpduIsFilledWithAPiece) {
  run_script(R"(
    window 600
    handshake mss 1000
    fpdu 1000 x2
    > A 1:601
    +10 < A 1 ack 601
    > PA 601:1001
    +10 < A 1 ack 1001
    > A 1001:1601
    +10 < A 1 ack 1601
    > PA 1601:2001
    +10 < A 1 ack 2001
    count tx.cuts 2
    count tx.probes 0
    count tx.timeouts 0
  )");
}

// RFC 9293 section 3.8.6.2.1: a window below half of the largest needs the override timeout.
TEST(WindowScript, ASmallerWindowIsFilledWhenTheTimerRunsOut) {
  run_script(R"(
    handshake mss 1000
    fpdu 1000
    > PA 1:1001
    +10 < A 1 ack 1001 win 100
    fpdu 1000
    +199.9 > A 1001:1101
    +10 < A 1 ack 1101 win 100
    +199.9 > A 1101:1201
    +10 < A 1 ack 1201 win 5000
    > PA 1201:2001
    +10 < A 1 ack 2001
    count tx.cuts 2
    count tx.probes 0
  )");
}

// No new data is sent, and sent data is repeated as usual.
TEST(WindowScript, APeerMayShrinkItsWindowBelowWhatWasSent) {
  run_script(R"(
    handshake mss 1000
    fpdu 1000 x2
    > PA 1:1001
    > PA 1001:2001
    +10 < A 1 ack 1 win 500
    fpdu 1000
    +189.6 > PA 1:1001
    +10 < A 1 ack 2001 win 5000
    > PA 2001:3001
    count tx.cuts 0
    count tx.timeouts 1
  )");
}

TEST(WindowScript, AnOlderSegmentDoesNotTellTheWindow) {
  run_script(R"(
    handshake mss 1000
    fpdu 1000
    > PA 1:1001
    +10 < PA 101:201 ack 1001 win 2000
    > A 1001 ack 1
    +1 < PA 1:101 ack 1001 win 60000      # overtaken
    > A 1001 ack 201
    fpdu 1000 x3
    > PA 1001:2001
    > PA 2001:3001
    silence 10
    +1 < A 201 ack 3001 win 60000
    > PA 3001:4001
    delivered 200
  )");
}

// RFC 9293 section 3.8.6: a FIN takes a sequence number, so it waits for the window, and probes ask for it.
TEST(WindowScript, AFinWaitsForRoomOfOneOctet) {
  run_script(R"(
    window 1000
    handshake mss 1000
    fpdu 1000
    > PA 1:1001
    +1 close
    silence 10
    < A 1 ack 1001 win 0
    +199.9 > A 1000
    +1 < A 1 ack 1001 win 0
    +399.9 > A 1000
    +1 < A 1 ack 1001 win 1
    > FA 1001
    < A 1 ack 1002
    count tx.probes 2
    silence 1000
  )");
}

// RFC 7323 sections 2.2 and 2.3: a scale belongs to a SYN, and does not apply to the SYN's own window.
TEST(WindowScript, AScaleAboveFourteenIsFourteen) {
  run_script(R"(
    window 1
    handshake mss 1000, ws 15
    < A 1 ack 1 win 1 {ws 0}
    fpdu 1000 x20
    > PA 1:1001 {}
    > PA 1001:2001 {}
    > PA 2001:3001 {}
    > PA 3001:4001 {}
    > PA 4001:5001 {}
    > PA 5001:6001 {}
    > PA 6001:7001 {}
    > PA 7001:8001 {}
    > PA 8001:9001 {}
    > PA 9001:10001 {}
    > PA 10001:11001 {}
    > PA 11001:12001 {}
    > PA 12001:13001 {}
    > PA 13001:14001 {}
    > PA 14001:15001 {}
    > PA 15001:16001 {}
    silence 10
  )");
}

// ---- Our window

// Section 3.8.6.2.2: the peer hears of consumed octets when they amount to a segment.
TEST(WindowScript, NoAckOpensTheWindowByLessThanASegment) {
  run_script(R"(
    config window_bytes 4096
    config ack_every 1
    handshake mss 1000
    < PA 1:401 ack 1
    > A 1 ack 401 win 3696
    +1 < PA 401:801 ack 1                      # 400 were taken out
    > A 1 ack 801 win 3296
    +1 < PA 801:1201 ack 1
    > A 1 ack 1201 win 2896
    +1 < PA 1201:1301 ack 1                    # now it is 1200
    > A 1 ack 1301 win 3996
    +1 < A 0 ack 1
    > A 1 ack 1301 win 3996
    delivered 1300
  )");
}

// RFC 7323 section 2.4: offered octets are accepted, even after an ACK that had to round the window.
TEST(WindowScript, WhatWasOnceOfferedIsTaken) {
  run_script(R"(
    config window_bytes 70000
    config ack_every 1
    handshake mss 1460, sackOK, ws 0
    hold
    < A 0 ack 1
    > A 1 ack 1 win 35000                      # by two octets, up to 70001
    < PA 1:2 ack 1
    > A 1 ack 2 win 34999                      # up to 70000
    < PA 69901:70002 ack 1
    > A 1 ack 2 win 34999 {sack 69901:70001}
    count rx.beyond_window 1
  )");
}

// RFC 9293 section 3.8.6.1: the ACK says what it has and what it can take, whether the probe has an octet or not.
TEST(WindowScript, AClosedWindowAnswersAProbe) {
  run_script(R"(
    config window_bytes 4096
    config ack_every 1
    handshake mss 1460
    hold
    < PA 1:1401 ack 1
    > A 1 ack 1401 win 2696
    < PA 1401:2801 ack 1
    > A 1 ack 2801 win 1296
    < PA 2801:4097 ack 1
    > A 1 ack 4097 win 0
    +10 < A 4097:4098 ack 1
    > A 1 ack 4097 win 0
    +10 < A 4096 ack 1
    > A 1 ack 4097 win 0
    delivered 4096
    release
    +0.02 > A 1 ack 4097 win 4096
    < A 4097:4098 ack 1
    > A 1 ack 4098 win 4095
  )");
}

// Without a scale a window cannot exceed 65535 octets.
TEST(WindowScript, NoMoreIsTakenThanWasAdvertised) {
  run_script(R"(
    handshake mss 1460, sackOK
    hold
    < PA 65501:65601 ack 1
    > A 1 ack 1 win 65535 {sack 65501:65536}
    < PA 65536:65600 ack 1
    > A 1 ack 1 win 65535 {sack 65501:65536}
    count rx.beyond_window 2
    < PA 1:1001 ack 1
    > A 1 ack 1001 win 64535 {sack 65501:65536}
  )");
}

}  // namespace
}  // namespace rnic::test

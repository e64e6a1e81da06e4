// Holes: what is kept after them, what the peer gets reported, and how the sender reacts to such reports (RFC 2018,
// 6675).
#include "testbench/unit/rnic/llp/tcp/packet_script.h"

namespace rnic::test {
namespace {

// ---- Receiver

TEST(SackScript, WhatIsBehindAHoleIsKeptToldAndDeliveredInOrder) {
  run_script(R"(
    handshake mss 1460, sackOK
    < PA 1001:2001 ack 1
    > A 1 ack 1 {sack 1001:2001}
    < PA 2001:3001 ack 1
    > A 1 ack 1 {sack 1001:3001}
    < PA 4001:5001 ack 1
    > A 1 ack 1 {sack 4001:5001 1001:3001}     # the latest first
    < PA 6001:7001 ack 1
    > A 1 ack 1 {sack 6001:7001 4001:5001 1001:3001}
    < PA 8001:9001 ack 1
    > A 1 ack 1 {sack 8001:9001 6001:7001 4001:5001 1001:3001}
    < PA 10001:11001 ack 1
    > A 1 ack 1 {sack 10001:11001 8001:9001 6001:7001 4001:5001}
    delivered 0
    < PA 1:1001 ack 1
    > A 1 ack 3001 {sack 10001:11001 8001:9001 6001:7001 4001:5001}
    < PA 3001:4001 ack 1
    > A 1 ack 5001 {sack 10001:11001 8001:9001 6001:7001}
    +1 delivered 5000
    < PA 5001:6001 ack 1
    > A 1 ack 7001 {sack 10001:11001 8001:9001}
    < PA 7001:8001 ack 1
    > A 1 ack 9001 {sack 10001:11001}
    < PA 9001:10001 ack 1
    > A 1 ack 11001 {}
    +2 delivered 11000
    count rx.out_of_order 6
    count rx.payload_bytes 11000
  )");
}

TEST(SackScript, WithoutThePeersConsentAHoleIsToldByDuplicateAcksAlone) {
  run_script(R"(
    handshake mss 1460
    < PA 1001:2001 ack 1
    > A 1 ack 1 {}
    < PA 2001:3001 ack 1
    > A 1 ack 1 {}
    < PA 1:1001 ack 1
    > A 1 ack 3001 {}
    +1 delivered 3000
  )");
}

TEST(SackScript, TheSynOffersAndTheAnswerAgrees) {
  run_script(R"(
    listen
    +1 < S 0 {mss 1000, sackOK, ws 3}
    > SA 0 ack 1 {mss 1460, ws 2, sackOK}
  )");
}

TEST(SackScript, OverlapsAndDuplicatesBehindAHoleAreHarmless) {
  run_script(R"(
    handshake mss 1460, sackOK
    < PA 501:701 ack 1
    > A 1 ack 1 {sack 501:701}
    < PA 501:701 ack 1
    > A 1 ack 1 {sack 501:701}
    < PA 901:1101 ack 1
    > A 1 ack 1 {sack 901:1101 501:701}
    < PA 301:1001 ack 1                        # covers one, fills a hole, touches another
    > A 1 ack 1 {sack 301:1101}
    < PA 1101:1201 ack 1
    > A 1 ack 1 {sack 301:1201}
    < PA 1:401 ack 1
    > A 1 ack 1201 {}
    +1 delivered 1200
    count rx.payload_bytes 1200
  )");
}

TEST(SackScript, RunsThatGrowAtAnyEndAreToldWhole) {
  run_script(R"(
    handshake mss 1460, sackOK
    < PA 1001:1101 ack 1
    > A 1 ack 1 {sack 1001:1101}
    < PA 501:601 ack 1
    > A 1 ack 1 {sack 501:601 1001:1101}
    < PA 1101:1201 ack 1
    > A 1 ack 1 {sack 1001:1201 501:601}
    < PA 901:1001 ack 1                        # before the last run
    > A 1 ack 1 {sack 901:1201 501:601}
    < PA 601:901 ack 1                         # between the two
    > A 1 ack 1 {sack 501:1201}
    < PA 1201:1301 ack 1
    > A 1 ack 1 {sack 501:1301}
    < PA 1401:1501 ack 1
    > A 1 ack 1 {sack 1401:1501 501:1301}
    < PA 1:501 ack 1                           # the first run goes, the last one stays
    > A 1 ack 1301 {sack 1401:1501}
    < PA 1501:1601 ack 1
    > A 1 ack 1301 {sack 1401:1601}
    < PA 1301:1401 ack 1
    > A 1 ack 1601 {}
    +1 delivered 1600
  )");
}

TEST(SackScript, WhatDoesNotFitIsDroppedAndNotTold) {
  run_script(R"(
    config reorder_bytes 2500
    handshake mss 1460, sackOK
    < PA 1001:2001 ack 1
    > A 1 ack 1 {sack 1001:2001}
    < PA 3001:4001 ack 1
    > A 1 ack 1 {sack 3001:4001 1001:2001}
    < PA 5001:6001 ack 1
    > A 1 ack 1 {sack 3001:4001 1001:2001}
    count rx.reorder_drops 1
    < PA 1:1001 ack 1
    > A 1 ack 2001 {sack 3001:4001}
    < PA 2001:3001 ack 1
    > A 1 ack 4001 {}
    < PA 5001:6001 ack 1                       # there is room again
    > A 1 ack 4001 {sack 5001:6001}
    < PA 4001:5001 ack 1
    > A 1 ack 6001 {}
    +1 delivered 6000
    count rx.reorder_bytes_max 2000
  )");
}

// The list limits segments, however short they are. Reported octets stay (RFC 2018 section 8), and the first hole needs
// no room.
TEST(SackScript, NoMoreSegmentsAreKeptThanTheListHolds) {
  run_script(R"(
    config reorder_segments 3
    handshake mss 1460, sackOK
    < PA 3001:3002 ack 1
    > A 1 ack 1 {sack 3001:3002}
    < PA 5001:5002 ack 1
    > A 1 ack 1 {sack 5001:5002 3001:3002}
    < PA 7001:7002 ack 1
    > A 1 ack 1 {sack 7001:7002 5001:5002 3001:3002}
    count rx.reorder_drops 0
    < PA 1001:2001 ack 1                       # lower than all
    > A 1 ack 1 {sack 7001:7002 5001:5002 3001:3002}
    < PA 4001:4002 ack 1
    > A 1 ack 1 {sack 7001:7002 5001:5002 3001:3002}
    < PA 8001:8002 ack 1
    > A 1 ack 1 {sack 7001:7002 5001:5002 3001:3002}
    count rx.reorder_drops 3
    < PA 5001:5002 ack 1                       # known, not new
    > A 1 ack 1 {sack 5001:5002 7001:7002 3001:3002}
    count rx.reorder_drops 3
    < PA 1:1001 ack 1
    > A 1 ack 1001 {sack 5001:5002 7001:7002 3001:3002}
    < PA 1001:2001 ack 1                       # again, now next
    > A 1 ack 2001 {sack 5001:5002 7001:7002 3001:3002}
    < PA 2001:3401 ack 1                       # what comes behind 3001 finds no room yet
    > A 1 ack 3002 {sack 5001:5002 7001:7002}
    < PA 4001:5101 ack 1                       # before 5001 there is room for one, behind it none
    > A 1 ack 3002 {sack 4001:5002 7001:7002}
    count rx.reorder_drops 5
    < PA 3002:4001 ack 1
    > A 1 ack 5002 {sack 7001:7002}
    < PA 5002:6001 ack 1
    > A 1 ack 6001 {sack 7001:7002}
    < PA 6001:7001 ack 1
    > A 1 ack 7002 {}
    < PA 8001:8002 ack 1                       # there is room again
    > A 1 ack 7002 {sack 8001:8002}
    < PA 7002:8001 ack 1
    > A 1 ack 8002 {}
    +1 delivered 8001
    count rx.reorder_drops 5
    count rx.reorder_segments_max 3
  )");
}

TEST(SackScript, WithoutABufferEverythingBehindAHoleIsDropped) {
  run_script(R"(
    config reorder_bytes 0
    handshake mss 1460, sackOK
    < PA 1001:2001 ack 1
    > A 1 ack 1 {}
    < PA 1:1001 ack 1
    +0.5 > A 1 ack 1001 {}
    +1 delivered 1000
  )");
}

TEST(SackScript, AFinBehindAHoleWaitsForIt) {
  run_script(R"(
    handshake mss 1460, sackOK
    < FPA 1001:2001 ack 1
    > A 1 ack 1 {sack 1001:2001}
    < PA 1:1001 ack 1
    > A 1 ack 2002 {}
    +1 event peer_closed
    delivered 2000
  )");
}

// Data leaves no room for SACK, and a duplicate ACK with data would not count, so the ACK goes alone.
TEST(SackScript, DataDoesNotCarryTheAckOfAHole) {
  run_script(R"(
    handshake mss 1460, sackOK
    fpdu 1000
    < PA 1001:2001 ack 1
    > A 1 ack 1 {sack 1001:2001}
    > PA 1:1001 ack 1 {}
  )");
}

// ---- Sender

TEST(SackScript, ThreeSegmentsAboveAHoleMakeItLost) {
  run_script(R"(
    handshake mss 1000, sackOK
    fpdu 1000 x8
    > PA 1:1001
    > PA 1001:2001
    > PA 2001:3001
    > PA 3001:4001
    > PA 4001:5001
    > PA 5001:6001
    > PA 6001:7001
    > PA 7001:8001
    +20 < A 1 ack 1001
    +1 < A 1 ack 1001 {sack 2001:3001}
    +1 < A 1 ack 1001 {sack 2001:4001}
    silence 1
    < A 1 ack 1001 {sack 2001:5001}
    > PA 1001:2001
    +1 < A 1 ack 1001 {sack 2001:8001}
    +10 < A 1 ack 8001
    silence 300
    count tx.fast_retransmits 1
    count tx.retransmissions 1
    count tx.sacked_bytes 6000
    count tx.timeouts 0
  )");
}

// All holes of a window are filled in one round trip, in order, as the pipe allows.
TEST(SackScript, AllHolesAreFilledInOneRoundTrip) {
  run_script(R"(
    handshake mss 1000, sackOK
    fpdu 1000 x10
    > PA 1:1001
    > PA 1001:2001
    > PA 2001:3001
    > PA 3001:4001
    > PA 4001:5001
    > PA 5001:6001
    > PA 6001:7001
    > PA 7001:8001
    > PA 8001:9001
    > PA 9001:10001
    +20 < A 1 ack 1 {sack 1001:2001}
    +1 < A 1 ack 1 {sack 1001:2001 3001:4001}
    +1 < A 1 ack 1 {sack 5001:8001 1001:2001 3001:4001}
    > PA 1:1001
    > PA 2001:3001
    > PA 4001:5001
    +10 < A 1 ack 1 {sack 5001:10001 1001:2001 3001:4001}
    +9 < A 1 ack 10001
    silence 300
    count tx.retransmissions 3
    count tx.fast_retransmits 1
    count tx.timeouts 0
  )");
}

TEST(SackScript, BlocksOfOneAckAreEnough) {
  run_script(R"(
    handshake mss 1000, sackOK
    fpdu 1000 x5
    > PA 1:1001
    > PA 1001:2001
    > PA 2001:3001
    > PA 3001:4001
    > PA 4001:5001
    +20 < A 1 ack 1 {sack 2001:5001}            # the ACKs before were lost
    > PA 1:1001
    > PA 1001:2001
    +20 < A 1 ack 5001
    silence 300
    count tx.timeouts 0
  )");
}

// RFC 2018 section 8: after a timeout all SACK information is discarded, for the peer may have dropped those octets.
TEST(SackScript, ATimeoutForgetsWhatWasKept) {
  run_script(R"(
    handshake mss 1000, sackOK
    fpdu 1000 x3
    > PA 1:1001
    > PA 1001:2001
    > PA 2001:3001
    +20 < A 1 ack 1 {sack 1001:3001}
    +179.6 > PA 1:1001
    +20 < A 1 ack 1001
    > PA 1001:2001
    > PA 2001:3001
    +20 < A 1 ack 3001
    silence 300
  )");
}

TEST(SackScript, BlocksOfWhatWasNeverSentSayNothing) {
  run_script(R"(
    handshake mss 1000, sackOK
    fpdu 1000 x2
    > PA 1:1001
    > PA 1001:2001
    +10 < A 1 ack 1 {sack 3001:9001}
    +1 < A 1 ack 1 {sack 2001:1001}
    +1 < A 1 ack 1001 {sack 1:1001}             # RFC 2883: received twice
    silence 20
    count tx.sacked_bytes 0
    count tx.retransmissions 0
  )");
}

}  // namespace
}  // namespace rnic::test

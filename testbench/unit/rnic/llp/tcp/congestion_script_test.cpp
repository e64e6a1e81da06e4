// Congestion control on the wire: RFC 5681, 6582, 6928.
#include "testbench/unit/rnic/llp/tcp/packet_script.h"

namespace rnic::test {
namespace {

TEST(CongestionScript, SlowStartAddsASegmentForEachAck) {
  run_script(R"(
    config initial_window 2
    handshake mss 1000
    fpdu 1000 x20
    > PA 1:1001
    > PA 1001:2001
    +20 < A 1 ack 1001
    > PA 2001:3001
    > PA 3001:4001
    +20 < A 1 ack 2001
    > PA 4001:5001
    > PA 5001:6001
    +20 < A 1 ack 6001          # one ACK, one segment, however much it acknowledges: 5 in the window
    > PA 6001:7001
    > PA 7001:8001
    > PA 8001:9001
    > PA 9001:10001
    > PA 10001:11001
    silence 20
  )");
}

TEST(CongestionScript, TheInitialWindowIsRfc6928) {
  run_script(R"(
    config initial_window 10
    handshake mss 536
    fpdu 536 x20
    > PA 1:537
    > PA 537:1073
    > PA 1073:1609
    > PA 1609:2145
    > PA 2145:2681
    > PA 2681:3217
    > PA 3217:3753
    > PA 3753:4289
    > PA 4289:4825
    > PA 4825:5361
    silence 100
  )");
}

// When the window falls, two FPDUs that have credit wait in the flow's queue, not in the pipeline.
TEST(CongestionScript, ThreeDuplicateAcksResendAndHalve) {
  run_script(R"(
    config initial_window 8
    handshake mss 1000
    fpdu 1000 x40
    > PA 1:1001
    > PA 1001:2001
    > PA 2001:3001
    > PA 3001:4001
    > PA 4001:5001
    > PA 5001:6001
    > PA 6001:7001
    > PA 7001:8001
    +20 < A 1 ack 1
    > PA 8001:9001              # limited transmit
    +1 < A 1 ack 1
    > PA 9001:10001
    +1 < A 1 ack 1
    > PA 1:1001                 # fast retransmit; of the eight that were in flight before, four remain
    +1 < A 1 ack 1
    +1 < A 1 ack 1
    +1 < A 1 ack 1
    silence 10                  # ten in flight, six of them with the peer
    +1 < A 1 ack 1
    > PA 10001:11001            # each further one makes room
    +1 < A 1 ack 1
    > PA 11001:12001
    +1 < A 1 ack 12001          # all; the window is 4
    > PA 12001:13001
    > PA 13001:14001
    > PA 14001:15001
    > PA 15001:16001
    silence 20
    count tx.fast_retransmits 1
    count tx.retransmissions 1
    count tx.retransmitted_bytes 1000
    count tx.timeouts 0
  )");
}

TEST(CongestionScript, APartialAckTellsOfTheNextHole) {
  run_script(R"(
    config initial_window 8
    handshake mss 1000
    fpdu 1000 x8
    > PA 1:1001
    > PA 1001:2001
    > PA 2001:3001
    > PA 3001:4001
    > PA 4001:5001
    > PA 5001:6001
    > PA 6001:7001
    > PA 7001:8001
    +20 < A 1 ack 1
    +1 < A 1 ack 1
    +1 < A 1 ack 1
    > PA 1:1001
    +20 < A 1 ack 2001          # the third segment is missing as well
    > PA 2001:3001
    +20 < A 1 ack 8001
    silence 300
    count tx.retransmissions 2
    count tx.timeouts 0
  )");
}

TEST(CongestionScript, AfterATimeoutTheWindowStartsAtOneSegment) {
  run_script(R"(
    config initial_window 4
    config rto_initial_us 300
    handshake mss 1000
    fpdu 1000 x12
    > PA 1:1001
    > PA 1001:2001
    > PA 2001:3001
    > PA 3001:4001
    +199.5 > PA 1:1001
    +20 < A 1 ack 1001
    > PA 1001:2001
    > PA 2001:3001
    +20 < A 1 ack 3001          # half of four is reached: a whole window must be acknowledged for each segment more
    > PA 3001:4001
    > PA 4001:5001
    > PA 5001:6001
    +20 < A 1 ack 4001
    > PA 6001:7001
    +20 < A 1 ack 6001
    > PA 7001:8001
    > PA 8001:9001
    > PA 9001:10001
    silence 20
    count tx.timeouts 1
    count tx.retransmissions 4
  )");
}

// Octets sent twice come back as duplicate ACKs, which must not look like a loss (RFC 6582 section 3.2 step 2).
TEST(CongestionScript, DuplicatesOfATimeoutStartNoRecovery) {
  run_script(R"(
    config initial_window 4
    handshake mss 1000
    fpdu 1000 x4
    > PA 1:1001
    > PA 1001:2001
    > PA 2001:3001
    > PA 3001:4001
    +199.5 > PA 1:1001
    +20 < A 1 ack 4001          # only the ACKs had been lost
    fpdu 1000 x2
    > PA 4001:5001
    > PA 5001:6001
    +1 < A 1 ack 4001
    +1 < A 1 ack 4001
    +1 < A 1 ack 4001
    silence 20
    count tx.fast_retransmits 0
  )");
}

TEST(CongestionScript, AWindowUpdateIsNoDuplicate) {
  run_script(R"(
    handshake mss 1000
    fpdu 1000 x3
    > PA 1:1001
    > PA 1001:2001
    > PA 2001:3001
    +20 < A 1 ack 1 win 60000
    +1 < A 1 ack 1 win 59000
    +1 < A 1 ack 1 win 58000
    +1 < A 1 ack 1 win 57000
    silence 20
    count tx.duplicate_acks 0
    count tx.fast_retransmits 0
  )");
}

TEST(CongestionScript, AnIdleFlowStartsWithTheInitialWindowAgain) {
  run_script(R"(
    config initial_window 2
    handshake mss 1000
    fpdu 1000 x4
    > PA 1:1001
    > PA 1001:2001
    +20 < A 1 ack 1001
    > PA 2001:3001
    > PA 3001:4001
    +20 < A 1 ack 2001
    +20 < A 1 ack 3001
    +20 < A 1 ack 4001
    +500 fpdu 1000 x4
    > PA 4001:5001
    > PA 5001:6001
    silence 20
    count tx.idle_restarts 1
  )");
}

TEST(CongestionScript, ALostSynLeavesOneSegment) {
  run_script(R"(
    open
    > S 0
    +1000 > S 0
    +20 < SA 0 ack 1 {mss 1000}
    > A 1 ack 1
    rdma
    fpdu 1000 x3
    > PA 1:1001
    silence 20
  )");
}

}  // namespace
}  // namespace rnic::test

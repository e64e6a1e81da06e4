// Path MTU on the wire: RFC 1191, and what RFC 5927 requires of hosts that believe ICMP.
#include "testbench/unit/rnic/llp/tcp/packet_script.h"

namespace rnic::test {
namespace {

TEST(PathScript, WhatIsTooLongGoesAgainInPieces) {
  run_script(R"(
    handshake mss 1000
    fpdu 1000 x2
    fpdu 400
    > PA 1:1001
    > PA 1001:2001
    > PA 2001:2401
    +1 icmp 1 mtu 640
    > A 1:601
    > PA 601:1001
    > A 1001:1601
    > PA 1601:2001              # the third was short enough
    +1 < A 1 ack 2401
    count tx.path_mtu_changes 1
    count tx.cuts 2
    count tx.retransmissions 4
    count tx.timeouts 0
    count rx.path_mtu_reports 1
    event emss_changed 600
    silence 300
  )");
}

// Only FPDUs cut to the old MULPDU lose their alignment.
TEST(PathScript, FpdusOfTheOldSizeAreCutBeforeTheyLeave) {
  run_script(R"(
    handshake mss 1000
    fpdu 1000
    > PA 1:1001
    +1 icmp 1 mtu 576
    > A 1:537
    > PA 537:1001
    +1 < A 1 ack 1001
    fpdu 1000
    > A 1001:1537
    > PA 1537:2001
    +1 < A 1 ack 2001
    fpdu 536 x2
    > PA 2001:2537
    > PA 2537:3073
    +1 < A 1 ack 3073
    count tx.cuts 2
    silence 300
  )");
}

TEST(PathScript, WhatQuotesNothingInFlightIsNotBelieved) {
  run_script(R"(
    handshake mss 1000
    fpdu 1000 x2
    > PA 1:1001
    > PA 1001:2001
    +1 < A 1 ack 1001
    +1 icmp 1 mtu 600           # acknowledged
    +1 icmp 2001 mtu 600        # never sent
    +1 icmp 1001 mtu 1040       # no smaller than ours
    silence 5
    count tx.path_mtu_ignored 3
    count tx.path_mtu_changes 0
    +1 < A 1 ack 2001
    silence 300
  )");
}

// RFC 1191 section 6.3: a report only ever makes it smaller.
TEST(PathScript, EveryNarrowerHopIsToldOnce) {
  run_script(R"(
    handshake mss 1400, sackOK
    fpdu 1400
    > PA 1:1401
    +1 icmp 1 mtu 1240
    > A 1:1201
    > PA 1201:1401
    event emss_changed 1200
    +1 icmp 1 mtu 1240          # about the one that went before
    +1 icmp 1 mtu 1400
    +1 icmp 1 mtu 840
    > A 1:801
    > A 801:1201                # what lies behind was short enough
    event emss_changed 800
    count tx.path_mtu_ignored 2
    count tx.path_mtu_changes 2
    +1 < A 1 ack 1401
    silence 300
  )");
}

// RFC 7323 section 5.7: a host that checks timestamps lets no router fragment its packets, and learns how long they may
// be.
TEST(PathScript, TimestampsTakeTheirShareOfEachPiece) {
  run_script(R"(
    config timestamps 1
    handshake mss 1000, ts 100 0
    fpdu 988
    > PA 1:989 {ts * 100}
    +1 icmp 1 mtu 640
    > A 1:589 {ts * 100}
    > PA 589:989 {ts * 100}
    event emss_changed 588
    +1 < A 1 ack 989 {ts 101 1}
    fpdu 588
    > PA 989:1577 {ts * 101}
    +1 < A 1 ack 1577 {ts 102 1}
    silence 300
  )");
}

// RFC 9293 section 3.9.2.2: soft errors do not end a connection, and a source quench has no effect. Nor do hard errors
// end an established connection (RFC 5927 section 5.2).
TEST(PathScript, OtherMessagesOfRoutersChangeNothing) {
  run_script(R"(
    config initial_window 2
    handshake mss 1000
    fpdu 1000 x4
    > PA 1:1001
    > PA 1001:2001
    +1 icmp 1 type 3 code 0     # net, host unreachable; source route failed
    icmp 1 type 3 code 1
    icmp 1 type 3 code 5
    icmp 1 type 11 code 0       # time exceeded
    icmp 1 type 11 code 1
    icmp 1 type 12 code 0       # parameter problem
    icmp 1 type 4 code 0        # source quench
    icmp 1 type 3 code 2        # protocol, port unreachable
    icmp 1 type 3 code 3
    icmp 9001 type 3 code 1     # never sent
    silence 10
    < A 1 ack 2001
    > PA 2001:3001
    > PA 3001:4001
    < A 1 ack 4001
    +1 fpdu 1000 x5
    > PA 4001:5001              # the window has grown to four
    > PA 5001:6001
    > PA 6001:7001
    > PA 7001:8001
    silence 10
    count rx.path_mtu_reports 0
    count connection.resets 0
    count tx.retransmissions 0
  )");
}

// MULPDU has a lower bound; the peer's MSS has none (RFC 5044 section 4.5).
TEST(PathScript, TheFpduOfTheSmallestMulpduFitsAnyMss) {
  run_script(R"(
    handshake mss 64
    fpdu 136
    > A 1:65
    > A 65:129
    > PA 129:137
    +1 < A 1 ack 137
    count tx.cuts 2
    silence 300
  )");
}

TEST(PathScript, NoRouterIsBelievedLessThanTheLeast) {
  run_script(R"(
    config path_mtu_min 540
    handshake mss 1000
    fpdu 1000
    > PA 1:1001
    +1 icmp 1 mtu 0             # of a router that is older than RFC 1191
    > A 1:501
    > PA 501:1001
    +1 icmp 501 mtu 68
    silence 5
    count tx.path_mtu_ignored 1
    +1 < A 1 ack 1001
    silence 300
  )");
}

}  // namespace
}  // namespace rnic::test

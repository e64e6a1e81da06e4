// sctp_session through the C interface: control messages octet by octet from the figures of RFC 5043 section 5.2 and
// RFC 6581 section 7.
#include <vector>

#include "testbench/unit/golden/handles.h"

namespace rnic::test {
namespace {

using testing::IsEmpty;

constexpr std::uint32_t kPpidSegment = 16, kPpidSession = 17;

struct Association {
  const Stage stage = open("sctp_session", R"({"streams": 4})");

  static rnic_session_command command(std::uint8_t op, std::uint16_t stream, Bytes& octets, bool enhanced = false) {
    rnic_session_command c = message<rnic_session_command>(octets);
    c.op = op;
    c.stream = stream;
    c.enhanced = enhanced;
    c.negotiate_ird = c.negotiate_ord = 1;
    c.ird = c.ord = c.max_ird = 6;
    return c;
  }
  void host(std::uint8_t op, Bytes octets = {}, bool enhanced = false) {
    const rnic_session_command c = command(op, 2, octets, enhanced);
    ASSERT_EQ(rnic_sctp_session_push_command(stage.get(), &c), RNIC_OK) << rnic_stage_text(stage.get());
  }
  void peer(std::uint32_t ppid, Bytes octets) {
    rnic_sctp_user_message m = message<rnic_sctp_user_message>(octets);
    m.stream = 2;
    m.ppid = ppid;
    m.unordered = 1;
    ASSERT_EQ(rnic_sctp_session_push_peer(stage.get(), &m), RNIC_OK) << rnic_stage_text(stage.get());
  }
  // The user data that this end has sent, which is acknowledged.
  std::vector<Bytes> sent() {
    std::vector<Bytes> all;
    const rnic_sctp_acknowledged acknowledged{sizeof acknowledged, 2, {}};
    for (auto& m : drain_octets<rnic_sctp_user_message>(stage, RNIC_SCTP_SESSION_TO_PEER)) {
      EXPECT_EQ(m.message.stream, 2);
      EXPECT_EQ(m.message.unordered, 1);
      EXPECT_EQ(rnic_sctp_session_push_acknowledged(stage.get(), &acknowledged), RNIC_OK);
      all.push_back(m.octets);
    }
    return all;
  }
  std::vector<WithOctets<rnic_session_event>> events() {
    return drain_octets<rnic_session_event>(stage, RNIC_SCTP_SESSION_EVENT);
  }
};

// DDP-SSN, code, private data: Initiate 1, Accept 2, Terminate 4.
TEST(GoldenSession, APlainSessionFromInitiateToTerminate) {
  Association end;
  end.host(RNIC_SESSION_COMMAND_OP_CONNECT, {'h', 'i'});
  EXPECT_EQ(end.sent(), (std::vector<Bytes>{{0, 0, 0, 1, 'h', 'i'}}));
  end.peer(kPpidSession, {0, 0, 0, 2, 'y', 'o'});
  auto events = end.events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].message.kind, RNIC_SESSION_EVENT_KIND_ESTABLISHED);
  EXPECT_EQ(events[0].octets, (Bytes{'y', 'o'}));

  end.host(RNIC_SESSION_COMMAND_OP_SEGMENT, {0xaa, 0xbb});
  EXPECT_EQ(end.sent(), (std::vector<Bytes>{{0, 1, 0xaa, 0xbb}}));
  // Segments that overtake each other are delivered by their numbers.
  end.peer(kPpidSegment, {0, 2, 0x22});
  EXPECT_THAT(drain_octets<rnic_session_segment>(end.stage, RNIC_SCTP_SESSION_DELIVERED), IsEmpty());
  end.peer(kPpidSegment, {0, 1, 0x11});
  const auto delivered = drain_octets<rnic_session_segment>(end.stage, RNIC_SCTP_SESSION_DELIVERED);
  ASSERT_EQ(delivered.size(), 2u);
  EXPECT_EQ(delivered[0].octets, Bytes{0x11});
  EXPECT_EQ(delivered[1].octets, Bytes{0x22});
  EXPECT_EQ(delivered[1].message.ddp_ssn, 2);

  end.peer(kPpidSession, {0, 3, 0, 4});
  EXPECT_EQ(end.sent(), (std::vector<Bytes>{{0, 2, 0, 4}}));
  events = end.events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].message.kind, RNIC_SESSION_EVENT_KIND_CLOSED);
}

// The word of RFC 6581 is A, B and IRD, then C, D and ORD: codes 5 and 6.
TEST(GoldenSession, AnEnhancedRequestIsAnswered) {
  Association end;
  end.host(RNIC_SESSION_COMMAND_OP_LISTEN, {}, true);
  end.peer(kPpidSession, {0, 0, 0, 5, 0, 3, 0, 9, 'p'});
  auto events = end.events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].message.kind, RNIC_SESSION_EVENT_KIND_REQUEST);
  EXPECT_EQ(events[0].message.peer_ird, 3);
  EXPECT_EQ(events[0].message.peer_ord, 9);
  EXPECT_EQ(events[0].octets, Bytes{'p'});
  end.host(RNIC_SESSION_COMMAND_OP_ACCEPT, {'q'});
  const auto sent = end.sent();
  ASSERT_EQ(sent.size(), 1u);
  // It holds up to its limit of what the peer may have outstanding, and has no more outstanding than the peer holds.
  EXPECT_EQ(sent[0], (Bytes{0, 0, 0, 6, 0, 6, 0, 3, 'q'}));
  events = end.events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].message.ird, 6);
  EXPECT_EQ(events[0].message.ord, 3);
}

TEST(GoldenSession, WhatCannotBeIsRefused) {
  Association end;
  Bytes octets(509);
  rnic_session_command c = Association::command(RNIC_SESSION_COMMAND_OP_CONNECT, 4, octets);
  refused(end.stage, RNIC_SCTP_SESSION_COMMAND, c, "508 octets");
  c.octets_n = 0;
  refused(end.stage, RNIC_SCTP_SESSION_COMMAND, c, "streams 0 to 3, and no 4");
  c.stream = 0;
  c.ord = 0x3fff;
  refused(end.stage, RNIC_SCTP_SESSION_COMMAND, c, "up to 16382");
  c.ord = 1;
  c.op = 7;
  refused(end.stage, RNIC_SCTP_SESSION_COMMAND, c, "none of its values");
  c.op = RNIC_SESSION_COMMAND_OP_SEGMENT;
  refused(end.stage, RNIC_SCTP_SESSION_COMMAND, c, "no session that is open");
  const rnic_sctp_acknowledged acknowledged{sizeof acknowledged, 1, {}};
  refused(end.stage, RNIC_SCTP_SESSION_ACKNOWLEDGED, acknowledged, "no chunk of stream 1");
}

}  // namespace
}  // namespace rnic::test

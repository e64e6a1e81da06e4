// A program refuses a connection that a peer built by hand asks for.
#include "testbench/system/guard_bench.h"

namespace rnic::test {
namespace {

using Rejection = GuardBench;

// RFC 5044 section 7.1.2, rules 2 and 3: a rejection is a reply, after which MPA leaves TCP open. The connection
// manager closes it, in order.
TEST_F(Rejection, IsAReplyAndNoReset) {
  run([&] {
    peer.wait_us(20);
    open();
    host.on_reject = from_hex("62757379");
    RawStream& s = peer.connect();
    EXPECT_EQ(s.start(from_hex("4D504120494420526571204672616D65 C001 0000")),
              from_hex("4D504120494420526570204672616D65 E001 0004 62757379"));
    EXPECT_TRUE(s.receive_fin());
    EXPECT_FALSE(s.was_reset());
    EXPECT_EQ(s.unread(), 0u);
    s.send_fin();
  });
}

// RFC 5044 section 7.1.1 and RFC 6581 section 9: TCP may cut a startup frame anywhere.
const char* const kRequest = "4D504120494420526571204672616D65 5002 0009 0010 0010 68656C6C6F";

TEST_F(Rejection, OfARequestInTwoPiecesCutAnywhere) {
  run([&] {
    peer.wait_us(20);
    open();
    const Bytes request = from_hex(kRequest);
    for (std::size_t cut = 1; cut < request.size(); ++cut) {
      RawStream& s = peer.connect();
      s.send(Bytes(request.begin(), request.begin() + cut));
      peer.wait_us(2);
      EXPECT_EQ(s.unread(), 0u) << cut;
      s.send(Bytes(request.begin() + cut, request.end()));
      EXPECT_TRUE(s.receive_fin()) << cut;
      EXPECT_EQ(s.unread(), 24u) << cut;
      EXPECT_FALSE(s.was_reset()) << cut;
      s.send_fin();
    }
    EXPECT_EQ(host.events.size(), 0u);
  });
}

// Key and PD_Length never arrive complete, so there is nothing to answer.
TEST_F(Rejection, OfARequestThatEndsTooSoon) {
  run([&] {
    peer.wait_us(20);
    open();
    const Bytes request = from_hex(kRequest);
    for (std::size_t cut = 1; cut < request.size(); cut += 3) {
      RawStream& s = peer.connect();
      s.send(Bytes(request.begin(), request.begin() + cut));
      s.send_fin();
      EXPECT_TRUE(s.receive_fin()) << cut;
      EXPECT_EQ(s.unread(), 0u) << cut;
    }
    peer.wait_us(20);
    ASSERT_EQ(host.events.size(), 10u);
    for (const host::CmEvent& e : host.events) {
      EXPECT_EQ(e.status, abi::ConnectStatus::kBadMpaFrame);
      EXPECT_EQ(e.terminate.cause, wire::mpa::kInvalidStartupFrame);
    }
  });
}

// No octet may follow a request before its reply: an initiator waits for the reply (section 7.1.2 rule 3).
TEST_F(Rejection, OfAnOctetBehindTheRequest) {
  run([&] {
    peer.wait_us(20);
    open();
    Bytes request = from_hex(kRequest);
    request.push_back(0);
    RawStream& s = peer.connect();
    s.send(request);
    EXPECT_TRUE(s.receive_fin());
    EXPECT_EQ(s.unread(), 0u) << "closed before the program could answer";
  });
}

// Rules 2 and 3: the stream stays open for another attempt.
const char* const kRequest1 = "4D504120494420526571204672616D65 C001 0000";
const char* const kRequestAgain = "4D504120494420526571204672616D65 C001 0004 616761FF";
const char* const kRejected = "4D504120494420526570204672616D65 E001 0002 6E6F";
const char* const kAccepted = "4D504120494420526570204672616D65 C001 0000";

TEST_F(Rejection, MayLeaveTheStreamToAnotherRequest) {
  run([&] {
    peer.wait_us(20);
    open();
    host.stays = true;
    host.on_reject = from_hex("6E6F");
    host::Qp& qp = queue_pair(domain());
    RawStream& s = peer.connect();
    EXPECT_EQ(s.start(from_hex(kRequest1)), from_hex(kRejected));
    EXPECT_FALSE(s.receive_fin());
    EXPECT_EQ(s.start(from_hex(kRequestAgain)), from_hex(kRejected)) << "as often as it likes";
    host.accepting.push_back(&qp);
    EXPECT_EQ(s.start(from_hex(kRequestAgain)), from_hex(kAccepted));
    s.send_ulpdu(from_hex("C140 00000000 0000000000000000"));
    EXPECT_TRUE(await([&] { return qp.state() == host::QpState::kRts; }));
    EXPECT_EQ(s.unread(), 0u);
    EXPECT_FALSE(s.was_reset());
    s.send_fin();
    EXPECT_TRUE(s.receive_fin());
  });
}
// The device rejects, on the program's conditions: an initiator with too little IRD (RFC 6581 section 9.1).
TEST_F(Rejection, OfTheDeviceMayLeaveTheStreamToAnotherRequest) {
  run([&] {
    peer.wait_us(20);
    open();
    host.accept_with.need_ord = 4;
    host.accept_with.options = abi::kCmStay;
    host::Qp& qp = queue_pair(domain());
    host.accepting = {&qp, &qp};
    RawStream& s = peer.connect();
    EXPECT_EQ(s.start(from_hex("4D504120494420526571204672616D65 5002 0004 0002 0010")),
              from_hex("4D504120494420526570204672616D65 F002 0004 0010 0004"));
    EXPECT_FALSE(s.receive_fin());
    ASSERT_EQ(host.events.size(), 1u);
    EXPECT_EQ(host.events[0].status, abi::ConnectStatus::kInsufficientIrd);
    EXPECT_EQ(qp.state(), host::QpState::kIdle);
    EXPECT_EQ(s.start(from_hex("4D504120494420526571204672616D65 5002 0004 0004 0010")),
              from_hex("4D504120494420526570204672616D65 D002 0004 0010 0004"));
    s.send_ulpdu(from_hex("C140 00000000 0000000000000000"));
    EXPECT_TRUE(await([&] { return qp.state() == host::QpState::kRts; }));
    s.send_fin();
    EXPECT_TRUE(s.receive_fin());
  });
}
TEST_F(Rejection, ThatLeavesTheStreamEndsWithThePeersFin) {
  run([&] {
    peer.wait_us(20);
    open();
    host.stays = true;
    RawStream& s = peer.connect();
    s.start(from_hex(kRequest1));
    s.send_fin();
    EXPECT_TRUE(s.receive_fin());
    ASSERT_TRUE(await([&] { return !host.events.empty(); }));
    EXPECT_EQ(host.events[0].type, host::CmEventType::kConnectError);
  });
}

// The chip is the initiator.
class RejectedByThePeer : public Rejection {
 protected:
  // The peer rejects the first request.
  RawStream& ask(host::Qp& qp, std::uint8_t options) {
    in_host([&] { EXPECT_EQ(node.context.connect(qp, kPeerIp, kPort, param(options), host.channel()), 0); });
    RawStream& s = peer.accept();
    EXPECT_EQ(s.answer(from_hex(kRejected)), from_hex(kRequest1));
    EXPECT_TRUE(await([&] { return host.events.size() == 1; }));
    EXPECT_EQ(host.events[0].type, host::CmEventType::kRejected);
    EXPECT_EQ(host.events[0].private_data, from_hex("6E6F"));
    return s;
  }
  static host::ConnParam param(std::uint8_t options) {
    host::ConnParam p;
    p.flags = abi::kCmCrc | abi::kCmMarkers;
    p.options = options;
    return p;
  }
};
TEST_F(RejectedByThePeer, TheStreamEndsUnlessTheProgramWantsIt) {
  run([&] {
    peer.wait_us(20);
    open();
    host::Qp& qp = queue_pair(domain());
    RawStream& s = ask(qp, 0);
    EXPECT_TRUE(s.receive_fin());
    EXPECT_EQ(s.unread(), 0u);
    in_host([&] { EXPECT_EQ(node.context.connect_again(qp, param(0)), ENOTCONN); });
    s.send_fin();
  });
}
TEST_F(RejectedByThePeer, AnotherRequestGoesOnTheSameStream) {
  run([&] {
    peer.wait_us(20);
    open();
    host::Qp& qp = queue_pair(domain());
    RawStream& s = ask(qp, abi::kCmStay);
    EXPECT_FALSE(s.receive_fin());
    EXPECT_EQ(s.unread(), 0u) << "no FPDU";
    host::ConnParam again = param(abi::kCmStay);
    again.private_data = from_hex("616761FF");
    in_host([&] { EXPECT_EQ(node.context.connect_again(qp, again), 0); });
    EXPECT_EQ(s.answer(from_hex(kAccepted)), from_hex(kRequestAgain));
    EXPECT_TRUE(await([&] { return qp.state() == host::QpState::kRts; }));
    s.send_fin();
    EXPECT_TRUE(s.receive_fin());
  });
}
// The device refuses the command and leaves the stream as it was.
TEST_F(RejectedByThePeer, ARequestThatTheDeviceRefusesMayBeTriedOtherwise) {
  run([&] {
    peer.wait_us(20);
    open();
    host::Qp& qp = queue_pair(domain());
    RawStream& s = ask(qp, abi::kCmStay);
    host::ConnParam too_deep = param(abi::kCmStay);
    too_deep.initiator_depth = 16'000;
    in_host([&] {
      EXPECT_EQ(node.context.connect_again(qp, too_deep), 0);
      EXPECT_EQ(node.context.connect_again(qp, too_deep), ENOTCONN) << "the first one is not answered yet";
    });
    ASSERT_TRUE(await([&] { return host.events.size() == 2; }));
    EXPECT_EQ(host.events[1].refused, abi::CommandStatus::kNoResources);
    EXPECT_EQ(s.unread(), 0u);
    in_host([&] { EXPECT_EQ(node.context.connect_again(qp, param(0)), 0); });
    EXPECT_EQ(s.answer(from_hex(kAccepted)), from_hex(kRequest1));
    EXPECT_TRUE(await([&] { return qp.state() == host::QpState::kRts; }));
    s.send_fin();
    EXPECT_TRUE(s.receive_fin());
  });
}
TEST_F(RejectedByThePeer, TheProgramMayCloseInstead) {
  run([&] {
    peer.wait_us(20);
    open();
    host::Qp& qp = queue_pair(domain());
    RawStream& s = ask(qp, abi::kCmStay);
    in_host([&] { EXPECT_EQ(node.context.disconnect(qp), 0); });
    EXPECT_TRUE(s.receive_fin());
    ASSERT_TRUE(await([&] { return host.events.size() == 2; }));
    EXPECT_EQ(host.events[1].type, host::CmEventType::kConnectError);
    EXPECT_EQ(host.events[1].status, abi::ConnectStatus::kCancelled);
    s.send_fin();
  });
}
TEST_F(RejectedByThePeer, AnOctetBehindTheRejectionEndsTheStream) {
  run([&] {
    peer.wait_us(20);
    open();
    host::Qp& qp = queue_pair(domain());
    RawStream& s = ask(qp, abi::kCmStay);
    s.send(Bytes(1));
    EXPECT_TRUE(s.receive_fin());
    ASSERT_TRUE(await([&] { return host.events.size() == 2; }));
    EXPECT_EQ(host.events[1].status, abi::ConnectStatus::kBadMpaFrame);
    s.send_fin();
  });
}

}  // namespace
}  // namespace rnic::test

// A program refuses a connection that a peer built by hand asks for.
#include "testbench/system/guard_bench.h"

namespace rnic::test {
namespace {

using Rejection = GuardBench;

// RFC 5044 section 7.1.2, rules 2 and 3: a rejection is a reply, behind which MPA leaves TCP open. It is the connection
// manager that closes it, in order.
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

// Key and PD_Length are never seen whole, so there is nothing to answer.
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

// What follows a request before its reply cannot be: an initiator waits for it (section 7.1.2 rule 4).
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

}  // namespace
}  // namespace rnic::test

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

}  // namespace
}  // namespace rnic::test

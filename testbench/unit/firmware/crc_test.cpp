// RFC 5044 section 4.4: CRC is requested unless the device's administrator has turned that off.
#include "testbench/unit/firmware/firmware_test.h"

namespace rnic::fw::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

class CrcByDefault : public FirmwareTest {
 protected:
  CrcByDefault() : FirmwareTest(asking()) {}
  static Settings asking() {
    Settings s = settings_of(abi::Personality::kIetf);
    s.crc = Settings{}.crc;
    return s;
  }
};
class CrcTurnedOff : public FirmwareTest {};

TEST_F(CrcByDefault, TheRequestAsksForIt) {
  run(connect(0));
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  EXPECT_THAT(bus.take(), Contains("send flow 3 " + kReqKey + "40010000"));
  stream(3, kRepKey + "00010000");
  EXPECT_THAT(bus.take(), Contains(HasSubstr("crc 1")));
}
TEST_F(CrcByDefault, TheReplyAsksForIt) {
  listen(0);
  request(kReqKey + "00010000");
  run(accept(0x80000000));
  EXPECT_THAT(bus.take(),
              testing::AllOf(Contains("send flow 3 " + kRepKey + "40010000"), Contains(HasSubstr("crc 1"))));
}
TEST_F(CrcTurnedOff, NobodyAsksForIt) {
  run(connect(0));
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  EXPECT_THAT(bus.take(), Contains("send flow 3 " + kReqKey + "00010000"));
  stream(3, kRepKey + "00010000");
  EXPECT_THAT(bus.take(), Contains(HasSubstr("crc 0")));
}
TEST_F(CrcTurnedOff, AProgramStillGetsIt) {
  run(connect(abi::kCmCrc));
  fw.on(TcpConnected{FlowId{3}, 0x80000000, 41000, 1460});
  EXPECT_THAT(bus.take(), Contains("send flow 3 " + kReqKey + "40010000"));
}
TEST_F(CrcTurnedOff, APeerStillGetsIt) {
  listen(0);
  request(kReqKey + "40010000");
  run(accept(0x80000000));
  EXPECT_THAT(bus.take(),
              testing::AllOf(Contains("send flow 3 " + kRepKey + "40010000"), Contains(HasSubstr("crc 1"))));
}

}  // namespace
}  // namespace rnic::fw::test

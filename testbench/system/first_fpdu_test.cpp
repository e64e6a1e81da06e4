// What a responder sends and receives when its stream ends with the first FPDU, or before it (RFC 5044 section 7.1.2
// rule 4 and section 8).
#include "testbench/system/guard_bench.h"

namespace rnic::test {
namespace {

using host::CmEventType;
using testing::ElementsAre;

const char* const kPlain = "4D504120494420526571204672616D65 4001 0000";
const char* const kPeerToPeer = "4D504120494420526571204672616D65 5002 0004 8010 4010";
const char* const kTerminate = "4147 00000000 00000002 00000001 00000000";

// One queue pair, which accepts a connection.
class FirstFpdu : public GuardBench {
 protected:
  RawStream& accepted(const char* request) {
    peer.wait_us(20);
    open();
    host.accepting.push_back(&queue_pair(domain()));
    RawStream& s = peer.connect();
    s.start(from_hex(request));
    return s;
  }
  std::vector<CmEventType> event_types() const {
    std::vector<CmEventType> types;
    for (const host::CmEvent& e : host.events) types.push_back(e.type);
    return types;
  }
  // The error that ended the stream; `origin` says whether the peer hears of it.
  void expect_error(wire::TerminateCause cause, abi::TerminateOrigin origin) {
    const auto error = std::find_if(host.events.begin(), host.events.end(),
                                    [](const host::CmEvent& e) { return e.type == CmEventType::kQpError; });
    ASSERT_NE(error, host.events.end());
    EXPECT_EQ(error->terminate.cause, cause);
    EXPECT_EQ(error->terminate.origin, origin);
  }
};

// The first octets of a ULPDU, too few for its DDP header: MPA accepts them.
class TooShortFpdu : public FirstFpdu, public testing::WithParamInterface<std::pair<const char*, unsigned>> {};

TEST_P(TooShortFpdu, IsAnsweredByATerminate) {
  run([&] {
    RawStream& s = accepted(kPlain);
    Bytes ulpdu = from_hex(GetParam().first);
    ulpdu.resize(GetParam().second);
    s.send_ulpdu(ulpdu);
    EXPECT_EQ(s.receive(), from_hex(std::string(kTerminate) + "02060000"));
    EXPECT_TRUE(s.receive_fin());
    s.send_fin();
    EXPECT_TRUE(await([&] { return host.events.size() == 3; }));
  });
  EXPECT_THAT(event_types(), ElementsAre(CmEventType::kEstablished, CmEventType::kQpError, CmEventType::kDisconnected));
  expect_error(wire::rdma::kUnexpectedOpcode, abi::TerminateOrigin::kLocal);
}
const char* const kTagged = "C140 00000000 0000000000000000";
const char* const kUntagged = "4143 00000000 00000000 00000001 00000000";
INSTANTIATE_TEST_SUITE_P(Octets, TooShortFpdu,
                         testing::Values(std::pair(kTagged, 0u), std::pair(kTagged, 1u), std::pair(kTagged, 2u),
                                         std::pair(kTagged, 13u), std::pair(kUntagged, 1u), std::pair(kUntagged, 2u),
                                         std::pair(kUntagged, 14u), std::pair(kUntagged, 17u)));

TEST_F(FirstFpdu, WithABadCrcIsNoneAndNoTerminateAnswersIt) {
  run([&] {
    RawStream& s = accepted(kPlain);
    Bytes fpdu = s.fpdu(from_hex(kTagged));
    fpdu.back() ^= 1;
    s.send(fpdu);
    EXPECT_TRUE(s.receive_fin());
    EXPECT_EQ(s.unread(), 0u);
    s.send_fin();
    EXPECT_TRUE(await([&] { return host.events.size() == 3; }));
  });
  expect_error(wire::mpa::kCrcMismatch, abi::TerminateOrigin::kUnsent);
}

TEST_F(FirstFpdu, ResetBeforeIt) {
  run([&] {
    accepted(kPlain).send_rst();
    EXPECT_TRUE(await([&] { return host.events.size() == 3; }));
  });
  EXPECT_THAT(event_types(), ElementsAre(CmEventType::kEstablished, CmEventType::kQpError, CmEventType::kDisconnected));
  expect_error(wire::mpa::kConnectionLost, abi::TerminateOrigin::kUnsent);
  EXPECT_EQ(host.events.back().status, abi::ConnectStatus::kReset);
}

TEST_F(FirstFpdu, ResetBeforeTheReadyToReceiveMessage) {
  run([&] {
    accepted(kPeerToPeer).send_rst();
    EXPECT_TRUE(await([&] { return host.events.size() == 2; }));
  });
  EXPECT_THAT(event_types(), ElementsAre(CmEventType::kQpError, CmEventType::kConnectError));
  expect_error(wire::mpa::kConnectionLost, abi::TerminateOrigin::kUnsent);
  EXPECT_EQ(host.events.back().status, abi::ConnectStatus::kReset);
}

// Even after FPDUs, a reset stream cannot tell the peer anything.
TEST_F(FirstFpdu, ResetBehindIt) {
  run([&] {
    RawStream& s = accepted(kPlain);
    s.send_ulpdu(from_hex(kTagged));
    peer.wait_us(20);
    s.send_rst();
    EXPECT_TRUE(await([&] { return host.events.size() == 3; }));
  });
  expect_error(wire::mpa::kConnectionLost, abi::TerminateOrigin::kUnsent);
}

}  // namespace
}  // namespace rnic::test

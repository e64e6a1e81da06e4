// An RDMAC peer built by hand: what a stream of version 0 of DDP and RDMAP accepts and how it answers, octet by octet
// (draft-carrier-rddp-rnic-interop-00).
#include "testbench/system/guard_bench.h"

namespace rnic::test {
namespace {

const Bytes kRdmacRequest = from_hex("4D504120494420526571204672616D65 C000 0000");
const Bytes kRdmacReply = from_hex("4D504120494420526570204672616D65 C000 0000");

NodeConfig permissive() {
  NodeConfig config;
  config.rnic.fwcpu.personality = abi::Personality::kPermissive;
  return config;
}

class RdmacPeer : public GuardBench {
 protected:
  RdmacPeer() : GuardBench(permissive()) {}
  static Bytes send(std::uint32_t msn) {
    Bytes b = from_hex("4003 00000000 00000000 00000000 00000000 DEADBEEF");
    store_be32(&b[10], msn);
    return b;
  }
  // A stream that has received the peer's first Send.
  RawStream& connect() {
    const host::Pd pd = domain();
    const std::uint64_t address = node.memory.alloc(4096, 4096);
    qp = &queue_pair(pd);
    mr = &region(pd, address, 4096, abi::kLocalWrite | abi::kRemoteWrite);
    post_receive(*qp, 1, address, 64, mr->lkey());
    post_receive(*qp, 2, address, 64, mr->lkey());
    host.accepting.push_back(qp);
    RawStream& s = peer.connect();
    EXPECT_EQ(s.start(kRdmacRequest), kRdmacReply);
    s.send_ulpdu(send(1));
    EXPECT_TRUE(await([this] { return host.completions.size() == 1; }));
    return s;
  }
  host::Qp* qp = nullptr;
  host::Mr* mr = nullptr;
};

TEST_F(RdmacPeer, SegmentsOfVersionZeroBothWays) {
  run([&] {
    peer.wait_us(20);
    open();
    RawStream& s = connect();
    EXPECT_EQ(host.completions[0].status, abi::WcStatus::kSuccess);
    ASSERT_TRUE(await([this] { return !host.events.empty(); }));
    EXPECT_EQ(host.events[0].type, host::CmEventType::kEstablished);
    EXPECT_EQ(host.events[0].ddp_version, 0);
    host::SendWr wr;
    wr.num_sge = 1;
    wr.sg_list[0] = {mr->address(), 4, mr->lkey()};
    post(*qp, wr);
    EXPECT_EQ(s.receive(), send(1));
  });
}

struct Wrong {
  const char* name;
  const char* ulpdu;
  const char* terminate;  // after the DDP header of version 0
};
class RdmacPeerError : public RdmacPeer, public testing::WithParamInterface<Wrong> {};

TEST_P(RdmacPeerError, EndsInATerminateOfVersionZero) {
  run([&] {
    peer.wait_us(20);
    open();
    RawStream& s = connect();
    s.send_ulpdu(from_hex(GetParam().ulpdu));
    EXPECT_EQ(s.receive(), from_hex(std::string("4007 00000000 00000002 00000001 00000000") + GetParam().terminate));
    EXPECT_TRUE(s.receive_fin());
    s.send_fin();
  });
}

INSTANTIATE_TEST_SUITE_P(
    Segments, RdmacPeerError,
    testing::Values(
        Wrong{"untagged_of_version_1", "4143 00000000 00000000 00000002 00000000 DEADBEEF",
              "1206C000 0016 4143 00000000 00000000 00000002 00000000"},
        Wrong{"tagged_of_version_1", "C140 00000099 0000000000000010 DEADBEEF",
              "1104C000 0012 C140 00000099 0000000000000010"},
        Wrong{"untagged_rdmap_of_version_1", "4043 00000000 00000000 00000002 00000000 DEADBEEF",
              "0205C000 0016 4043 00000000 00000000 00000002 00000000"},
        Wrong{"tagged_rdmap_of_version_1", "C040 00000099 0000000000000010 DEADBEEF",
              "0205C000 0012 C040 00000099 0000000000000010"},
        Wrong{"immediate_data", "4008 00000000 00000000 00000002 00000000 0102030405060708",
              "0206C000 001A 4008 00000000 00000000 00000002 00000000"},
        Wrong{"atomic_request",
              "400A 00000000 00000001 00000001 00000000 00000000 00000001 00000099 0000000000000010 0000000000000001"
              "0000000000000000 0000000000000000 FFFFFFFFFFFFFFFF",
              "0206C000 0046 400A 00000000 00000001 00000001 00000000"},
        Wrong{"unknown_stag", "C000 00000099 0000000000000010 DEADBEEF",
              "1100C000 0012 C000 00000099 0000000000000010"}),
    [](const auto& row) { return std::string(row.param.name); });

// Section 5.2.1, at a device that supports version 1 only.
using RdmacPeerOfAnIetfDevice = GuardBench;
TEST_F(RdmacPeerOfAnIetfDevice, GetsAReplyOfRevisionOneAndAFin) {
  run([&] {
    peer.wait_us(20);
    open();
    RawStream& s = peer.connect();
    EXPECT_EQ(s.start(kRdmacRequest), from_hex("4D504120494420526570204672616D65 C001 0000"));
    EXPECT_TRUE(s.receive_fin());
    EXPECT_FALSE(s.was_reset());
    EXPECT_EQ(s.unread(), 0u);
    s.send_fin();
    ASSERT_TRUE(await([this] { return !host.events.empty(); }));
    EXPECT_EQ(host.events[0].type, host::CmEventType::kConnectError);
    EXPECT_EQ(host.events[0].status, abi::ConnectStatus::kBadRevision);
    EXPECT_EQ(host.events[0].mpa_revision, 0);
  });
}

}  // namespace
}  // namespace rnic::test

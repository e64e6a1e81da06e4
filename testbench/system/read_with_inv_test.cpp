// A Read that invalidates the STag of its sink (RFC 5040 section 5.2), over the wire.
#include <numeric>

#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

using host::CmEventType;
using testing::ElementsAre;

class ReadWithInvTest : public TwoNodeBench {
 protected:
  static constexpr std::uint32_t kOctets = 5000, kSink = 8192;

  ReadWithInvTest() {
    server.create(32);
    client.create(32);
    connect(1);
    client.run([this] {
      const MutableByteSpan octets = server.memory(0, kOctets);
      std::iota(octets.data(), octets.data() + kOctets, std::uint8_t{1});
      sink = client.node.context.alloc_mr(client.pd);
    });
    client.then([this] { return sink->ready(); });
  }
  // Makes the sink valid under the next key.
  host::SendWr registration(std::uint64_t id, std::uint8_t flags) {
    host::SendWr wr;
    wr.wr_id = id;
    wr.opcode = abi::WrOpcode::kRegMr;
    wr.send_flags = flags | abi::kWqeSignaled;
    wr.rkey = sink->inc_rkey();
    wr.registration = {client.address + kSink, kOctets, 0, abi::kLocalWrite};
    return wr;
  }
  host::SendWr read(std::uint64_t id, std::uint32_t to) {
    host::SendWr wr = client.request(id, abi::WrOpcode::kRdmaReadWithInv, kSink + to, kOctets - to);
    wr.sg_list[0].lkey = sink->lkey();
    wr.remote_addr = server.address;
    wr.rkey = server.mr->rkey();
    return wr;
  }
  host::Mr* sink = nullptr;
};

// The second registration fails unless the first Read has invalidated the STag.
TEST_F(ReadWithInvTest, TheSinkCanBeRegisteredAnewBehindItsRead) {
  client.run([this] {
    host::Qp& qp = *client.streams[0].qp;
    EXPECT_EQ(qp.post_send(client.request(1, abi::WrOpcode::kRdmaWrite, 0, 0)), 0);
    EXPECT_EQ(qp.post_send(registration(2, 0)), 0);
    EXPECT_EQ(qp.post_send(read(3, 0)), 0);
    EXPECT_EQ(qp.post_send(registration(4, abi::kWqeFence)), 0);
    EXPECT_EQ(qp.post_send(read(5, 7)), 0);
  });
  client.then([this] { return client.streams[0].completions.size() == 5; });
  run();
  EXPECT_THAT(client.streams[0].succeeded(), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(client.streams[0].completions[2].opcode, abi::WcOpcode::kRdmaRead);
  const MutableByteSpan from = server.memory(0, kOctets), to = client.memory(kSink, kOctets);
  EXPECT_TRUE(std::equal(from.data(), from.data() + kOctets - 7, to.data() + 7));
  EXPECT_TRUE(std::equal(from.data(), from.data() + 7, to.data())) << "of the first Read";
}

TEST_F(ReadWithInvTest, TheSinksStagIsDeadOnceTheReadHasCompleted) {
  client.run([this] {
    EXPECT_EQ(client.streams[0].qp->post_send(registration(1, 0)), 0);
    EXPECT_EQ(client.streams[0].qp->post_send(read(2, 0)), 0);
  });
  client.then([this] { return client.streams[0].completions.size() == 2; });
  client.run([this] { EXPECT_EQ(client.streams[0].qp->post_send(read(3, 0)), 0); });
  client.then([this] { return client.streams[0].events.back().type == CmEventType::kDisconnected; });
  run();
  EXPECT_THAT(client.streams[0].statuses(),
              ElementsAre(abi::WcStatus::kSuccess, abi::WcStatus::kSuccess, abi::WcStatus::kLocProtErr));
}

}  // namespace
}  // namespace rnic::test

// Two hosts, two chips, one cable: the verbs at one end move octets into the other end's memory.
#include <numeric>

#include "model/cable/ethernet_link.h"
#include "model/common/prng.h"
#include "model/rnic/llp/link_address.h"
#include "model/system/node.h"
#include "testbench/support/stage_test.h"
#include "testbench/system/session_host.h"

namespace rnic::test {
namespace {

constexpr std::uint32_t kServerIp = 0x0a000001, kClientIp = 0x0a000002;
constexpr std::uint16_t kPort = 7471;
constexpr std::uint32_t kBytes = 5000;

LinkAddress station(std::uint32_t ip, std::uint8_t last, std::uint32_t peer_ip, std::uint8_t peer_last) {
  const auto mac = [](std::uint8_t n) { return wire::MacAddress{{2, 0, 0, 0, 0, n}}; };
  return {mac(last), wire::Ipv4Address{ip}, {{wire::Ipv4Address{peer_ip}, mac(peer_last)}}};
}

class Program : public SessionHost {
 public:
  using SessionHost::SessionHost;
  MutableByteSpan memory() { return node_.memory.span(address, 2 * kBytes); }
  host::Mr* mr = nullptr;
  std::uint64_t address = 0;

 private:
  void make() override {
    session_.make_cq(512);
    mr = &session_.memory(2 * kBytes, abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead);
    address = mr->address();
  }
};

class Server final : public Program {
 public:
  using Program::Program;
  std::uint8_t flags = abi::kCmCrc | abi::kCmMarkers | abi::kCmEnhanced;
  unsigned receives = 1;
  void run() override {
    if (!session_.listens()) {
      const host::RecvWr wr = host::receive_request(77, host::part_of(*mr, 0, kBytes));
      for (unsigned i = 0; i < receives; ++i) EXPECT_EQ(qp->post_recv(wr), 0);
      session_.listen(kPort, flags);
    }
    if (!accepted_ && !events.empty() && events[0].type == host::CmEventType::kConnectRequest) {
      accepted_ = true;
      session_.accept(events[0].connection);
    }
  }

 private:
  bool accepted_ = false;
};

class Client final : public Program {
 public:
  Client(Node& node, Server& server) : Program(node), server_(server) {}
  std::uint8_t flags = abi::kCmCrc | abi::kCmMarkers | abi::kCmEnhanced;
  std::uint32_t rkey_error = 0;  // in the Write's STag
  void run() override {
    if (!connecting_) {
      core_.wake_at(20'000'000);  // the server listens by then
      if (core_.time_ps() < 20'000'000) return;
      connecting_ = true;
      host::ConnParam param;
      param.flags = flags;
      session_.connect(kServerIp, kPort, param);
    }
    if (qp->state() == host::QpState::kRts && !posted_) {
      posted_ = true;
      for (std::uint32_t i = 0; i < kBytes; ++i) memory()[i] = static_cast<std::uint8_t>(7 * i + i / 256);
      post(1, abi::WrOpcode::kSend, address, 0);
      post(2, abi::WrOpcode::kRdmaWrite, address, server_.address + kBytes);
      post(3, abi::WrOpcode::kRdmaRead, address + kBytes, server_.address + kBytes);
    }
    if (completions.size() == 3 && !closing_) {
      closing_ = true;
      session_.disconnect();
    }
  }

 private:
  void post(std::uint64_t id, abi::WrOpcode opcode, std::uint64_t local, std::uint64_t remote) {
    host::SendWr wr = host::send_request(id, opcode, {local, kBytes, mr->lkey()});
    wr.remote_addr = remote;
    wr.rkey = server_.mr->rkey() ^ (opcode == abi::WrOpcode::kRdmaWrite ? rkey_error : 0);
    EXPECT_EQ(qp->post_send(wr), 0);
  }
  Server& server_;
  bool connecting_ = false, posted_ = false, closing_ = false;
};

class TwoNodesTest : public testing::Test {
 protected:
  Node a{"a", {}, station(kServerIp, 1, kClientIp, 2)};
  Node b{"b", {}, station(kClientIp, 2, kServerIp, 1)};
  EthernetLink cable{"cable", {}};
  Server server{a};
  Client client{b, server};
  TwoNodesTest() {
    cable.attach(0, a.chip.mac_tx.ethernet, a.chip.mac_rx);
    cable.attach(1, b.chip.mac_tx.ethernet, b.chip.mac_rx);
    a.set_lookahead(0, 500'000);
    b.set_lookahead(0, 500'000);
  }
  void run() { sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_MS), sc_core::SC_EXIT_ON_STARVATION); }
  void expect_all_moved() {
    ASSERT_EQ(client.completions.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(client.completions[i].wr_id, i + 1);
      EXPECT_EQ(client.completions[i].status, abi::WcStatus::kSuccess);
    }
    ASSERT_GE(server.completions.size(), 1u);
    EXPECT_EQ(server.completions[0].wr_id, 77u);
    EXPECT_EQ(server.completions[0].byte_len, kBytes);
    const std::vector<std::uint8_t> sent(client.memory().data(), client.memory().data() + kBytes);
    EXPECT_EQ(std::vector<std::uint8_t>(server.memory().data(), server.memory().data() + kBytes), sent);
    EXPECT_EQ(std::vector<std::uint8_t>(server.memory().data() + kBytes, server.memory().data() + 2 * kBytes), sent);
    EXPECT_EQ(std::vector<std::uint8_t>(client.memory().data() + kBytes, client.memory().data() + 2 * kBytes), sent);
  }
};

TEST_F(TwoNodesTest, SendWriteAndReadMoveTheirOctets) {
  run();
  expect_all_moved();
  EXPECT_EQ(client.events.back().type, host::CmEventType::kDisconnected);
}

// RFC 5041 section 5.3: data that TCP sends again is placed and delivered once.
TEST_F(TwoNodesTest, LostFramesDeliverEachMessageOnce) {
  server.receives = 3;
  Prng prng(3);
  unsigned lost = 0;
  cable.impair([&](unsigned, Frame& frame) {
    const bool lose = frame.bytes > 200 && prng.below(4) == 0;
    lost += lose;
    return !lose;
  });
  run();
  expect_all_moved();
  EXPECT_GT(lost, 2u);
  ASSERT_EQ(server.completions.size(), 3u);
  EXPECT_EQ(server.completions[1].status, abi::WcStatus::kWrFlushErr);
  EXPECT_EQ(server.completions[2].status, abi::WcStatus::kWrFlushErr);
}

TEST_F(TwoNodesTest, ShuffledCallOrderMovesThemToo) {
  a.shuffle(3);
  b.shuffle(5);
  run();
  expect_all_moved();
}

// RFC 5040 sections 4.8 and 5.5: the sink's host hears what was wrong, and the source's host hears it from its peer.
TEST_F(TwoNodesTest, BothHostsHearOfATerminateAndAllWorkCompletes) {
  client.rkey_error = 0x80;
  server.receives = 3;
  run();
  const auto terminate = [](const Program& p) {
    for (const host::CmEvent& e : p.events) {
      if (e.type == host::CmEventType::kQpError) return e.terminate;
    }
    ADD_FAILURE() << "no error was reported";
    return host::Terminate{};
  };
  const host::Terminate sent = terminate(server), received = terminate(client);
  EXPECT_EQ(sent.origin, abi::TerminateOrigin::kLocal);
  EXPECT_EQ(received.origin, abi::TerminateOrigin::kPeer);
  for (const host::Terminate& t : {sent, received}) {
    EXPECT_EQ(t.cause, wire::ddp::kInvalidStag);
    EXPECT_EQ(t.segment_length, 1442u);
    ASSERT_EQ(t.ddp_header.size(), 14u);
    EXPECT_EQ(load_be32(&t.ddp_header[2]), server.mr->rkey() ^ 0x80);
    EXPECT_EQ(load_be64(&t.ddp_header[6]), server.address + kBytes);
  }
  EXPECT_EQ(client.events.back().type, host::CmEventType::kDisconnected);
  EXPECT_EQ(server.events.back().type, host::CmEventType::kDisconnected);
  ASSERT_EQ(client.completions.size(), 3u);
  EXPECT_EQ(client.completions[2].wr_id, 3u);
  EXPECT_EQ(client.completions[2].status, abi::WcStatus::kWrFlushErr);
  ASSERT_EQ(server.completions.size(), 3u);
  EXPECT_EQ(server.completions[0].status, abi::WcStatus::kSuccess);
  EXPECT_EQ(server.completions[1].status, abi::WcStatus::kWrFlushErr);
  EXPECT_EQ(server.completions[2].status, abi::WcStatus::kWrFlushErr);
}

}  // namespace
}  // namespace rnic::test

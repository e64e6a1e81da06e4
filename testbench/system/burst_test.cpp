// A peer sends data, an error and its FIN or RST in one burst, with every number of cycles between the last segment and
// the end. Whatever TCP has acknowledged and is still in progress in the chip is delivered or reported, in order,
// before the stream ends.
#include <optional>

#include "testbench/system/peer_bench.h"
#include "testbench/system/session_host.h"

namespace rnic::test {
namespace {

using abi::TerminateOrigin;
using host::CmEventType;

// One stream after the other, each with its own queue pair; keeps the outcome of each.
class BurstHost final : public SessionHost {
 public:
  static constexpr std::uint32_t kRegion = 4096;
  static constexpr unsigned kReceives = 6;
  struct Stream {
    std::vector<CmEventType> events;
    host::Terminate terminate;
    unsigned received = 0, flushed = 0;
  };

  using SessionHost::SessionHost;
  bool dials = false;
  bool reads = false;  // one octet, after the stream's first Send
  std::vector<Stream> ended;
  bool armed() const { return armed_; }
  bool established() const { return !now_.events.empty(); }

  // {ALL} has every right, {BAD} is no STag; {TO} is the region's first octet.
  Bytes octets(std::string hex) const {
    return from_hex(with_names(
        std::move(hex),
        {{"{ALL}", {all_->rkey(), 8}}, {"{BAD}", {all_->rkey() ^ 0x80, 8}}, {"{TO}", {all_->address(), 16}}}));
  }

 private:
  void begin() override {
    if (!armed_ && !over_) arm();
  }
  void take(const host::Wc& wc) override { ++(wc.status == abi::WcStatus::kSuccess ? now_.received : now_.flushed); }
  void run() override {
    if (reads && !has_read_ && now_.received == 1 && qp->state() == host::QpState::kRts) read();
    if (over_ && now_.received + now_.flushed == kReceives + reads) retire();
  }
  void make() override {
    session_.make_cq(512);
    all_ = &session_.memory(kRegion, abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead | abi::kRemoteAtomic);
  }
  void arm() {
    const host::RecvWr wr = host::receive_request(0, host::part_of(*all_, kRegion / 2, 64));
    for (unsigned i = 0; i < kReceives; ++i) EXPECT_EQ(qp->post_recv(wr), 0);
    host::ConnParam param;
    param.flags = kFlags;
    param.responder_resources = param.initiator_depth = 4;
    if (dials) EXPECT_EQ(session_.connect(kPeerIp, kPort, param), 0);
    else if (!session_.listens()) session_.listen(kPort, kFlags | abi::kCmEnhanced);
    armed_ = true;
  }
  void read() {
    EXPECT_EQ(qp->post_send(host::send_request(0, abi::WrOpcode::kRdmaRead, host::part_of(*all_, 0, 1))), 0);
    has_read_ = true;
  }
  void take(host::CmEvent event) override {
    if (event.type == CmEventType::kConnectRequest) {
      host::ConnParam param;
      param.responder_resources = param.initiator_depth = 4;
      session_.accept(event.connection, param);
      return;
    }
    now_.events.push_back(event.type);
    if (event.type == CmEventType::kQpError) now_.terminate = event.terminate;
    over_ = over_ || event.type == CmEventType::kDisconnected || event.type == CmEventType::kConnectError;
  }
  void retire() {
    session_.destroy_qp();
    armed_ = over_ = has_read_ = false;
    ended.push_back(std::exchange(now_, {}));
  }

  static constexpr std::uint8_t kFlags = abi::kCmCrc | abi::kCmMarkers;
  host::Mr* all_ = nullptr;
  bool armed_ = false, over_ = false, has_read_ = false;
  Stream now_;
};

const char* const kSend1 = "4143 00000000 00000000 00000001 00000000 11111111";
const char* const kSend2 = "4143 00000000 00000000 00000002 00000000 22222222";
const char* const kSend3 = "4143 00000000 00000000 00000003 00000000 33333333";
const char* const kSend4 = "4143 00000000 00000000 00000004 00000000 44444444";
const char* const kWrite = "C140 {ALL} {TO} 0BADF00D";
const char* const kWriteNowhere = "C140 {BAD} {TO} DEADBEEF";
const char* const kRead1 = "4141 00000000 00000001 00000001 00000000 00005678 0000000000000040 00000004 {ALL} {TO}";
const char* const kRead2 = "4141 00000000 00000001 00000002 00000000 00005678 0000000000000080 00000004 {ALL} {TO}";
const char* const kReadNowhere =
    "4141 00000000 00000001 00000002 00000000 00005678 0000000000000080 00000004 {BAD} {TO}";

struct Burst {
  const char* name;
  std::vector<std::string> ulpdus;
  std::vector<std::string> answers;  // the chip's whole output
  unsigned received = 0;
  std::optional<TerminateOrigin> error = {};
  wire::TerminateCause cause = {};
  std::size_t missing = 0;  // octets cut off the last FPDU
  bool spoilt = false;      // its CRC
};
std::ostream& operator<<(std::ostream& to, const Burst& b) { return to << b.name; }

std::string terminate(const char* header) { return std::string("4147 00000000 00000002 00000001 00000000") + header; }

const std::vector<Burst> kBursts = {
    {"Nothing", {}, {}},
    {"Sends", {kSend1, kSend2, kSend3, kSend4}, {}, 4},
    {"Reads",
     {kSend1, kWrite, kRead1, kRead2},
     {"C142 00005678 0000000000000040 0BADF00D", "C142 00005678 0000000000000080 0BADF00D"},
     1},
    {"WriteNowhere",
     {kSend1, kSend2, kWriteNowhere},
     {terminate("1100C000 0012 C140 {BAD} {TO}")},
     2,
     TerminateOrigin::kLocal,
     wire::ddp::kInvalidStag},
    {"ReadNowhere",
     {kWrite, kRead1, kReadNowhere},
     {"C142 00005678 0000000000000040 0BADF00D",
      terminate(
          "0100E000 002E 4141 00000000 00000001 00000002 00000000 00005678 0000000000000080 00000004 {BAD} {TO}")},
     0,
     TerminateOrigin::kLocal,
     wire::rdma::kInvalidStag},
    {"WrongCrc",
     {kSend1, kSend2},
     {terminate("20020000")},
     1,
     TerminateOrigin::kLocal,
     wire::mpa::kCrcMismatch,
     0,
     true},
    {"HalfAnFpdu",
     {kSend1, kSend2},
     {terminate("20010000")},
     1,
     TerminateOrigin::kLocal,
     wire::mpa::kConnectionLost,
     8},
    {"OneOctetShort",
     {kSend1, kSend2},
     {terminate("20010000")},
     1,
     TerminateOrigin::kLocal,
     wire::mpa::kConnectionLost,
     1},
    {"Terminate",
     {kSend1, kSend2, terminate("1100C000 0012 C140 12345678 0000000000001000")},
     {},
     2,
     TerminateOrigin::kPeer,
     wire::ddp::kInvalidStag},
};

class BurstBench : public PeerBench {
 protected:
  static NodeConfig config() {
    NodeConfig c;
    c.rnic.tcp.time_wait_us = 20;
    c.rnic.rx.rqe_fetch.prefetch = 1;  // a Send waits for its receive request
    return c;
  }
  explicit BurstBench(bool dials) : PeerBench("burst", config()) { host.dials = dials; }

  RawStream& open() {
    while (!host.armed()) peer.wait_us(1);
    if (!host.dials) return connect();
    RawStream& s = peer.accept();
    s.answer(from_hex("4D504120494420526570204672616D65 C001 0000"));
    while (!host.established()) peer.wait_us(1);
    return s;
  }
  BurstHost host{node};
};

class BurstTest : public BurstBench, public testing::WithParamInterface<std::tuple<Burst, bool>> {
 protected:
  static constexpr int kWithTheLastOctets = -1, kMostCycles = 200;
  BurstTest() : BurstBench(std::get<bool>(GetParam())) {}
  const Burst& sent() const { return std::get<Burst>(GetParam()); }
  Bytes octets(RawStream& s) const {
    Bytes all;
    for (const std::string& ulpdu : sent().ulpdus) {
      const Bytes fpdu = s.fpdu(host.octets(ulpdu));
      all.insert(all.end(), fpdu.begin(), fpdu.end());
    }
    all.resize(all.size() - sent().missing);
    if (sent().spoilt) all.back() ^= 1;
    return all;
  }
  void wait_cycles(int cycles) {
    if (cycles != 0) sc_core::wait(sc_core::sc_time::from_value(cycles * node.core_clk.period_ps()));
  }
  void finish(RawStream& s, int distance) {
    if (distance == kWithTheLastOctets) return s.send_last(octets(s));
    s.send(octets(s));
    wait_cycles(distance);
    s.send_fin();
  }
  void burst(int distance) {
    SCOPED_TRACE("FIN " + std::to_string(distance) + " cycles behind");
    RawStream& s = open();
    finish(s, distance);
    for (const std::string& answer : sent().answers) EXPECT_EQ(s.receive(), host.octets(answer));
    EXPECT_TRUE(s.receive_fin());
    EXPECT_EQ(s.unread(), 0u);
    expect_end(sent().error, sent().cause);
  }
  // A race decides whether the peer hears of its own error, so only the host is checked.
  void burst_and_reset(int distance) {
    SCOPED_TRACE("RST " + std::to_string(distance) + " cycles behind");
    RawStream& s = open();
    s.send(octets(s));
    wait_cycles(distance);
    s.send_rst();
    const bool error = sent().error && sent().missing == 0;
    expect_end(error ? *sent().error : TerminateOrigin::kUnsent, error ? sent().cause : wire::mpa::kConnectionLost);
  }
  void expect_end(std::optional<TerminateOrigin> error, wire::TerminateCause cause) {
    const std::size_t before = ended_;
    EXPECT_TRUE(peer.wait_for([&] { return host.ended.size() > before; })) << "the stream does not end";
    ASSERT_EQ(host.ended.size(), ++ended_);
    const BurstHost::Stream& ended = host.ended.back();
    EXPECT_EQ(ended.received, sent().received);
    if (!error) {
      EXPECT_THAT(ended.events, testing::ElementsAre(CmEventType::kEstablished, CmEventType::kDisconnected));
      return;
    }
    EXPECT_THAT(ended.events,
                testing::ElementsAre(CmEventType::kEstablished, CmEventType::kQpError, CmEventType::kDisconnected));
    EXPECT_EQ(ended.terminate.origin, *error);
    EXPECT_EQ(wire::terminate_word(ended.terminate.cause), wire::terminate_word(cause));
  }
  std::size_t ended_ = 0;
};

TEST_P(BurstTest, IsDeliveredOrToldBeforeTheFin) {
  peer.run([this] {
    peer.wait_us(20);  // the host listens by then
    for (int distance = kWithTheLastOctets; distance <= kMostCycles && !HasFailure(); ++distance) burst(distance);
  });
  sc_core::sc_start(sc_core::sc_time(500, sc_core::SC_MS), sc_core::SC_EXIT_ON_STARVATION);
  EXPECT_TRUE(peer.done());
  EXPECT_EQ(host.ended.size(), 1u + kMostCycles - kWithTheLastOctets);
}
TEST_P(BurstTest, IsDeliveredOrToldBeforeTheReset) {
  peer.run([this] {
    peer.wait_us(20);
    for (int distance = 0; distance <= kMostCycles && !HasFailure(); ++distance) burst_and_reset(distance);
  });
  sc_core::sc_start(sc_core::sc_time(500, sc_core::SC_MS), sc_core::SC_EXIT_ON_STARVATION);
  EXPECT_TRUE(peer.done());
  EXPECT_EQ(host.ended.size(), 1u + kMostCycles);
}
INSTANTIATE_TEST_SUITE_P(All, BurstTest, testing::Combine(testing::ValuesIn(kBursts), testing::Bool()),
                         [](const auto& of) {
                           return std::string(std::get<Burst>(of.param).name) +
                                  (std::get<bool>(of.param) ? "ToTheInitiator" : "ToTheResponder");
                         });

// A Read that nobody will answer any more.
class ReadOfOurs : public BurstBench, public testing::WithParamInterface<bool> {
 protected:
  ReadOfOurs() : BurstBench(GetParam()) {}
};
TEST_P(ReadOfOurs, IsNotWaitedForBehindTheFin) {
  host.reads = true;
  peer.run([this] {
    peer.wait_us(20);
    for (int round = 0; round < 3; ++round) {
      RawStream& s = open();
      s.send_ulpdu(host.octets(kSend1));
      EXPECT_EQ(s.receive().size(), 18u + 28u);
      s.send_fin();
      EXPECT_TRUE(s.receive_fin());
      EXPECT_EQ(s.unread(), 0u);
      EXPECT_TRUE(peer.wait_for([&] { return host.ended.size() > static_cast<std::size_t>(round); }));
    }
  });
  sc_core::sc_start(sc_core::sc_time(500, sc_core::SC_MS), sc_core::SC_EXIT_ON_STARVATION);
  ASSERT_EQ(host.ended.size(), 3u);
  for (const BurstHost::Stream& ended : host.ended) {
    EXPECT_EQ(ended.received, 1u);
    EXPECT_THAT(ended.events, testing::ElementsAre(CmEventType::kEstablished, CmEventType::kDisconnected));
  }
}
INSTANTIATE_TEST_SUITE_P(Initiator, ReadOfOurs, testing::Bool());

}  // namespace
}  // namespace rnic::test

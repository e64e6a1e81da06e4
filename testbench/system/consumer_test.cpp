// Both parts of each of our tools against each other, before they meet real ones.
#include <tuple>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "model/cable/ethernet_link.h"
#include "model/programs/consumer/make_consumer.h"
#include "model/rnic/llp/link_address.h"
#include "model/system/node.h"
#include "testbench/support/raw_association.h"
#include "testbench/support/raw_peer.h"
#include "testbench/support/stage_test.h"

namespace rnic::consumer {
namespace {

using test::Bytes;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint32_t kIpA = 0x0a000001, kIpB = 0x0a000002;
constexpr wire::MacAddress kMacA{{2, 0, 0, 0, 0, 1}}, kMacB{{2, 0, 0, 0, 0, 2}};

class ConsumerTest : public testing::Test {
 protected:
  ConsumerTest() {
    cable.attach(0, a.chip.mac_tx.ethernet, a.chip.mac_rx);
    cable.attach(1, b.chip.mac_tx.ethernet, b.chip.mac_rx);
  }
  void begin(ProgramSpec client_spec, ProgramSpec server_spec) {
    client_spec.name = "client", server_spec.name = "server";
    client_spec.peer_ip = kIpB;
    server_spec.part = Part::kServer;
    client = make_consumer(a.context, client_spec);
    server = make_consumer(b.context, server_spec);
  }
  void run_us(double us) { sc_core::sc_start(us, sc_core::SC_US); }
  static ProgramSpec of(std::uint32_t count, std::uint32_t size) {
    ProgramSpec s;
    s.count = count;
    s.size = size;
    return s;
  }
  Node a{"a", {}, LinkAddress{kMacA, {kIpA}, {{{kIpB}, kMacB}}}},
      b{"b", {}, LinkAddress{kMacB, {kIpB}, {{{kIpA}, kMacA}}}};
  EthernetLink cable{"cable", {}};
  std::unique_ptr<Consumer> client, server;
};

TEST_F(ConsumerTest, EveryRoundGoesThereAndBack) {
  begin(of(7, 10'000), of(7, 65'536));
  run_us(2000);
  EXPECT_EQ(client->error() + server->error(), "");
  EXPECT_TRUE(client->done());
  EXPECT_TRUE(server->done());
  for (const Consumer* c : {client.get(), server.get()}) {
    EXPECT_EQ(c->record().rounds, 7u);
    EXPECT_EQ(c->record().bytes, 7u * 20'000);
    EXPECT_EQ(c->waiting_for(), "");
  }
}

TEST_F(ConsumerTest, AServerMayTakeAsManyAsCome) {
  begin(of(3, 64), of(0, 64));
  run_us(2000);
  EXPECT_TRUE(server->done());
  EXPECT_EQ(server->record().rounds, 3u);
}

TEST_F(ConsumerTest, AClientThatLeavesEarlyIsMissed) {
  begin(of(3, 64), of(4, 64));
  run_us(2000);
  EXPECT_EQ(server->error(), "server: the peer left after 3 rounds");
  EXPECT_FALSE(server->done());
}

TEST_F(ConsumerTest, TooMuchDataIsRefusedByTheServer) {
  begin(of(1, 128), of(1, 64));
  run_us(2000);
  EXPECT_EQ(server->error(), "server: the client has 128 octets, more than 64");
}

TEST_F(ConsumerTest, RejectedAndRefused) {
  ProgramSpec no = of(1, 64);
  no.reject = true;
  begin(of(1, 64), no);
  run_us(2000);
  EXPECT_TRUE(server->done());
  EXPECT_THAT(client->error(), HasSubstr("client: the peer rejected the connection"));
}

TEST_F(ConsumerTest, AClientWaitsForItsTimeOrForAPing) {
  ProgramSpec later = of(1, 64);
  later.start_us = 300;
  begin(later, of(1, 64));
  run_us(250);
  EXPECT_EQ(client->waiting_for(), "client: its time to connect, after 0 rounds");
  run_us(500);
  EXPECT_TRUE(client->done());
  EXPECT_GT(client->record().first_ps, 300'000'000u);
}

TEST_F(ConsumerTest, APingStartsTheClient) {
  ProgramSpec waiting = of(1, 64);
  waiting.start_on_ping = true;
  begin(waiting, of(1, 64));
  run_us(500);
  EXPECT_FALSE(client->done());
  client->pinged();
  client->pinged();
  run_us(500);
  EXPECT_TRUE(client->done());
  EXPECT_GT(client->record().first_ps, 500'000'000u);
}

TEST_F(ConsumerTest, TheExamplesSayOneThingEach) {
  ProgramSpec tool;
  tool.tool = Tool::kRdmaExample;
  begin(tool, tool);
  run_us(2000);
  EXPECT_EQ(client->error() + server->error(), "");
  for (const Consumer* c : {client.get(), server.get()}) {
    EXPECT_TRUE(c->done());
    EXPECT_EQ(c->record().rounds, 1u);
    EXPECT_EQ(c->record().bytes, 32u);
  }
}

TEST_F(ConsumerTest, MarkersAndReadyToReceiveAreWhatTheClientAsksFor) {
  ProgramSpec asking = of(2, 5000);
  asking.markers = asking.rtr = true;
  begin(asking, of(2, 5000));
  run_us(2000);
  EXPECT_EQ(client->error() + server->error(), "");
  EXPECT_TRUE(server->done());
  EXPECT_GT(b.chip.marker_inserter.counters().markers, 10'000u / 512) << "one every 512 octets of what it receives";
  EXPECT_EQ(a.chip.marker_inserter.counters().markers, 0u);
}

class EchoTest : public ConsumerTest, public testing::WithParamInterface<EchoOperation> {
 protected:
  static ProgramSpec echo(std::uint32_t count, std::uint32_t size) {
    ProgramSpec s = of(count, size);
    s.tool = Tool::kEcho;
    s.operation = GetParam();
    return s;
  }
};

TEST_P(EchoTest, EveryOctetComesBack) {
  begin(echo(9, 10'001), echo(0, 65'536));
  run_us(3000);
  EXPECT_EQ(client->error() + server->error(), "");
  for (const Consumer* c : {client.get(), server.get()}) {
    EXPECT_TRUE(c->done());
    EXPECT_EQ(c->record().rounds, 9u);
    EXPECT_EQ(c->record().bytes, 9u * 2 * 10'001);
  }
}

TEST_P(EchoTest, MoreThanTheServerTakesIsRefused) {
  begin(echo(1, 5000), echo(0, 4999));
  run_us(3000);
  EXPECT_EQ(server->error(), "server: the client has 5000 octets, more than 4999");
}

INSTANTIATE_TEST_SUITE_P(Operations, EchoTest,
                         testing::Values(EchoOperation::kSend, EchoOperation::kWrite, EchoOperation::kWriteInvalidate,
                                         EchoOperation::kRead));

// A server and a station that opens arbitrary connections. Only the connection that it serves can end the server.
class ServerBench : public testing::Test {
 protected:
  static constexpr std::uint16_t kPort = 7471;
  static NodeConfig config() {
    NodeConfig c;
    c.rnic.fwcpu.request_timeout_us = 100;
    return c;
  }
  explicit ServerBench(Tool tool, host::Transport transport = host::Transport::kTcp, bool rtr = false) {
    cable.attach(1, node.chip.mac_tx.ethernet, node.chip.mac_rx);
    node.set_lookahead(0, 500'000);
    ProgramSpec spec;
    spec.name = "server";
    spec.tool = tool;
    spec.part = Part::kServer;
    spec.port = kPort;
    spec.count = 1;
    spec.size = 64;
    spec.transport = transport;
    spec.rtr = rtr;
    server = make_consumer(node.context, spec);
  }
  Node node{"a", config(), LinkAddress{kMacB, {kIpB}, {{{kIpA}, kMacA}}}};
  EthernetLink cable{"cable", {}};
  std::unique_ptr<Consumer> server;
};

class ServerTest : public ServerBench {
 protected:
  explicit ServerTest(Tool tool = Tool::kRping, bool rtr = false) : ServerBench(tool, host::Transport::kTcp, rtr) {
    cable.attach(0, peer.out, peer.in());
  }
  void run(std::function<void()> script) {
    peer.run([this, script] {
      peer.wait_us(50);  // it listens by then
      script();
    });
    sc_core::sc_start(20, sc_core::SC_MS);
    EXPECT_TRUE(peer.done());
    EXPECT_EQ(server->error(), "");
  }
  // The served connection, up to its first FPDU.
  test::RawStream& connect() {
    test::RawStream& s = peer.connect();
    EXPECT_EQ(s.start(test::from_hex("4D504120494420526571204672616D65 4001 0000")),
              test::from_hex("4D504120494420526570204672616D65 4001 0000"));
    s.send_ulpdu(test::from_hex("C140 00000000 0000000000000000"));
    peer.wait_us(50);
    EXPECT_EQ(server->waiting_for(), "server: the peer, after 0 rounds");
    return s;
  }
  test::RawPeer peer{"peer", {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, kIpA, kIpB, kPort}};
};

TEST_F(ServerTest, ServesOnBehindGarbageAFinARstAndSilence) {
  run([this] {
    peer.connect().send(Bytes(100, 0xee));
    peer.connect().send_fin();
    peer.connect().send_rst();
    peer.connect();  // and sends nothing more
    peer.wait_us(300);
    connect();
    EXPECT_EQ(server->record().refused, 4u);
  });
}
// The second one's end is already in the channel when the first one's end takes the queue pair away.
TEST_F(ServerTest, TwoConnectionsThatEndAtOnce) {
  run([this] {
    test::RawStream &accepted = peer.connect(), &silent = peer.connect();
    accepted.start(test::from_hex("4D504120494420526571204672616D65 5002 0004 8010 4010"));
    silent.send_rst();
    accepted.send_rst();
    peer.wait_us(100);
    connect();
    EXPECT_EQ(server->record().refused, 2u);
  });
}
TEST_F(ServerTest, AStrayThatEndsWhenTheServedOneIsUp) {
  run([this] {
    test::RawStream& silent = peer.connect();
    connect();
    silent.send_rst();
    peer.wait_us(200);
    EXPECT_EQ(server->waiting_for(), "server: the peer, after 0 rounds");
  });
}
TEST_F(ServerTest, TwoRequestsAtOnceGetOneQueuePair) {
  run([this] {
    const Bytes request = test::from_hex("4D504120494420526571204672616D65 4001 0000");
    test::RawStream &first = peer.connect(), &second = peer.connect();
    first.send(request);
    EXPECT_EQ(second.start(request), test::from_hex("4D504120494420526570204672616D65 6001 0002 6E6F"));
    EXPECT_TRUE(second.receive_fin());
    EXPECT_EQ(server->record().refused, 1u);
    EXPECT_EQ(server->record().last_refusal, "another one is served");
  });
}
TEST_F(ServerTest, AConnectionThatEndsBeforeItIsUpLeavesRoomForAnother) {
  run([this] {
    const Bytes ready_to_receive = test::from_hex("4D504120494420526571204672616D65 5002 0004 8010 4010");
    test::RawStream& gone = peer.connect();
    gone.start(ready_to_receive);
    gone.send_rst();
    peer.wait_us(100);
    connect();
    EXPECT_EQ(server->record().refused, 1u);
    EXPECT_EQ(server->record().last_refusal,
              "the queue pair went to the error state: could not send Terminate 2/0/01 (MPA: TCP connection closed, "
              "terminated or lost)");
  });
}

// RFC 6581 section 9.2: the reply names those of the request's kinds that the server takes; if there are none, all
// kinds that it would take.
class ServerOfWrites : public ServerTest {
 protected:
  ServerOfWrites() : ServerTest(Tool::kRping, true) {}
};
const char* const kOffersASend = "4D504120494420526571204672616D65 5002 0004 C001 0001";
TEST_F(ServerTest, TakesASendAsReadyToReceive) {
  run([this] {
    EXPECT_EQ(peer.connect().start(test::from_hex(kOffersASend)),
              test::from_hex("4D504120494420526570204672616D65 5002 0004 C001 0001"));
  });
}
TEST_F(ServerOfWrites, NamesTheWriteToAPeerThatOffersASend) {
  run([this] {
    EXPECT_EQ(peer.connect().start(test::from_hex(kOffersASend)),
              test::from_hex("4D504120494420526570204672616D65 5002 0004 8001 8001"));
  });
}

// The peer withdraws a request: in the request's segment, or some microseconds later, when the host may have accepted
// it and the reply may be out.
struct Withdrawal {
  const char* name;
  void (*of)(test::RawStream& stream, Bytes request, const std::function<void()>& pause);
};
const Withdrawal kWithdrawals[] = {
    {"fin",
     [](auto& s, Bytes request, auto& pause) {
       if (!pause) return s.send_last(request);
       s.send(request), pause(), s.send_fin();
     }},
    {"rst", [](auto& s, Bytes request, auto& pause) { s.send(request), pause ? pause() : void(), s.send_rst(); }},
    {"octet_and_fin",
     [](auto& s, Bytes request, auto& pause) {
       if (pause) s.send(request), pause(), request.clear();
       request.push_back(0);
       s.send_last(request);
     }},
    {"garbage_and_rst", [](auto& s, Bytes request, auto& pause) {
       if (pause) s.send(request), pause(), request.clear();
       request.resize(request.size() + 64, 0xee);
       s.send(request), s.send_rst();
     }}};
// A plain request, and one that offers a ready-to-receive message.
constexpr const char* kRequests[] = {"4D504120494420526571204672616D65 4001 0000",
                                     "4D504120494420526571204672616D65 5002 0004 8010 4010"};
constexpr Tool kTools[] = {Tool::kRping, Tool::kRdmaExample, Tool::kEcho};
constexpr unsigned kPauses_us[] = {0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 25, 60};

class WithdrawnRequest
    : public ServerTest,
      public testing::WithParamInterface<std::tuple<Tool, Withdrawal, const char* /* request */, unsigned>> {
 protected:
  WithdrawnRequest() : ServerTest(std::get<Tool>(GetParam())) {}
};

TEST_P(WithdrawnRequest, IsRefusedAndAnotherOneServed) {
  run([this] {
    const unsigned pause_us = std::get<unsigned>(GetParam());
    const auto pause = pause_us == 0 ? std::function<void()>() : [&] { peer.wait_us(pause_us); };
    std::get<Withdrawal>(GetParam()).of(peer.connect(), test::from_hex(std::get<const char*>(GetParam())), pause);
    peer.wait_us(200);
    EXPECT_EQ(server->record().refused, 1u);
    connect();
    EXPECT_EQ(server->record().refused, 1u);
  });
}
INSTANTIATE_TEST_SUITE_P(Tools, WithdrawnRequest,
                         testing::Combine(testing::ValuesIn(kTools), testing::ValuesIn(kWithdrawals),
                                          testing::ValuesIn(kRequests), testing::ValuesIn(kPauses_us)),
                         [](const auto& row) {
                           return fmt::format(
                               "{}_{}_{}_{}us", static_cast<int>(std::get<0>(row.param)), std::get<1>(row.param).name,
                               std::get<2>(row.param) == kRequests[0] ? "plain" : "rtr", std::get<3>(row.param));
                         });

class OneSend : public ServerTest {
 protected:
  OneSend() : ServerTest(Tool::kRdmaExample) {}
};
// The whole exchange of librdmacm's client example, after three connections that were given up.
TEST_F(OneSend, IsAnsweredBehindConnectionsThatWereGivenUp) {
  run([this] {
    const Bytes request = test::from_hex(kRequests[0]);
    peer.connect().send_last(request);
    peer.wait_us(100);
    test::RawStream& left = peer.connect();
    left.start(request);
    left.send_fin();
    peer.wait_us(100);
    test::RawStream& reset = peer.connect();
    reset.start(request);
    reset.send_ulpdu(test::from_hex("C140 00000000 0000000000000000"));
    reset.send_rst();
    peer.wait_us(100);
    test::RawStream& s = connect();
    s.send_ulpdu(test::from_hex("4143 00000000 00000000 00000001 00000000 00000000000000000000000000000000"));
    EXPECT_EQ(s.receive(), test::from_hex("4143 00000000 00000000 00000001 00000000 00000000000000000000000000000000"));
    EXPECT_TRUE(s.receive_fin());
    s.send_fin();
    peer.wait_us(100);
    EXPECT_TRUE(server->done());
    EXPECT_EQ(server->record().refused, 3u);
    EXPECT_EQ(server->record().rounds, 1u);
  });
}

// The same over SCTP: a chunk after the Initiate, in its packet or later.
struct Behind {
  const char* name;
  Bytes (*chunk)(test::RawAssociations& peer);
};
const Behind kBehind[] = {
    {"terminate", [](auto& p) { return p.control(4); }},
    {"reject", [](auto& p) { return p.control(3); }},
    {"accept", [](auto& p) { return p.control(2); }},
    {"initiate", [](auto& p) { return p.control(1); }},
    {"enhanced_initiate",
     [](auto& p) {
       return p.control(5, {0, 1, 0, 1});
     }},
    {"enhanced_accept",
     [](auto& p) {
       return p.control(6, {0, 1, 0, 1});
     }},
    {"enhanced_reject",
     [](auto& p) {
       return p.control(7, {0, 1, 0, 1});
     }},
    {"unknown", [](auto& p) { return p.control(99); }},
    {"bad_segment",
     [](auto& p) {
       return p.segment({0xff, 0xff});
     }},
    {"abort", [](auto& p) { return p.abort(); }},
    {"shutdown", [](auto& p) { return p.shutdown(); }},
};

class WithdrawnInitiate : public ServerBench,
                          public testing::WithParamInterface<std::tuple<Tool, Behind, bool /* enhanced */, unsigned>> {
 protected:
  WithdrawnInitiate() : ServerBench(std::get<Tool>(GetParam()), host::Transport::kSctp) {
    cable.attach(0, peer.out, peer.in());
  }
  Bytes initiate() { return std::get<bool>(GetParam()) ? peer.control(5, {0x80, 0x10, 0x40, 0x10}) : peer.control(1); }
  test::RawAssociations peer{"peer", {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, kIpA, kIpB, kPort}};
};

TEST_P(WithdrawnInitiate, IsRefusedAndAnotherOneServed) {
  peer.run([this] {
    peer.wait_us(50);  // it listens by then
    const unsigned pause_us = std::get<unsigned>(GetParam());
    const Behind behind = std::get<Behind>(GetParam());
    // RFC 9260 section 6.10: DATA is not bundled with an ABORT, and so no request comes.
    const unsigned refused = pause_us == 0 && behind.chunk(peer) == peer.abort() ? 0 : 1;
    peer.open();
    const Bytes first = initiate();
    if (pause_us == 0) {
      peer.send({first, behind.chunk(peer)});
    } else {
      peer.send({first});
      peer.wait_us(pause_us);
      peer.send({behind.chunk(peer)});
    }
    peer.wait_us(200);
    EXPECT_EQ(server->record().refused, refused);
    peer.open();
    peer.send({initiate()});
    const std::uint16_t accept = std::get<bool>(GetParam()) ? 6 : 2;
    EXPECT_TRUE(peer.wait_for([&] { return peer.codes == std::vector<std::uint16_t>{accept}; }));
    peer.wait_us(50);
    EXPECT_EQ(server->waiting_for(), "server: the peer, after 0 rounds");
    EXPECT_EQ(server->record().refused, refused);
  });
  sc_core::sc_start(20, sc_core::SC_MS);
  EXPECT_TRUE(peer.done());
  EXPECT_EQ(server->error(), "");
}
INSTANTIATE_TEST_SUITE_P(Tools, WithdrawnInitiate,
                         testing::Combine(testing::ValuesIn(kTools), testing::ValuesIn(kBehind), testing::Bool(),
                                          testing::Values(0u, 2u, 5u, 10u, 60u)),
                         [](const auto& row) {
                           return fmt::format("{}_{}_{}_{}us", static_cast<int>(std::get<0>(row.param)),
                                              std::get<1>(row.param).name,
                                              std::get<2>(row.param) ? "enhanced" : "plain", std::get<3>(row.param));
                         });

}  // namespace
}  // namespace rnic::consumer

// Both parts of each of our tools against each other, before they meet real ones.
#include <gmock/gmock.h>

#include "model/env/consumer/make_consumer.h"
#include "model/env/link/ethernet_link.h"
#include "model/system/node.h"
#include "testbench/support/stage_test.h"

namespace rnic::consumer {
namespace {

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
  Node a{"a", {}, StationConfig{kMacA, {kIpA}, {{{kIpB}, kMacB}}}},
      b{"b", {}, StationConfig{kMacB, {kIpB}, {{{kIpA}, kMacA}}}};
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
  EXPECT_GT(b.chip.marker_inserter.markers().value(), 10'000u / 512) << "one every 512 octets of what it receives";
  EXPECT_EQ(a.chip.marker_inserter.markers().value(), 0u);
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

}  // namespace
}  // namespace rnic::consumer

// Both parts of our rping against each other, before they meet a real one.
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

class RpingTest : public testing::Test {
 protected:
  RpingTest() {
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

TEST_F(RpingTest, EveryRoundGoesThereAndBack) {
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

TEST_F(RpingTest, AServerMayTakeAsManyAsCome) {
  begin(of(3, 64), of(0, 64));
  run_us(2000);
  EXPECT_TRUE(server->done());
  EXPECT_EQ(server->record().rounds, 3u);
}

TEST_F(RpingTest, AClientThatLeavesEarlyIsMissed) {
  begin(of(3, 64), of(4, 64));
  run_us(2000);
  EXPECT_EQ(server->error(), "server: the peer left after 3 rounds");
  EXPECT_FALSE(server->done());
}

TEST_F(RpingTest, TooMuchDataIsRefusedByTheServer) {
  begin(of(1, 128), of(1, 64));
  run_us(2000);
  EXPECT_EQ(server->error(), "server: the client has 128 octets, more than 64");
}

TEST_F(RpingTest, RejectedAndRefused) {
  ProgramSpec no = of(1, 64);
  no.reject = true;
  begin(of(1, 64), no);
  run_us(2000);
  EXPECT_TRUE(server->done());
  EXPECT_THAT(client->error(), HasSubstr("client: the peer rejected the connection"));
}

TEST_F(RpingTest, AClientWaitsForItsTimeOrForAPing) {
  ProgramSpec later = of(1, 64);
  later.start_us = 300;
  begin(later, of(1, 64));
  run_us(250);
  EXPECT_EQ(client->waiting_for(), "client: its time to connect, after 0 rounds");
  run_us(500);
  EXPECT_TRUE(client->done());
  EXPECT_GT(client->record().first_ps, 300'000'000u);
}

TEST_F(RpingTest, APingStartsTheClient) {
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

}  // namespace
}  // namespace rnic::consumer

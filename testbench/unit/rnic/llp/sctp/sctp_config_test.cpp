#include "model/rnic/llp/sctp/sctp_config.h"

#include <gmock/gmock.h>

#include "model/common/check.h"

namespace rnic {
namespace {

std::string message_of(const SctpConfig& config, unsigned ip_mtu) {
  try {
    check_settings(config, ip_mtu);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

TEST(SctpConfig, ThereAreSoManyDdpStreams) {
  SctpConfig config;
  EXPECT_EQ(message_of(config, 1500), "no error");
  config.streams = 64;
  EXPECT_EQ(message_of(config, 1500), "no error");
  config.streams = 65;
  EXPECT_EQ(message_of(config, 1500),
            "rnic.sctp.max_associations: 16 associations of rnic.sctp.streams = 65 are 1040 DDP streams; there are at "
            "most 1024");
}

TEST(SctpConfig, TheReceiveBufferHoldsTheLongestMessage) {
  SctpConfig config;
  config.receive_buffer = 10'000;
  EXPECT_EQ(message_of(config, 1500), "no error");
  EXPECT_THAT(message_of(config, 9000), testing::StartsWith("rnic.sctp.receive_buffer: "));
}

TEST(SctpConfig, LatenciesAreThoseOfTheLinks) {
  SctpConfig config;
  config.tx_cycles = 9;
  EXPECT_EQ(config.tx_link().latency, 9u);
  EXPECT_EQ(config.rx_link().latency, 6u);
  EXPECT_GT(config.tx_link().depth, config.tx_link().latency);
}

}  // namespace
}  // namespace rnic

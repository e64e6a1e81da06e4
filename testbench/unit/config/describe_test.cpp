// The reference of all settings and the dump of the values in effect, from the same field lists.
#include "model/config/describe.h"

#include <sstream>

#include <gmock/gmock.h>

#include "model/config/resolve.h"
#include "testbench/unit/config/sample_config.h"

namespace rnic::sample {
namespace {

TEST(ConfigList, NamesEveryKeyInTheOrderOfTheFieldLists) {
  std::ostringstream out;
  write_list(out, list_fields<Config>());
  EXPECT_EQ(
      out.str(),
      "key                             type                default        range                   unit    meaning\n"
      "seed                            u64                 1                                              of all "
      "random streams\n"
      "loss                            double              0.0            0..1                            share of "
      "frames lost\n"
      "title                           string              \"\"                                             of the "
      "report\n"
      "rnic.crc_check.enabled          bool                true                                           off only "
      "when both peers agreed on MPA C=0\n"
      "rnic.crc_check.pipeline_cycles  u32                 4              1..64                   cycles  CRC32c tree "
      "depth\n"
      "rnic.queue_depth                u16                 64             16..4096, power of two          entries of "
      "each ring\n"
      "rnic.personality                rdmac|ietf          \"ietf\"                                         MPA "
      "start-up of the firmware\n"
      "rnic.scheduler                  round-robin|strict  \"round-robin\"                                  order of "
      "QPs\n");
}

TEST(ConfigDump, NestsTheValuesInEffect) {
  Overlay overlay;
  overlay.set("rnic.personality=rdmac");
  overlay.set("seed=7");
  const auto dump = dump_fields(resolve<Config>(overlay));
  EXPECT_EQ(dump.dump(), R"({"seed":7,"loss":0.0,"title":"","rnic":{"crc_check":{"enabled":true,"pipeline_cycles":4},)"
                         R"("queue_depth":64,"personality":"rdmac","scheduler":"round-robin"}})");
}

TEST(ConfigDump, IsAnInputThatGivesTheSameConfiguration) {
  Overlay overlay;
  overlay.set("loss=0.125");
  overlay.set("rnic.crc_check.enabled=false");
  const auto dump = dump_fields(resolve<Config>(overlay));
  EXPECT_EQ(dump_fields(resolve<Config>(Overlay::from_json(dump, "dump"))), dump);
}

}  // namespace
}  // namespace rnic::sample

#include "model/rnic/fwcpu/setup_times.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "model/stats/report.h"

namespace rnic {
namespace {

using Part = SetupTimes::Part;
using Role = SetupTimes::Role;
constexpr FlowId kFlow{3};

class SetupTimesTest : public testing::Test {
 protected:
  SetupTimesTest() { times.register_stats(StatsGroup(registry)); }
  std::uint64_t value(const char* role, const char* part, const char* figure = "max") const {
    return to_json(registry)[role][part][figure];
  }
  SetupTimes times{4000};
  StatsRegistry registry;
};

TEST_F(SetupTimesTest, ThePartsOfAPassiveSetupAddUpToTheWhole) {
  times.opened(kFlow, Role::kResponder, 100, 150);
  times.enter(kFlow, Part::kMpa, 210);
  times.enter(kFlow, Part::kFirmware, 300);
  times.enter(kFlow, Part::kMpa, 320);  // the rest of the request
  times.enter(kFlow, Part::kFirmware, 321);
  times.enter(kFlow, Part::kHost, 400);
  times.enter(kFlow, Part::kFirmware, 1400);
  times.established(kFlow, 1500);
  EXPECT_EQ(value("responder", "tcp"), 50 * 4000u);
  EXPECT_EQ(value("responder", "mpa"), (90 + 1) * 4000u);
  EXPECT_EQ(value("responder", "firmware"), (60 + 20 + 79 + 100) * 4000u);
  EXPECT_EQ(value("responder", "host"), 1000 * 4000u);
  EXPECT_EQ(value("responder", "total"), 1400 * 4000u);
  EXPECT_EQ(value("initiator", "total", "count"), 0u);
}

TEST_F(SetupTimesTest, OnlySetupsThatSucceedCount) {
  times.opened(kFlow, Role::kInitiator, 0, 10);
  times.failed(kFlow);
  times.established(kFlow, 50);
  times.enter(kNoFlow, Part::kMpa, 60);
  times.established(kNoFlow, 70);
  EXPECT_EQ(value("initiator", "total", "count"), 0u);
  times.opened(kFlow, Role::kInitiator, 100, 110);
  times.established(kFlow, 130);
  times.established(kFlow, 140);
  EXPECT_EQ(value("initiator", "total", "count"), 1u);
  EXPECT_EQ(value("initiator", "total"), 30 * 4000u);
}

TEST_F(SetupTimesTest, FlowsDoNotMix) {
  times.opened(FlowId{1}, Role::kInitiator, 0, 10);
  times.opened(FlowId{2}, Role::kInitiator, 5, 30);
  times.established(FlowId{2}, 40);
  times.established(FlowId{1}, 100);
  EXPECT_EQ(value("initiator", "total", "min"), 35 * 4000u);
  EXPECT_EQ(value("initiator", "total", "max"), 100 * 4000u);
}

}  // namespace
}  // namespace rnic

// The two reports, literally, and the errors in registering that must be caught.
#include "model/stats/registry.h"

#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "model/common/check.h"
#include "model/stats/report.h"

namespace rnic {
namespace {

class RegistryTest : public ::testing::Test {
 protected:
  RegistryTest() {
    const StatsGroup rx = StatsGroup(registry).group("node0").group("rx");
    rx.counter("fpdus", fpdus, "FPDUs", "FPDUs checked");
    rx.derived(
        "share", [this] { return static_cast<double>(bad) / static_cast<double>(fpdus); }, "ratio", "bad among all");
    StatsGroup(registry).histogram("latency", latency, "ps", "doorbell to CQE");
    rx.counter("bad", bad, "FPDUs", "FPDUs with a wrong CRC");
  }
  StatsRegistry registry;
  std::uint64_t fpdus = 0, bad = 0;
  Histogram latency;
};

TEST_F(RegistryTest, JsonNestsByGroupInTheOrderOfRegistration) {
  fpdus += 8;
  ++bad;
  for (const unsigned v : {300u, 100u, 201u}) latency.record(v);
  EXPECT_EQ(to_json(registry).dump(),
            R"({"node0":{"rx":{)"
            R"("fpdus":{"value":8,"unit":"FPDUs","description":"FPDUs checked"},)"
            R"("share":{"value":0.125,"unit":"ratio","description":"bad among all"},)"
            R"("bad":{"value":1,"unit":"FPDUs","description":"FPDUs with a wrong CRC"}}},)"
            R"("latency":{"count":3,"min":100,"mean":200.33333333333334,"p50":201,"p90":300,"p99":300,"p99.9":300,)"
            R"("max":300,"unit":"ps","description":"doorbell to CQE"}})");
}

TEST_F(RegistryTest, ASingleFigureIsHadByItsPath) {
  fpdus += 8;
  ++bad;
  EXPECT_EQ(registry.value("node0.rx.fpdus"), 8);
  EXPECT_EQ(registry.value("node0.rx.share"), 0.125);
  EXPECT_THROW(registry.value("node0.rx"), InternalError);
  EXPECT_THROW(registry.value("latency"), InternalError);
}

TEST_F(RegistryTest, TextHasOneAlignedLinePerFigure) {
  fpdus += 1000;
  latency.record(5);
  std::ostringstream out;
  write_text(out, registry);
  EXPECT_EQ(out.str(),
            "node0.rx.fpdus  1000  FPDUs  FPDUs checked\n"
            "node0.rx.share   0.0  ratio  bad among all\n"
            "latency.count      1  ps     doorbell to CQE\n"
            "latency.min        5  ps     doorbell to CQE\n"
            "latency.mean     5.0  ps     doorbell to CQE\n"
            "latency.p50        5  ps     doorbell to CQE\n"
            "latency.p90        5  ps     doorbell to CQE\n"
            "latency.p99        5  ps     doorbell to CQE\n"
            "latency.p99.9      5  ps     doorbell to CQE\n"
            "latency.max        5  ps     doorbell to CQE\n"
            "node0.rx.bad       0  FPDUs  FPDUs with a wrong CRC\n");
}

TEST_F(RegistryTest, TextWithoutZerosSaysHowManyItLeavesOut) {
  fpdus = 7;
  latency.record(0);
  latency.record(5);
  std::ostringstream out;
  write_text(out, registry, false);
  EXPECT_EQ(out.str(),
            "node0.rx.fpdus    7  FPDUs  FPDUs checked\n"
            "latency.count     2  ps     doorbell to CQE\n"
            "latency.mean    2.5  ps     doorbell to CQE\n"
            "latency.p90       5  ps     doorbell to CQE\n"
            "latency.p99       5  ps     doorbell to CQE\n"
            "latency.p99.9     5  ps     doorbell to CQE\n"
            "latency.max       5  ps     doorbell to CQE\n"
            "4 more figures are 0\n");
}

TEST_F(RegistryTest, AfterARestartOnlyWhatFollowsIsReported) {
  HighWater most;
  double calls = 4, cycles = 8, flows = 3;
  const StatsGroup root(registry);
  registry.add("buffered_max", &most, "octets", "the most that waited");
  root.sum(
      "calls", [&] { return calls; }, "calls", "of programs");
  root.ratio(
      "share", [&] { return calls; }, [&] { return cycles; }, "calls in a cycle");
  root.derived(
      "flows", [&] { return flows; }, "flows", "at present");
  most.level(7);
  most.level(2);
  fpdus = 10;
  latency.record(5);
  registry.restart();
  fpdus = 12;
  latency.record(9);
  const auto json = to_json(registry);
  EXPECT_EQ(json["node0"]["rx"]["fpdus"]["value"], 2);
  EXPECT_EQ(json["latency"]["count"], 1);
  EXPECT_EQ(json["latency"]["min"], 9);
  EXPECT_EQ(json["calls"]["value"], 0);
  EXPECT_EQ(json["share"]["value"], 0);         // over no time
  EXPECT_EQ(json["buffered_max"]["value"], 2);  // the number waiting at that moment
  EXPECT_EQ(json["flows"]["value"], 3);
  EXPECT_EQ(registry.value("node0.rx.fpdus"), 12);
  most.level(5, 1);
  calls = 5;
  cycles = 12;
  const auto later = to_json(registry);
  EXPECT_EQ(later["buffered_max"]["value"], 5);
  EXPECT_EQ(later["calls"]["value"], 1);
  EXPECT_EQ(later["share"]["value"], 0.25);
  EXPECT_EQ(registry.value("calls"), 5);
}

TEST_F(RegistryTest, FigureWithoutFiniteValueIsNull) {
  EXPECT_TRUE(to_json(registry)["node0"]["rx"]["share"]["value"].is_null());
}

TEST_F(RegistryTest, PathIsOneFigureOrOneGroup) {
  EXPECT_THROW(registry.add("latency", &bad, "FPDUs", "bad ones"), InternalError);
  EXPECT_THROW(registry.add("node0.rx", &bad, "FPDUs", "bad ones"), InternalError);
  EXPECT_THROW(registry.add("latency.tail", &bad, "FPDUs", "bad ones"), InternalError);
  EXPECT_NO_THROW(registry.add("latency2", &bad, "FPDUs", "bad ones"));
}

struct DropCounters {
  std::uint64_t late = 0, damaged = 0;
  template <class V>
  static void fields(V& v) {
    v("late", &DropCounters::late, "frames", "dropped: too late");
    v("damaged", &DropCounters::damaged, "frames", "dropped: wrong FCS");
  }
};

TEST_F(RegistryTest, AStructureOfCountersListsItself) {
  DropCounters drops;
  StatsGroup(registry, "drops").counters(drops);
  drops.damaged = 3;
  EXPECT_EQ(to_json(registry)["drops"].dump(),
            R"({"late":{"value":0,"unit":"frames","description":"dropped: too late"},)"
            R"("damaged":{"value":3,"unit":"frames","description":"dropped: wrong FCS"}})");
}

// A word outside the list is a typing mistake, or a second word for the same thing.
TEST_F(RegistryTest, UnitsAreOfOneVocabulary) {
  EXPECT_THROW(registry.add("new", &bad, "B", "octets"), InternalError);
  EXPECT_THROW(registry.add("new", &bad, "", "a share"), InternalError);
  EXPECT_THROW(registry.add("new", &bad, "octets", ""), InternalError);
  EXPECT_NO_THROW(registry.add("new", &bad, "octets", "received"));
}

}  // namespace
}  // namespace rnic

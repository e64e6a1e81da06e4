// Resolving a configuration tree from defaults, files, node overrides and --set, and the message for every mistake.
#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>

#include "model/config/json_file.h"
#include "model/config/nearest.h"
#include "model/config/resolve.h"
#include "testbench/unit/config/sample_config.h"

namespace rnic::sample {
namespace {

using nlohmann::json;

Overlay file(const char* text) { return Overlay::from_json(json::parse(text), "a.json"); }

Overlay command_line(std::initializer_list<const char*> assignments) {
  Overlay overlay;
  for (const char* a : assignments) overlay.set(a);
  return overlay;
}

// The message of the ConfigError, or "no error".
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

std::string error_in(const Overlay& overlay) {
  return error_of([&] { resolve<Config>(overlay); });
}

TEST(Config, DefaultsAreTheMemberInitialisers) {
  const Config c = resolve<Config>(Overlay{});
  EXPECT_EQ(c.seed, 1u);
  EXPECT_TRUE(c.rnic.crc_check.enabled);
  EXPECT_EQ(c.rnic.crc_check.pipeline_cycles, 4u);
  EXPECT_EQ(c.rnic.personality, Personality::kIetf);
}

TEST(Config, FileSetsEveryTypeAtItsPath) {
  const Config c = resolve<Config>(file(R"({
    "seed": 18446744073709551615, "loss": 1, "title": "4=four",
    "rnic": {"crc_check": {"enabled": false}, "queue_depth": 128, "personality": "rdmac", "scheduler": "strict"},
    "rnic.crc_check.pipeline_cycles": 64})"));
  EXPECT_EQ(c.seed, 18446744073709551615u);
  EXPECT_EQ(c.loss, 1.0);
  EXPECT_EQ(c.title, "4=four");
  EXPECT_FALSE(c.rnic.crc_check.enabled);
  EXPECT_EQ(c.rnic.crc_check.pipeline_cycles, 64u);
  EXPECT_EQ(c.rnic.queue_depth, 128);
  EXPECT_EQ(c.rnic.personality, Personality::kRdmac);
  EXPECT_EQ(c.rnic.scheduler, "strict");
}

TEST(Config, CommandLineTextTakesTheTypeOfItsTarget) {
  const Config c = resolve<Config>(command_line({"seed=0xff", "loss=0.25", "title=a=b", "rnic.crc_check.enabled=false",
                                                 "rnic.queue_depth=32", "rnic.personality=rdmac"}));
  EXPECT_EQ(c.seed, 255u);
  EXPECT_EQ(c.loss, 0.25);
  EXPECT_EQ(c.title, "a=b");
  EXPECT_FALSE(c.rnic.crc_check.enabled);
  EXPECT_EQ(c.rnic.queue_depth, 32);
  EXPECT_EQ(c.rnic.personality, Personality::kRdmac);
  EXPECT_EQ(resolve<Config>(command_line({"title=12"})).title, "12");
}

TEST(Config, LaterSettingsOverrideEarlierOnes) {
  const Overlay base = file(R"({"seed": 2, "rnic": {"queue_depth": 128, "crc_check": {"pipeline_cycles": 5}}})");
  const Overlay node = Overlay::from_json(json::parse(R"({"rnic": {"queue_depth": 256}})"), "a.json, node 1");
  const Overlay set = command_line({"rnic.crc_check.pipeline_cycles=6", "rnic.crc_check.pipeline_cycles=7"});
  const Config all = resolve<Config>(base.with(node).with(set));
  EXPECT_EQ(all.seed, 2u);
  EXPECT_EQ(all.rnic.queue_depth, 256);
  EXPECT_EQ(all.rnic.crc_check.pipeline_cycles, 7u);
  EXPECT_EQ(resolve<Config>(base).rnic.queue_depth, 128) << "layering leaves the lower overlay alone";
}

TEST(Config, PartOfTheTreeResolvesByItsPath) {
  const Overlay overlay = file(R"({"seed": "unread", "rnic": {"crc_check": {"pipeline_cycles": 9}}})");
  EXPECT_EQ(resolve<CrcCheckConfig>(overlay, "rnic.crc_check").pipeline_cycles, 9u);
  EXPECT_EQ(resolve<RnicConfig>(overlay, "rnic").crc_check.pipeline_cycles, 9u);
}

TEST(ConfigError, UnknownKeyNamesTheNearestOne) {
  EXPECT_EQ(error_in(file(R"({"rnic": {"crc_chek": {"pipeline_cycle": 6}}})")),
            "rnic.crc_chek.pipeline_cycle (a.json): unknown setting; the nearest is rnic.crc_check.pipeline_cycles");
  EXPECT_EQ(error_in(command_line({"sed=1"})), "sed (command line): unknown setting; the nearest is seed");
  EXPECT_EQ(error_in(command_line({"seed.low=1"})), "seed.low (command line): unknown setting; the nearest is seed");
  EXPECT_EQ(error_of([] {
              resolve<RnicConfig>(command_line({"rnic.depth=4", "rnicx=1"}), "rnic");
            }),
            "rnic.depth (command line): unknown setting; the nearest is rnic.queue_depth");
}

TEST(ConfigError, GroupIsNotAValue) {
  EXPECT_EQ(error_in(file(R"({"rnic": 7})")), "rnic = 7 (a.json): is a group of settings, not a value");
  EXPECT_EQ(error_of([] { resolve<RnicConfig>(file(R"({"rnic": 7})"), "rnic"); }),
            "rnic = 7 (a.json): is a group of settings, not a value");
}

TEST(ConfigError, ValueOutOfRangeNamesPathValueOriginAndRange) {
  EXPECT_EQ(error_in(command_line({"rnic.crc_check.pipeline_cycles=65"})),
            "rnic.crc_check.pipeline_cycles = 65 (command line): must be 1 to 64 cycles");
  EXPECT_EQ(error_in(file(R"({"rnic": {"crc_check": {"pipeline_cycles": 0}}})")),
            "rnic.crc_check.pipeline_cycles = 0 (a.json): must be 1 to 64 cycles");
  EXPECT_EQ(error_in(file(R"({"loss": 1.5})")), "loss = 1.5 (a.json): must be 0 to 1");
  EXPECT_EQ(error_in(file(R"({"rnic": {"queue_depth": 48}})")),
            "rnic.queue_depth = 48 (a.json): must be a power of two");
  EXPECT_EQ(error_in(file(R"({"rnic": {"queue_depth": 65600}})")),
            "rnic.queue_depth = 65600 (a.json): must not exceed 65535");
  EXPECT_EQ(error_in(command_line({"rnic.personality=roce"})),
            "rnic.personality = roce (command line): expected one of rdmac, ietf");
  EXPECT_EQ(error_in(command_line({"rnic.scheduler="})),
            "rnic.scheduler =  (command line): expected one of round-robin, strict");
}

TEST(ConfigError, ValueOfTheWrongTypeIsRefused) {
  EXPECT_EQ(error_in(file(R"({"seed": -1})")), "seed = -1 (a.json): expected an unsigned integer");
  EXPECT_EQ(error_in(file(R"({"seed": 1.0})")), "seed = 1.0 (a.json): expected an unsigned integer");
  EXPECT_EQ(error_in(file(R"({"seed": "1"})")), "seed = \"1\" (a.json): expected an unsigned integer");
  EXPECT_EQ(error_in(file(R"({"seed": [1]})")), "seed = [1] (a.json): expected an unsigned integer");
  EXPECT_EQ(error_in(command_line({"seed=1 "})), "seed = 1  (command line): expected an unsigned integer");
  EXPECT_EQ(error_in(command_line({"seed="})), "seed =  (command line): expected an unsigned integer");
  EXPECT_EQ(error_in(command_line({"seed=18446744073709551616"})),
            "seed = 18446744073709551616 (command line): expected an unsigned integer");
  EXPECT_EQ(error_in(command_line({"loss=nan"})), "loss = nan (command line): expected a number");
  EXPECT_EQ(error_in(file(R"({"title": 4})")), "title = 4 (a.json): expected a string");
  EXPECT_EQ(error_in(file(R"({"rnic": {"crc_check": {"enabled": 1}}})")),
            "rnic.crc_check.enabled = 1 (a.json): expected true or false");
  EXPECT_EQ(error_in(command_line({"rnic.crc_check.enabled=yes"})),
            "rnic.crc_check.enabled = yes (command line): expected true or false");
}

TEST(ConfigError, NodeMayOnlyOverrideItsOwnGroup) {
  EXPECT_EQ(error_of([] { file(R"({"rnic": {"queue_depth": 32}})").require_within("rnic"); }), "no error");
  EXPECT_EQ(error_of([] { file(R"({"rnic": {"queue_depth": 32}, "seed": 3})").require_within("rnic"); }),
            "seed (a.json): only settings of 'rnic' may be given here");
}

TEST(ConfigError, MalformedInputIsRefused) {
  EXPECT_EQ(error_of([] { Overlay{}.set("seed"); }), "--set seed: expected key=value");
  EXPECT_EQ(error_of([] { Overlay{}.set("=3"); }), "--set =3: expected key=value");
  EXPECT_EQ(error_of([] { file("[1]"); }), "a.json: configuration must be an object, not array");
  EXPECT_EQ(error_of([] { read_json_file("/no/such.json"); }), "/no/such.json: cannot be read");
  const std::string bad = ::testing::TempDir() + "bad.json";
  std::ofstream(bad) << "{\n  \"seed\": 1,\n}\n";
  EXPECT_THAT(error_of([&] { read_json_file(bad); }),
              ::testing::StartsWith(bad + ": parse error at line 3, column 1: "));
  std::ofstream(bad) << R"({"seed": 7e70771})";
  EXPECT_EQ(error_of([&] { read_json_file(bad); }), bad + ": number overflow parsing '7e70771'");
  std::remove(bad.c_str());
}

// A null octet would end a message, perhaps at its very beginning.
TEST(ConfigError, KeysWithControlCharactersAreRefused) {
  EXPECT_EQ(error_of([] { file(R"({"\u0000": 1})"); }), R"(a.json: a key with control characters: "\u0000")");
  EXPECT_EQ(error_of([] { file(R"({"rnic": {"a\nb": 1}})"); }), R"(a.json: a key with control characters: "a\nb")");
  EXPECT_EQ(error_of([] { Overlay{}.set("a\tb=1"); }), R"(--set: a key with control characters: "a\tb")");
}

struct WrongDefault {
  unsigned n = 0;
  template <class V>
  static void fields(V& v) {
    v("n", &WrongDefault::n, "never in its range", in_range(1, 2));
  }
};

TEST(Config, DefaultOutsideItsOwnRangeIsOurBug) {
  EXPECT_THROW(resolve<WrongDefault>(Overlay{}), InternalError);
  EXPECT_EQ(resolve<WrongDefault>(command_line({"n=2"})).n, 2u);
}

TEST(EditDistance, CountsInsertionsDeletionsAndSubstitutions) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("crc_chek", "crc_check"), 1u);
  EXPECT_EQ(nearest("b", {"a", "c"}), "a");
}

}  // namespace
}  // namespace rnic::sample

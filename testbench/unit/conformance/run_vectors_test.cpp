#include "model/conformance/run_vectors.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <unistd.h>

#include "model/conformance/bench_predictors.h"

namespace rnic::conformance {
namespace {

using testing::HasSubstr;
using testing::Not;

class RunVectorsTest : public testing::Test {
 protected:
  RunVectorsTest() : dir(std::filesystem::temp_directory_path() / ("rnic_vectors_" + std::to_string(getpid()))) {
    std::filesystem::create_directory(dir);
  }
  ~RunVectorsTest() override { std::filesystem::remove_all(dir); }

  void file(const std::string& name, const std::string& text) { std::ofstream(dir / name) << text; }
  int run() {
    std::ostringstream o;
    const int status = run_vectors(dir.string(), o, vector_kinds(&stages));
    out = o.str();
    return status;
  }
  const BenchPredictors stages;
  const std::filesystem::path dir;
  std::string out;
};

const char* const kGoodCrc =
    R"({"name": "check", "data_hex": "313233343536373839", "crc": "0xe3069283", "wire_hex": "839206e3"})";

TEST_F(RunVectorsTest, PassingVectorsAreCountedPerKindAndInTotal) {
  file("a.json", std::string(R"({"kind": "crc32c", "vectors": [)") + kGoodCrc + "]}");
  file("b.json", R"({"kind": "mulpdu", "vectors": [{"name": "x", "emss": 1460, "plain": 1454, "markers": 1442},
                                                    {"name": "y", "emss": 1448, "plain": 1442, "markers": 1430}]})");
  file("ignored.txt", "not JSON");
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(out, HasSubstr("crc32c: 1 passed, 0 failed\n"));
  EXPECT_THAT(out, HasSubstr("mulpdu: 2 passed, 0 failed\n"));
  EXPECT_THAT(out, HasSubstr("total: 3 passed, 0 failed\n"));
}

TEST_F(RunVectorsTest, AWrongExpectationFailsAndIsNamedWithBothValues) {
  file("a.json",
       R"({"kind": "mulpdu", "vectors": [{"name": "odd one", "emss": 1460, "plain": 1455, "markers": 1442}]})");
  EXPECT_EQ(run(), 1);
  EXPECT_THAT(out, HasSubstr("FAILED mulpdu/odd one: plain: expected 1455, got 1454\n"));
  EXPECT_THAT(out, HasSubstr("total: 0 passed, 1 failed\n"));
}

TEST_F(RunVectorsTest, AMalformedVectorIsAFailureThatNamesItAndTheRestRuns) {
  file("a.json", std::string(R"({"kind": "crc32c", "vectors": [
      {"name": "no data", "crc": 0, "wire_hex": ""}, {"name": "bad hex", "data_hex": "3g", "crc": 0, "wire_hex": ""},
      {"name": "half an octet", "data_hex": "333", "crc": 0, "wire_hex": ""}, {"name": "wide", "data_hex": "",
       "crc": "0x100000000", "wire_hex": ""}, 7, )") +
                     kGoodCrc + "]}");
  EXPECT_EQ(run(), 1);
  EXPECT_THAT(out, HasSubstr("FAILED crc32c/no data: cannot be run"));
  EXPECT_THAT(out, HasSubstr("FAILED crc32c/bad hex: cannot be run: data_hex"));
  EXPECT_THAT(out, HasSubstr("FAILED crc32c/half an octet: cannot be run: data_hex"));
  EXPECT_THAT(out, HasSubstr("FAILED crc32c/wide: cannot be run: crc does not fit"));
  EXPECT_THAT(out, HasSubstr("FAILED crc32c/#4: cannot be run"));
  EXPECT_THAT(out, HasSubstr("crc32c: 1 passed, 5 failed\n"));
}

// One good vector of each kind; unknown fields are refused at every depth.
TEST_F(RunVectorsTest, NoKindIgnoresAFieldThatItDoesNotKnow) {
  struct Case {
    const char *kind, *vector, *unknown, *nearest;
  };
  const Case cases[] = {
      {"crc32c", R"({"name": "n", "last": 1, "data_hex": "", "crc": 0, "wire_hex": "00000000"})", "last", "name"},
      {"mulpdu", R"({"name": "n", "emss": 1460, "plain": 1454, "markers": 1442, "marker": 1})", "marker", "markers"},
      {"fetch_add", R"({"name": "n", "original": 1, "add": 1, "mask": 0, "result": 2, "returned": 1, "masks": 1})",
       "masks", "mask"},
      {"cmp_swap",
       R"({"name": "n", "original": 1, "compare": 1, "compare_mask": 1, "swap": 1, "swap_mask": 1, "match": 1,
                       "result": 1, "returned": 1, "matches": 0})",
       "matches", "match"},
      {"fpdu", R"({"name": "n", "ulpdu_hex": "deadbeef", "marker_pos": null, "crc": 1, "ulpdu_length": 4, "pad": 2,
                   "fpdu_hex": "0004deadbeef00004ad5c925", "markers": [], "received_hex": "0004deadbeef00004ad5c925",
                   "expect": "ok", "expects": "crc_error"})",
       "expects", "expect"},
      {"fpdu", R"({"name": "n", "markers": [{"offset": 8}, {"ofset": 8}]})", "markers[1].ofset", "markers[1].offset"},
      {"marker_stream", R"({"name": "n", "fpdus": [{"octet": 1}]})", "fpdus[0].octet", "fpdus[0].octets"},
      {"mpa_frame", R"({"name": "n", "encode": {"enhanced": {"irda": 1}}})", "encode.enhanced.irda",
       "encode.enhanced.ird"},
      {"enhanced_nego", R"({"name": "n", "initiator": {"max_ord": 1}})", "initiator.max_ord", "initiator.max_ird"},
      {"rnic_interop", R"({"name": "n", "result": {"close_by": "initiator"}})", "result.close_by", "result.closed_by"},
      {"messages", R"({"name": "n", "fields": {"stags": 305419896, "to": 4096, "payload_hex": "deadbeef"},
                       "ulpdu_hex": "c140123456780000000000001000deadbeef"})",
       "fields.stags", "fields.stag"},
      {"messages", R"({"name": "n", "field": {}, "fields": {}, "ulpdu_hex": ""})", "field", "fields"},
  };
  for (const Case& c : cases) {
    file("a.json", std::string(R"({"kind": ")") + c.kind + R"(", "vectors": [)" + c.vector + "]}");
    EXPECT_EQ(run(), 1) << c.kind;
    EXPECT_THAT(out, HasSubstr(std::string("FAILED ") + c.kind + "/n: cannot be run: unknown field " + c.unknown +
                               "; the nearest is " + c.nearest + " (" + (dir / "a.json").string() + ")\n"));
  }
}

TEST_F(RunVectorsTest, AFileWithAnUnknownFieldIsNotRead) {
  file("a.json", std::string(R"({"kind": "crc32c", "skip": 1, "vectors": [)") + kGoodCrc + "]}");
  EXPECT_EQ(run(), 2);
  EXPECT_THAT(out, HasSubstr("a.json: unknown field skip; the nearest is "));
}

TEST_F(RunVectorsTest, AKindWithoutAHandlerNeverPasses) {
  file("a.json", R"({"kind": "telepathy", "vectors": [{"name": "x"}]})");
  EXPECT_EQ(run(), 2) << "nothing was run";
  EXPECT_THAT(out, HasSubstr("telepathy: not implemented, 1 vectors not run\n"));
  file("b.json", std::string(R"({"kind": "crc32c", "vectors": [)") + kGoodCrc + "]}");
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(out, HasSubstr("total: 1 passed, 0 failed, 1 not run\n"));
}

TEST_F(RunVectorsTest, WhatCannotBeReadIsStatus2) {
  std::ostringstream o;
  EXPECT_EQ(run_vectors("/nonexistent", o, vector_kinds()), 2);
  EXPECT_EQ(run(), 2) << "an empty directory";
  file("good.json", std::string(R"({"kind": "crc32c", "vectors": [)") + kGoodCrc + "]}");
  for (const char* text :
       {"", "[", "[]", "{}", R"({"kind": 1, "vectors": []})", R"({"kind": "crc32c", "vectors": {}})"}) {
    file("bad.json", text);
    EXPECT_EQ(run(), 2) << text;
    EXPECT_THAT(out, HasSubstr("bad.json"));
    EXPECT_THAT(out, HasSubstr("crc32c: 1 passed, 0 failed\n")) << "the others still run";
  }
}

TEST_F(RunVectorsTest, StartupFramesBothWays) {
  file("a.json", R"({"kind": "mpa_frame", "vectors": [
    {"name": "good", "frame": "req", "receiver_max_rev": 2, "hex": "4d504120494420526571204672616d65500200098010c02068656c6c6f",
     "decoded": {"ok": true, "m": 0, "c": 1, "r": 0, "s": 1, "rev": 2, "pd_length": 9, "private_hex": "68656c6c6f",
                 "enhanced": {"a": 1, "b": 0, "ird": 16, "c": 1, "d": 1, "ord": 32}},
     "encode": {"m": 0, "c": 1, "r": 0, "s": 1, "rev": 2, "enhanced": {"a": 1, "b": 0, "c": 1, "d": 1, "ird": 16, "ord": 32},
                "private_hex": "68656c6c6f"}},
    {"name": "wrong encoding", "frame": "req", "receiver_max_rev": 2, "hex": "4d504120494420526571204672616d6540010000",
     "decoded": {"ok": true, "m": 0, "c": 1, "r": 0, "s": 0, "rev": 1, "pd_length": 0, "enhanced": null, "private_hex": ""},
     "encode": {"m": 1, "c": 1, "r": 0, "s": 0, "rev": 1, "enhanced": null, "private_hex": ""}},
    {"name": "wrong error", "frame": "rep", "receiver_max_rev": 2, "hex": "4d504120494420526571204672616d6540010000",
     "decoded": {"ok": false, "error": "bad_rev"}, "encode": null}]})");
  EXPECT_EQ(run(), 1);
  EXPECT_THAT(out, HasSubstr("mpa_frame: 1 passed, 2 failed\n"));
  EXPECT_THAT(out, HasSubstr("FAILED mpa_frame/wrong encoding: encoded:"));
  EXPECT_THAT(out, HasSubstr("FAILED mpa_frame/wrong error: decoded:"));
  EXPECT_THAT(out, HasSubstr("bad_key"));
}

TEST_F(RunVectorsTest, MessagesBothWays) {
  file("a.json", R"({"kind": "messages", "vectors": [
    {"name": "send se inv", "fields": {"msn": 4, "inval_stag": 3405643778, "payload_hex": ""},
     "ulpdu_hex": "4146cafe0002000000000000000400000000", "ulpdu_length": 18},
    {"name": "terminate", "fields": {"layer": 1, "etype": 1, "code": 0, "m": 1, "d": 1, "r": 0, "segment_length": 18},
     "ulpdu_hex": "4147000000000000000200000001000000001100c0000012c140000000990000000000000010", "ulpdu_length": 38},
    {"name": "wrong stag", "fields": {"stag": 1, "to": 4096, "payload_hex": "deadbeef"},
     "ulpdu_hex": "c140123456780000000000001000deadbeef", "ulpdu_length": 18},
    {"name": "reserved bit", "fields": {"stag": 305419896, "to": 4096, "payload_hex": "deadbeef"},
     "ulpdu_hex": "c550123456780000000000001000deadbeef", "ulpdu_length": 18},
    {"name": "strange field", "fields": {"stag": 305419896, "to": 4096, "payload_hex": "deadbeef", "colour": 1},
     "ulpdu_hex": "c140123456780000000000001000deadbeef", "ulpdu_length": 18},
    {"name": "unassigned", "fields": {}, "ulpdu_hex": "c14c123456780000000000001000deadbeef"}]})");
  EXPECT_EQ(run(), 1);
  EXPECT_THAT(out, HasSubstr("messages: 2 passed, 4 failed\n")) << out;
  EXPECT_THAT(out, HasSubstr("FAILED messages/wrong stag: ulpdu_hex:"));
  EXPECT_THAT(out, HasSubstr("FAILED messages/wrong stag: decoded stag: expected 1, got 305419896"));
  EXPECT_THAT(out, HasSubstr("FAILED messages/reserved bit: ulpdu_hex:"));
  EXPECT_THAT(out, HasSubstr("FAILED messages/strange field: cannot be run: unknown field fields.colour"));
  EXPECT_THAT(out, HasSubstr("FAILED messages/unassigned: cannot be run"));
}

}  // namespace
}  // namespace rnic::conformance

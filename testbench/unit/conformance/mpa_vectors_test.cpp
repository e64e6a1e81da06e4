#include "model/conformance/mpa_vectors.h"

#include <gmock/gmock.h>

#include "model/conformance/bench_predictors.h"

namespace rnic::conformance {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

class MpaVectorsTest : public testing::Test {
 protected:
  BenchPredictors stages;
  MpaChain chain{stages};

  static std::vector<std::string> fields(const Outcome& outcome) {
    std::vector<std::string> names;
    for (const Outcome::Difference& d : outcome.differences) names.push_back(d.field);
    return names;
  }
  std::vector<std::string> fpdu(const json& vector) { return fields(check_fpdu(chain, vector)); }
  std::vector<std::string> stream(const json& vector) { return fields(check_marker_stream(chain, vector)); }
  // The vector with one value changed.
  static json with(json vector, const char* pointer, const json& value) {
    vector[json::json_pointer(pointer)] = value;
    return vector;
  }
};

const json kPlain = json::parse(R"({"ulpdu_hex": "deadbeef", "marker_pos": null, "crc": 1, "ulpdu_length": 4, "pad": 2,
    "fpdu_hex": "0004deadbeef00004ad5c925", "markers": [], "received_hex": "0004deadbeef00004ad5c925", "expect": "ok"})");
const json kMarked = json::parse(R"({"ulpdu_hex": "deadbeef", "marker_pos": 504, "crc": 1, "ulpdu_length": 4, "pad": 2,
    "fpdu_hex": "0004deadbeef0000000000080c4d6ab8", "markers": [{"offset": 8, "fpduptr": 8}],
    "received_hex": "0004deadbeef0000000000080c4d6ab8", "expect": "ok"})");
// RFC 5044 figure 6.
const json kStream = json::parse(R"({"seq_start": "0xffffffff", "pos": 492, "crc": 1,
    "ulpdus_hex": ["414300000000000000000000000200000000000000000000000000000000000000000000000000000000"],
    "stream_hex": "002a41430000000000000000000000020000000000000014000000000000000000000000000000000000000000000000)"
                                 R"(84925898",
    "markers": [{"offset": 20, "pos": 512, "seq": 511, "fpduptr": 20}],
    "fpdus": [{"offset": 0, "header_offset": 0, "octets": 52, "ulpdu_len": 42, "pad": 0, "crc_wire_hex": "84925898"}]})");

TEST_F(MpaVectorsTest, GoodVectorsPassOneAfterTheOther) {
  EXPECT_THAT(fpdu(kPlain), IsEmpty());
  EXPECT_THAT(fpdu(kMarked), IsEmpty());
  EXPECT_THAT(stream(kStream), IsEmpty());
  EXPECT_THAT(fpdu(kPlain), IsEmpty());
  EXPECT_THAT(stream(kStream), IsEmpty());
}

TEST_F(MpaVectorsTest, EveryFieldOfAnFpduIsCompared) {
  EXPECT_THAT(fpdu(with(kPlain, "/fpdu_hex", "0004deadbeef00004ad5c924")), ElementsAre("fpdu_hex"));
  EXPECT_THAT(fpdu(with(kPlain, "/ulpdu_length", 5)), ElementsAre("ulpdu_length"));
  EXPECT_THAT(fpdu(with(kPlain, "/pad", 1)), ElementsAre("pad"));
  EXPECT_THAT(fpdu(with(kPlain, "/expect", "crc_error")), ElementsAre("expect"));
  EXPECT_THAT(fpdu(with(kPlain, "/markers", {{{"offset", 0}, {"fpduptr", 0}}})), ElementsAre("markers in number"));
  EXPECT_THAT(fpdu(with(kMarked, "/markers/0/offset", 4)), ElementsAre("markers[0].offset"));
  EXPECT_THAT(fpdu(with(kMarked, "/markers/0/fpduptr", 4)), ElementsAre("markers[0].fpduptr"));
}

TEST_F(MpaVectorsTest, WhatIsReceivedIsJudgedByTheStages) {
  EXPECT_THAT(fpdu(with(with(kPlain, "/received_hex", "0004deadbeef00014ad5c925"), "/expect", "crc_error")), IsEmpty());
  EXPECT_THAT(fpdu(with(with(kPlain, "/received_hex", "0004deadbeef00004ad5c9"), "/expect", "incomplete")), IsEmpty());
  EXPECT_THAT(fpdu(with(kPlain, "/received_hex", "000155009717dc70")), ElementsAre("received ULPDU"));
  const json no_crc = with(with(kMarked, "/crc", 0), "/fpdu_hex", "0004deadbeef00000000000800000000");
  EXPECT_THAT(fpdu(no_crc), IsEmpty()) << "the field is not looked at";
  EXPECT_THAT(fpdu(with(no_crc, "/fpdu_hex", "0004deadbeef000000000008ffffffff")), IsEmpty()) << "and may be anything";
  EXPECT_THAT(fpdu(with(with(no_crc, "/received_hex", "0004deadbeef00000000000c00000000"), "/expect", "marker_error")),
              IsEmpty());
}

TEST_F(MpaVectorsTest, EveryFieldOfAStreamIsCompared) {
  for (const char* field : {"offset", "pos", "seq", "fpduptr"}) {
    EXPECT_THAT(stream(with(kStream, (std::string("/markers/0/") + field).c_str(), 1)),
                ElementsAre(std::string("markers[0].") + field));
  }
  for (const char* field : {"offset", "header_offset", "octets", "ulpdu_len", "pad"}) {
    EXPECT_THAT(stream(with(kStream, (std::string("/fpdus/0/") + field).c_str(), 7)),
                ElementsAre(std::string("fpdus[0].") + field));
  }
  EXPECT_THAT(stream(with(kStream, "/fpdus/0/crc_wire_hex", "84925899")), ElementsAre("fpdus[0].crc_wire_hex"));
  EXPECT_THAT(stream(with(kStream, "/fpdus", json::array())), ElementsAre("fpdus in number"));
  std::string damaged = kStream["stream_hex"];
  damaged.back() = '9';
  EXPECT_THAT(stream(with(kStream, "/stream_hex", damaged)),
              ElementsAre("stream_hex", "received FPDU", "fpdus[0].crc_wire_hex"));
}

TEST_F(MpaVectorsTest, WhatNoStreamCanBeIsRefused) {
  EXPECT_THROW(stream(with(kStream, "/pos", 493)), std::invalid_argument);
  EXPECT_THROW(stream(with(kStream, "/fpdus/0/colour", 1)), std::exception);
  EXPECT_THROW(fpdu(with(kPlain, "/ulpdu_hex", std::string(2 * 65536, '0'))), std::length_error);
  EXPECT_THROW(fpdu(json::object()), json::exception);
}

}  // namespace
}  // namespace rnic::conformance

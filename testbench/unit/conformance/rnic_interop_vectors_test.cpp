// The check of `rnic_interop` vectors finds the errors in one, field by field.
#include <gmock/gmock.h>

#include "model/conformance/vector_kinds.h"

namespace rnic::conformance {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

const json kConnects = json::parse(R"({
  "initiator": {"type": "perm", "m": 0, "c": 0}, "responder": {"type": "rdmac", "m": 1, "c": 1},
  "request": {"rev": 1, "m": 0, "c": 0}, "request_hex": "4d504120494420526571204672616d6500010000",
  "reply": {"rev": 0, "m": 1, "c": 1}, "reply_hex": "4d504120494420526570204672616d65c0000000",
  "result": {"outcome": "connect", "version": 0, "markers_to_initiator": 1, "markers_to_responder": 1, "crc": 1}})");
const json kCloses = json::parse(R"({
  "initiator": {"type": "rdmac", "m": 1, "c": 1}, "responder": {"type": "nonperm", "m": 0, "c": 1},
  "request": {"rev": 0, "m": 1, "c": 1}, "request_hex": "4d504120494420526571204672616d65c0000000",
  "reply": {"rev": 1, "m": 0, "c": 1}, "reply_hex": "4d504120494420526570204672616d6540010000",
  "result": {"outcome": "close", "closed_by": "responder"}})");

std::vector<std::string> differing(const json& vector) {
  std::vector<std::string> fields;
  for (const Outcome::Difference& d : check_rnic_interop(vector).differences) fields.push_back(d.field);
  return fields;
}

TEST(RnicInteropVectors, AgreesWithItself) {
  EXPECT_THAT(differing(kConnects), IsEmpty());
  EXPECT_THAT(differing(kCloses), IsEmpty());
}

TEST(RnicInteropVectors, EveryExpectedValueIsCompared) {
  for (const json& vector : {kConnects, kCloses}) {
    for (const char* group : {"request", "reply", "result"}) {
      for (const auto& [key, value] : vector[group].items()) {
        json wrong = vector;
        wrong[group][key] = value.is_string() ? json(value.get<std::string>() + "x") : json(value.get<int>() + 1);
        EXPECT_THAT(differing(wrong), ElementsAre(group)) << key;
      }
    }
    for (const char* octets : {"request_hex", "reply_hex"}) {
      json wrong = vector;
      wrong[octets] = vector[octets].get<std::string>() + "00";
      EXPECT_THAT(differing(wrong), ElementsAre(octets));
    }
  }
}

TEST(RnicInteropVectors, WhoClosesIsWhoCannotWorkWithTheOther) {
  json other = kCloses;
  other["initiator"] = kCloses["responder"];
  other["responder"] = kCloses["initiator"];
  EXPECT_THAT(check_rnic_interop(other).differences.back().got, testing::HasSubstr("initiator"));
}

TEST(RnicInteropVectors, AnUnknownTypeCannotBeRun) {
  json strange = kCloses;
  strange["initiator"]["type"] = "quantum";
  EXPECT_THROW(check_rnic_interop(strange), std::invalid_argument);
}

}  // namespace
}  // namespace rnic::conformance

// The check of `enhanced_nego` vectors finds the errors in one, field by field.
#include <gmock/gmock.h>

#include "model/conformance/vector_kinds.h"

namespace rnic::conformance {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const json kPeerToPeer = json::parse(R"({
  "initiator": {"enhanced": 1, "p2p": 1, "ird": 16, "ord": 20, "max_ird": 32, "auto_ird": 1, "auto_ord": 1,
                "rtr": "BCD", "rtr_pref": "CDB", "fallback": 0},
  "responder": {"enhanced": 1, "ird": 4, "max_ird": 32, "ord": 8, "need_ord": 0, "reject_small_ird": 0, "rtr": "CD"},
  "request": {"rev": 2, "s": 1, "a": 1, "ird": 16, "ord": 20, "b": 1, "c": 1, "d": 1},
  "reply": {"action": "reply", "rev": 2, "s": 1, "r": 0, "a": 1, "b": 0, "c": 1, "d": 1, "ird": 20, "ord": 8},
  "reply_forced": 0, "responder_final": {"ird": 20, "ord": 8, "error": null},
  "result": {"outcome": "established", "ird": 16, "ord": 20, "rtr": "C", "peer_ird": 20, "peer_ord": 8}})");

std::vector<std::string> differing(const json& vector) {
  std::vector<std::string> fields;
  for (const Outcome::Difference& d : check_enhanced_nego(vector).differences) fields.push_back(d.field);
  return fields;
}
json with(json vector, const char* pointer, const json& value) {
  vector[json::json_pointer(pointer)] = value;
  return vector;
}

TEST(EnhancedNegoVectors, AgreesWithItself) { EXPECT_THAT(differing(kPeerToPeer), IsEmpty()); }

TEST(EnhancedNegoVectors, EveryExpectedValueIsCompared) {
  for (const char* group : {"request", "reply", "responder_final", "result"}) {
    for (const auto& [key, value] : kPeerToPeer[group].items()) {
      json wrong = value.is_string() ? json(value.get<std::string>() + "x") : value.is_null() ? json(1) : json(value);
      if (value.is_number()) wrong = value.get<int>() + 1;
      const std::string field = std::string(group) + "." + key;
      EXPECT_THAT(differing(with(kPeerToPeer, ("/" + std::string(group) + "/" + key).c_str(), wrong)), Contains(field));
    }
  }
}

TEST(EnhancedNegoVectors, ThePoliciesReachTheFirmware) {
  EXPECT_THAT(differing(with(kPeerToPeer, "/initiator/rtr_pref", "DCB")), ElementsAre("result.rtr"));
  EXPECT_THAT(differing(with(kPeerToPeer, "/initiator/auto_ird", 0)), Contains("request.ird"));
  EXPECT_THAT(differing(with(kPeerToPeer, "/initiator/auto_ord", 0)), Contains("request.ord"));
  EXPECT_THAT(differing(with(kPeerToPeer, "/responder/max_ird", 10)), Contains("reply.ird"));
  EXPECT_THAT(differing(with(kPeerToPeer, "/responder/enhanced", 0)), Contains("reply.action"));
  json needs = with(kPeerToPeer, "/responder/need_ord", 17);
  EXPECT_THAT(differing(needs), IsEmpty());
  needs = with(needs, "/responder/reject_small_ird", 1);
  EXPECT_THAT(differing(needs), Contains("reply.r"));
}

TEST(EnhancedNegoVectors, AnUnknownRtrKindIsUnreadable) {
  EXPECT_THROW(check_enhanced_nego(with(kPeerToPeer, "/initiator/rtr", "X")), std::invalid_argument);
  EXPECT_THROW(check_enhanced_nego(with(kPeerToPeer, "/initiator/rtr_pref", "BCDB")), std::invalid_argument);
}

// The Terminate goes out on the stream, and the host is informed of the same.
TEST(EnhancedNegoVectors, AGivenReply) {
  json vector = with(kPeerToPeer, "/reply_forced", 1);
  vector = with(vector, "/reply/ord", 33);
  vector["result"] = {{"outcome", "terminate"}, {"error", {2, 0, 6}}, {"peer_ird", 20}, {"peer_ord", 33}};
  EXPECT_THAT(differing(vector), IsEmpty());
  EXPECT_THAT(differing(with(vector, "/result/error", {2, 0, 7})), ElementsAre("result.error"));
}

TEST(MpaFrameVectors, TheFirmwareIsAskedToo) {
  const json request = json::parse(R"({"frame": "req", "receiver_max_rev": 2, "encode": null,
      "hex": "4d504120494420526571204672616d65500200098010c02068656c6c6f",
      "decoded": {"ok": true, "m": 0, "c": 1, "r": 0, "s": 1, "rev": 2, "pd_length": 9,
                  "enhanced": {"a": 1, "b": 0, "ird": 16, "c": 1, "d": 1, "ord": 32}, "private_hex": "68656c6c6f"}})");
  const auto fields = [](const json& vector) {
    std::vector<std::string> names;
    for (const Outcome::Difference& d : check_mpa_frame(vector).differences) names.push_back(d.field);
    return names;
  };
  EXPECT_THAT(fields(request), IsEmpty());
  EXPECT_THAT(fields(with(request, "/decoded/private_hex", "68656c6c")),
              ElementsAre("decoded", "reported to the host: private_hex"));
  EXPECT_THAT(fields(with(request, "/decoded/enhanced/ord", 31)),
              ElementsAre("decoded", "reported to the host: enhanced"));
  EXPECT_THAT(fields(with(request, "/receiver_max_rev", 1)), Contains("request reported to the host"));
}

}  // namespace
}  // namespace rnic::conformance

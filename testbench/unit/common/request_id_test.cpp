#include "model/common/request_id.h"

#include <gtest/gtest.h>

namespace rnic {
namespace {

using Kind = RequestId::Kind;
const std::vector<std::string> kNodes = {"a", "b"};

TEST(RequestId, IsItsPartsAndNeverNone) {
  const RequestId id(2, Kind::kReceive, 65536, 3, 17);
  EXPECT_EQ(id.node(), 2u);
  EXPECT_EQ(id.kind(), Kind::kReceive);
  EXPECT_EQ(id.queue(), 65536u);
  EXPECT_EQ(id.life(), 3u);
  EXPECT_EQ(id.sequence(), 17u);
  EXPECT_FALSE(RequestId());
  EXPECT_TRUE(RequestId(1, Kind::kSend, 0, 0, 0));
}

TEST(RequestId, PartsDoNotRunIntoEachOther) {
  const RequestId id(1, Kind::kSend, 1u << 17, 1u << 9, std::uint64_t{1} << 28);
  EXPECT_EQ(id, RequestId(1, Kind::kSend, 0, 0, 0));
}

TEST(RequestId, OfALowNodeIsOneNumber) {
  const RequestId id(63, Kind::kEvent, 131071, 511, 268435455);
  EXPECT_TRUE(id.packs());
  EXPECT_EQ(RequestId(id.packed()), id);
  EXPECT_EQ(RequestId(1, Kind::kSend, 0, 0, 5).packed(), (std::uint64_t{1} << 58) + 5);
}

TEST(RequestId, NodesGoTo65535) {
  const RequestId low(1, Kind::kSend, 3, 0, 17), high(65535, Kind::kSend, 3, 0, 17), next(64, Kind::kSend, 3, 0, 17);
  EXPECT_EQ(high.node(), 65535u);
  EXPECT_EQ(high.sequence(), 17u);
  EXPECT_FALSE(high.packs());
  EXPECT_FALSE(next.packs());
  EXPECT_NE(low, high);
  EXPECT_NE(next, high);
  EXPECT_TRUE(low < next);
  EXPECT_TRUE(next < high);
  EXPECT_EQ(high.text(kNodes), "65535.3.17");
}

TEST(RequestId, TextNamesNodeQueueAndPlace) {
  EXPECT_EQ(RequestId(1, Kind::kSend, 3, 0, 17).text(kNodes), "a.3.17");
  EXPECT_EQ(RequestId(2, Kind::kReceive, 3, 0, 0).text(kNodes), "b.rq3.0");
  EXPECT_EQ(RequestId(2, Kind::kFlow, 9, 2, 1).text(kNodes), "b.flow9#2.1");
  EXPECT_EQ(RequestId(3, Kind::kCommand, 0, 0, 5).text(kNodes), "3.cmd0.5");  // a node without a name
  EXPECT_EQ(RequestId(1, Kind::kContext, 0, 0, 77).text(kNodes), "a.ctx0.77");
  EXPECT_EQ(RequestId().text(kNodes), "");
}

TEST(RequestId, EveryKindReadsBackFromItsText) {
  for (unsigned kind = 0; kind < 10; ++kind) {
    for (const std::uint32_t life : {0u, 511u}) {
      const RequestId id(2, static_cast<Kind>(kind), 131071, life, 268435455);
      EXPECT_EQ(RequestId::parse(id.text(kNodes), kNodes), id) << id.text(kNodes);
    }
  }
}

TEST(RequestId, ParseRefusesWhatIsNoText) {
  for (const char* text : {"", "a", "a.", "a.3", "a.3.", "c.3.17", "a.3.17x", "a.x3.17", "a.3#.17", "a.131072.0",
                           "a.3#512.0", "a.3.268435456", " a.3.17", "a.-3.17"}) {
    EXPECT_FALSE(RequestId::parse(text, kNodes)) << text;
  }
}

}  // namespace
}  // namespace rnic

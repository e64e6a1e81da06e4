#include "model/wire/sctp.h"

#include <vector>

#include <gmock/gmock.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::wire {
namespace {

using testing::ElementsAre;

constexpr SctpHeader kHeader{41001, 41000, 0x11223344};
const Bytes kHeaderOctets = hex("a029a028 11223344 00000000");

// The writer's output in a packet with room for exactly this many octets.
template <class Fill>
Bytes written(std::size_t room, Fill fill) {
  Bytes out(room, 0xee);
  SctpWriter w(out, kHeader);
  fill(w);
  out.resize(w.finish());
  return out;
}

std::vector<Bytes> chunks(const Bytes& octets, bool malformed = false) {
  std::vector<Bytes> found;
  SctpChunks list{octets};
  while (const auto chunk = list.next()) found.push_back(to_bytes(chunk->whole));
  EXPECT_EQ(list.malformed(), malformed);
  return found;
}

TEST(Sctp, HeaderBothWays) {
  const Bytes octets = hex("a029a028 11223344 deadbeef");
  const auto header = SctpHeader::parse(octets);
  ASSERT_TRUE(header);
  EXPECT_EQ(header->src_port, 41001);
  EXPECT_EQ(header->dst_port, 41000);
  EXPECT_EQ(header->verification_tag, 0x11223344u);
  EXPECT_EQ(emitted(*header, SctpHeader::kBytes), kHeaderOctets);
  EXPECT_TRUE(emitted(*header, SctpHeader::kBytes - 1).empty());
  for (std::size_t n = 0; n < SctpHeader::kBytes; ++n) EXPECT_FALSE(SctpHeader::parse({octets.data(), n})) << n;
}

// RFC 9260 section 3.3.4: TSNs up to 12, 14, 15 and 17 have arrived.
TEST(Sctp, TheSackOfTheRfc) {
  const Bytes sack = hex("03000018 0000000c 00001234 00020000 00020003 00050005");
  EXPECT_EQ(written(36,
                    [](SctpWriter& w) {
                      w.begin(SctpChunkType::kSack);
                      w.put(SctpSack{12, 4660, 2, 0});
                      w.put(SctpGapBlock{2, 3});
                      w.put(SctpGapBlock{5, 5});
                    }),
            kHeaderOctets + sack);
  SctpChunks list{sack};
  const auto chunk = list.next();
  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->type, SctpChunkType::kSack);
  const auto view = SctpSackView::parse(chunk->value);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->header.cumulative_tsn, 12u);
  EXPECT_EQ(view->header.a_rwnd, 4660u);
  EXPECT_EQ(view->gap(0).start, 2);
  EXPECT_EQ(view->gap(0).end, 3);
  EXPECT_EQ(view->gap(1).start, 5);
  EXPECT_EQ(view->gap(1).end, 5);
  for (std::size_t n = 0; n < chunk->value.size(); ++n) {
    EXPECT_FALSE(SctpSackView::parse(chunk->value.subspan(0, n))) << n;
  }
}

TEST(Sctp, DuplicatesFollowTheGapBlocks) {
  const Bytes value = hex("ffffffff 00010000 00010002 00020004 fffffffe 00000003");
  const auto view = SctpSackView::parse(value);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->gap(0).end, 4);
  EXPECT_EQ(view->duplicate(0), 0xfffffffeu);
  EXPECT_EQ(view->duplicate(1), 3u);
}

// Counts that no chunk value can hold.
TEST(Sctp, TheLargestCountsOfASack) {
  const Bytes value = hex("00000000 00000000 ffffffff");
  EXPECT_FALSE(SctpSackView::parse(value));
}

TEST(Sctp, DataWithOddUserDataIsPaddedBehindItsLength) {
  const Bytes packet = written(64, [](SctpWriter& w) {
    w.begin(SctpChunkType::kData, SctpData::kUnordered | SctpData::kBegin | SctpData::kEnd);
    w.put(SctpData{0x3ea, 7, 0, 16});
    w.put(hex("0002 c140 55"));
  });
  EXPECT_EQ(packet, kHeaderOctets + hex("00070015 000003ea 00070000 00000010 0002c140 55000000"));
  SctpChunks list{ByteSpan(packet).subspan(SctpHeader::kBytes)};
  const auto chunk = list.next();
  ASSERT_TRUE(chunk);
  const auto data = SctpData::parse(chunk->value);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->tsn, 0x3eau);
  EXPECT_EQ(data->stream, 7);
  EXPECT_EQ(data->ppid, 16u);
  EXPECT_EQ(to_bytes(SctpData::user_data(chunk->value)), hex("0002 c140 55"));
  EXPECT_FALSE(list.next());
  EXPECT_FALSE(list.malformed());
}

TEST(Sctp, DataWithoutUserDataCanBeRead) {
  const Bytes value = hex("000003ea 00070000 00000010");
  EXPECT_TRUE(SctpData::parse(value));
  EXPECT_TRUE(SctpData::user_data(value).empty());
  for (std::size_t n = 0; n < SctpData::kBytes; ++n) EXPECT_FALSE(SctpData::parse({value.data(), n})) << n;
}

// The chunk's length includes the pad of all parameters but the last (section 3.2.1).
TEST(Sctp, ParametersOfAnInitAck) {
  const Bytes packet = written(64, [](SctpWriter& w) {
    w.begin(SctpChunkType::kInitAck);
    w.put(SctpInit{0x2b1c3d4e, 131072, 16, 10, 0xffffffff});
    w.item(static_cast<std::uint16_t>(SctpParameterType::kStateCookie), hex("01 02 03 04 05"));
    w.item(static_cast<std::uint16_t>(SctpParameterType::kUnrecognized), hex("c0000005 77"));
  });
  const Bytes chunk =
      hex("02000029 2b1c3d4e 00020000 0010000a ffffffff 00070009 01020304 05000000 00080009 c0000005 77");
  EXPECT_EQ(packet, kHeaderOctets + chunk + hex("000000"));

  SctpChunks list{chunk};
  const auto found = list.next();
  ASSERT_TRUE(found);
  const auto init = SctpInit::parse(found->value);
  ASSERT_TRUE(init);
  EXPECT_EQ(init->initiate_tag, 0x2b1c3d4eu);
  EXPECT_EQ(init->a_rwnd, 131072u);
  EXPECT_EQ(init->outbound_streams, 16);
  EXPECT_EQ(init->max_inbound_streams, 10);
  EXPECT_EQ(init->initial_tsn, 0xffffffffu);
  SctpItems items(SctpInit::parameters(found->value));
  std::vector<Bytes> values;
  while (const auto item = items.next()) values.push_back(to_bytes(item->value));
  EXPECT_THAT(values, ElementsAre(hex("01 02 03 04 05"), hex("c0000005 77")));
  EXPECT_FALSE(items.malformed());
}

TEST(Sctp, ChunksOneAfterTheOther) {
  EXPECT_THAT(chunks(hex("0b000004 0f000005 aa000000 08000004")),
              ElementsAre(hex("0b000004"), hex("0f000005 aa"), hex("08000004")));
  EXPECT_THAT(chunks({}), ElementsAre());
}

// The last pad may be missing, as nothing follows it.
TEST(Sctp, TheLastPadMayBeMissing) {
  EXPECT_THAT(chunks(hex("0b000004 0f000005 aa")), ElementsAre(hex("0b000004"), hex("0f000005 aa")));
}

TEST(Sctp, ABadLengthEndsThePacket) {
  EXPECT_THAT(chunks(hex("0b000004 00000003 0b000004"), true), ElementsAre(hex("0b000004")));
  EXPECT_THAT(chunks(hex("0b000004 00000000 0b000004"), true), ElementsAre(hex("0b000004")));
  EXPECT_THAT(chunks(hex("0b000004 00000009 0b000004"), true), ElementsAre(hex("0b000004")));
  EXPECT_THAT(chunks(hex("0b000004 0000ffff 0b000004"), true), ElementsAre(hex("0b000004")));
  EXPECT_THAT(chunks(hex("0b000004 000000"), true), ElementsAre(hex("0b000004")));
}

TEST(Sctp, OfAChunkThatIsCutThereIsTheBeginning) {
  const Bytes packet = hex("0b000004 00070010 000003e8 0000");
  SctpChunks list(packet);
  while (list.next()) {
  }
  ASSERT_TRUE(list.malformed());
  const auto cut = sctp_chunk_begun(list.malformed_octets());
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->type, SctpChunkType::kData);
  EXPECT_EQ(cut->flags, 7);
  EXPECT_EQ(to_bytes(cut->value), hex("000003e8 0000"));
  EXPECT_FALSE(sctp_chunk_begun(hex("000700")));
}

TEST(Sctp, NothingIsWrittenThatDoesNotFit) {
  const auto all = [](SctpWriter& w) {
    w.begin(SctpChunkType::kInit);
    w.put(SctpInit{1, 2, 3, 4, 5});
    w.item(static_cast<std::uint16_t>(SctpParameterType::kAdaptationIndication), hex("00000001 02"));
    w.begin(SctpChunkType::kSack);
    w.put(SctpSack{1, 2, 1, 0});
    w.put(SctpGapBlock{2, 2});
    w.begin(SctpChunkType::kShutdownComplete, SctpChunk::kTagReflected);
  };
  const std::size_t size = written(200, all).size();
  EXPECT_EQ(size, 12u + 32 + 20 + 4);
  for (std::size_t room = 0; room < size; ++room) EXPECT_TRUE(written(room, all).empty()) << room;
  EXPECT_EQ(written(size, all).size(), size);
}

TEST(Sctp, ALengthHas16Bits) {
  const auto cookie = [](std::size_t octets) {
    return [octets](SctpWriter& w) {
      w.begin(SctpChunkType::kCookieEcho);
      w.put(Bytes(octets));
    };
  };
  EXPECT_EQ(written(80000, cookie(0xffff - 4)).size(), 12u + 0x10000);
  EXPECT_TRUE(written(80000, cookie(0x10000 - 4)).empty());
  const auto parameter = [](std::size_t octets) {
    return [octets](SctpWriter& w) {
      w.begin(SctpChunkType::kHeartbeat);
      w.item(static_cast<std::uint16_t>(SctpParameterType::kHeartbeatInfo), Bytes(octets));
    };
  };
  EXPECT_FALSE(written(80000, parameter(0xffff - 8)).empty());
  EXPECT_TRUE(written(80000, parameter(0x10000 - 4)).empty());
}

TEST(Sctp, WhatAnUnknownTypeAsksFor) {
  EXPECT_TRUE(unknown_chunk_ends(0x3f) && !unknown_chunk_is_reported(0x3f));
  EXPECT_TRUE(unknown_chunk_ends(0x41) && unknown_chunk_is_reported(0x41));
  EXPECT_TRUE(!unknown_chunk_ends(0x81) && !unknown_chunk_is_reported(0x81));
  EXPECT_TRUE(!unknown_chunk_ends(0xc1) && unknown_chunk_is_reported(0xc1));
  EXPECT_TRUE(unknown_parameter_ends(0x3fff) && !unknown_parameter_is_reported(0x3fff));
  EXPECT_TRUE(unknown_parameter_ends(0x4001) && unknown_parameter_is_reported(0x4001));
  EXPECT_TRUE(!unknown_parameter_ends(0x8008) && !unknown_parameter_is_reported(0x8008));
  EXPECT_TRUE(!unknown_parameter_ends(0xc006) && unknown_parameter_is_reported(0xc006));
}

TEST(Sctp, SequenceNumbersOfStreamsWrap) {
  EXPECT_EQ(ssn_diff(0, 0xffff), 1);
  EXPECT_EQ(ssn_diff(0xffff, 0), -1);
  EXPECT_EQ(ssn_diff(0x7fff, 0), 0x7fff);
  EXPECT_EQ(ssn_diff(0x8000, 0), -0x8000);
}

}  // namespace
}  // namespace rnic::wire

#include "model/wire/tcp.h"

#include <gmock/gmock.h>

#include "testbench/unit/wire/hex.h"

namespace rnic::wire {
namespace {

TEST(TcpSequence, SerialArithmeticWrapsAround) {
  EXPECT_TRUE(seq_lt(0xfffffff0u, 0x10u));
  EXPECT_TRUE(seq_gt(0x10u, 0xfffffff0u));
  EXPECT_TRUE(seq_le(5, 5));
  EXPECT_TRUE(seq_ge(5, 5));
  EXPECT_FALSE(seq_lt(5, 5));
  EXPECT_EQ(seq_diff(0x10u, 0xfffffff0u), 0x20);
  EXPECT_EQ(seq_max(0xfffffff0u, 0x10u), 0x10u);
  EXPECT_EQ(seq_min(0xfffffff0u, 0x10u), 0xfffffff0u);
}

// Options in this emitter's order and padding.
const Bytes kSyn =
    hex("8CF8 1D2F 01020304 00000000 B002 FAF0 1234 0000"
        "020405B4 01030307 01010402 0101080A 000A0B0C 00000000");

TEST(Tcp, SynBothWays) {
  const Bytes wire = kSyn + hex("AA");
  const auto view = TcpView::parse(wire);
  ASSERT_TRUE(view);
  const TcpHeader& h = view->header;
  EXPECT_EQ(h.src_port, 0x8cf8);
  EXPECT_EQ(h.dst_port, 7471);
  EXPECT_EQ(h.seq, 0x01020304u);
  EXPECT_EQ(h.flags, TcpHeader::kSyn);
  EXPECT_EQ(h.window, 0xfaf0);
  EXPECT_EQ(h.checksum, 0x1234);
  EXPECT_EQ(h.options.mss, 1460);
  EXPECT_EQ(h.options.window_scale, 7);
  EXPECT_TRUE(h.options.sack_permitted);
  ASSERT_TRUE(h.options.timestamps);
  EXPECT_EQ(h.options.timestamps->value, 0x000a0b0cu);
  EXPECT_EQ(to_bytes(view->payload), hex("AA"));
  EXPECT_EQ(emitted(h, kSyn.size()), kSyn);
  EXPECT_TRUE(emitted(h, kSyn.size() - 1).empty());
}

TEST(Tcp, AckWithSackBlocksBothWays) {
  const Bytes wire =
      hex("1D2F 8CF8 00000001 00000002 F010 0100 0000 0000 0101080A 00000003 00000004"
          "0101051A 00000010 00000020 00000030 00000040 00000050 00000060");
  const auto view = TcpView::parse(wire);
  ASSERT_TRUE(view);
  ASSERT_EQ(view->header.options.sack_blocks, 3u);
  EXPECT_EQ(view->header.options.sack[2].left, 0x50u);
  EXPECT_EQ(view->header.options.sack[2].right, 0x60u);
  EXPECT_EQ(emitted(view->header, wire.size()), wire);
}

TEST(Tcp, OptionsThatDoNotFitAHeaderAreNotSent) {
  TcpHeader header;
  header.options.timestamps.emplace();
  header.options.sack_blocks = 4;
  EXPECT_TRUE(emitted(header, 100).empty());
}

TEST(Tcp, EveryTruncationIsRefused) {
  for (std::size_t n = 0; n < kSyn.size(); ++n) EXPECT_FALSE(TcpView::parse(ByteSpan(kSyn).subspan(0, n))) << n;
  EXPECT_FALSE(TcpView::parse(hex("8CF8 1D2F 01020304 00000000 4002 FAF0 1234 0000"))) << "data offset 16";
}

TEST(TcpOptions, UnknownAreSkippedImpossibleLengthsEndTheList) {
  EXPECT_EQ(TcpOptions::parse(hex("FD0412AB 020405B4")).mss, 1460);
  EXPECT_EQ(TcpOptions::parse(hex("00 020405B4")).mss, std::nullopt) << "after the end of list";
  EXPECT_EQ(TcpOptions::parse(hex("FD00 020405B4")).mss, std::nullopt) << "length 0";
  EXPECT_EQ(TcpOptions::parse(hex("FD01 020405B4")).mss, std::nullopt) << "length 1";
  EXPECT_EQ(TcpOptions::parse(hex("020505B400")).mss, std::nullopt) << "MSS of another length";
  const TcpOptions kept = TcpOptions::parse(hex("020405B4 080AFFFF"));
  EXPECT_EQ(kept.mss, 1460);
  EXPECT_FALSE(kept.timestamps) << "cut";
  EXPECT_EQ(TcpOptions::parse(hex("02")).mss, std::nullopt);
}

}  // namespace
}  // namespace rnic::wire

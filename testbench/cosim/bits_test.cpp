#include "rtl-stubs/verilated/bits.h"

#include <gmock/gmock.h>

#include "rtl-stubs/verilated/messages.h"

namespace rnic::rtl {
namespace {

using testing::ElementsAre;

// The structure's order of fields determines the place of each: 1 + 32 bits, the last field lowest.
TEST(BitsTest, TheFirstFieldIsTheMostSignificantOne) {
  Rqn rqn;
  rqn.shared = true;
  rqn.v = 0x12345678;
  EXPECT_EQ(bits_of(rqn), 33u);
  std::uint64_t port = ~std::uint64_t{0};
  pack(rqn, port);
  EXPECT_EQ(port, 0x112345678u);
  Rqn back;
  unpack(port, back);
  EXPECT_EQ(back, rqn);
}

TEST(BitsTest, OctetsCountFromTheirLowEndAndMessagesStandInsideMessages) {
  QpEvent e;
  e.kind = QpEvent::Kind::kLocalError;
  e.qpn = Qpn{0xabcdef01};
  e.cause = wire::ddp::kToWrap;
  e.failed.length = 0x1234;
  e.failed.ddp_bytes = 14;
  e.failed.request_bytes = 28;
  for (std::size_t i = 0; i < e.failed.octets.size(); ++i) e.failed.octets[i] = static_cast<std::uint8_t>(i + 1);
  e.malformed = true;
  const unsigned octets = 8 * 46, bits = 3 + 32 + 16 + (16 + 5 + 5 + octets) + 1;
  ASSERT_EQ(bits_of(e), bits);
  std::array<std::uint32_t, (446 + 31) / 32> port{};
  port.fill(~0u);
  pack(e, port);
  EXPECT_EQ(port[0], 1u | 1u << 1 | 2u << 9 | 3u << 17 | 4u << 25);
  QpEvent back;
  unpack(port, back);
  EXPECT_EQ(back.kind, e.kind);
  EXPECT_EQ(back.qpn, e.qpn);
  EXPECT_EQ(back.cause, e.cause);
  EXPECT_EQ(back.failed.length, 0x1234);
  EXPECT_EQ(back.failed.ddp_bytes, 14);
  EXPECT_EQ(back.failed.request_bytes, 28);
  EXPECT_EQ(back.failed.octets, e.failed.octets);
  EXPECT_TRUE(back.malformed);
}

TEST(BitsTest, ElementsStandAtTheirIndex) {
  abi::Wqe w;
  for (unsigned i = 0; i < abi::kMaxSge; ++i) w.sge[i].lkey = 0x100 + i;
  std::array<std::uint32_t, 27> port{};
  pack(w, port);
  EXPECT_THAT((std::array{port[0], port[4], port[8], port[20]}), ElementsAre(0x100, 0x101, 0x102, 0x105));
  abi::Wqe back;
  unpack(port, back);
  EXPECT_EQ(back.sge[3].lkey, 0x103u);
}

TEST(BitsTest, ARequestOfEitherKind) {
  QueuedAtomic atomic;
  atomic.qpn = Qpn{7};
  atomic.request = wire::AtomicRequest::cmp_swap(1, 2, 3, 4);
  atomic.segment.length = 70;
  atomic.epoch = 3;
  atomic.pd = Pdn{4};
  std::array<std::uint32_t, 40> port{};
  for (const QueuedRequest& r :
       {QueuedRequest{atomic}, QueuedRequest{QueuedRead{Qpn{8}, {1, 2, 3, 4, 5}, {}, 3, Pdn{4}}}}) {
    pack(r, port);
    QueuedRequest back;
    unpack(port, back);
    ASSERT_EQ(back.index(), r.index());
    EXPECT_EQ(qpn_of(back), qpn_of(r));
    EXPECT_EQ(segment_of(back).length, segment_of(r).length);
    EXPECT_EQ(epoch_of(back), 3u);
    if (const auto* read = std::get_if<QueuedRead>(&back)) EXPECT_EQ(read->request.src_to, 5u);
    else EXPECT_EQ(std::get<QueuedAtomic>(back).request.compare_mask, 4u);
  }
}

TEST(BitsTest, ANumberThatDoesNotFitIsABug) {
  FailedSegment s;
  s.ddp_bytes = 32;
  std::array<std::uint32_t, 13> port{};
  EXPECT_THROW(pack(s, port), InternalError);
}

}  // namespace
}  // namespace rnic::rtl

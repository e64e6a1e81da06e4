// From an STag to the bus: ranges of regions and windows whose octets lie in the pages of a list.
#include "model/rnic/context/stag_work.h"
#include "testbench/support/contexts.h"
#include "testbench/support/stage_test.h"

namespace rnic::test {
namespace {

using testing::ElementsAre;
using Pieces = std::vector<std::pair<std::uint64_t, std::uint32_t>>;

// Region 1: 0x2f00 octets from octet 0x80 of the first of four pages on; the second and the third are neighbours on the
// bus.
constexpr std::uint64_t kVa = 0x7000'0000'0080;
class PageListTest : public StageTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 16, 4, 16}};
  StagWork stag_work{"stag_work", clk, contexts};
  Source<StagRequest> queues = drive(stag_work.request);
  Sink<StagRequestDone> done = collect(stag_work.request_done);
  const Stubs others = stub(stag_work.sink, stag_work.sink_ended, stag_work.write, stag_work.written);
  PageListTest() {
    const std::uint64_t pages[] = {0x50000, 0x20000, 0x21000, 0x90000};
    for (std::uint32_t i = 0; i < 4; ++i) contexts.write_page(8 + i, pages[i]);
    contexts.write(Stag{stag_of(1)}, paged(kVa, 0x2f00));
    contexts.commit();
    contexts.page_table.commit();
  }
  static StagContext paged(std::uint64_t va, std::uint64_t length) {
    StagContext c = region(va, length, abi::kLocalWrite | abi::kMwBind);
    c.bus = 0x80;
    c.log_page = 12;
    c.first_page = 8;
    c.pages = 4;
    return c;
  }
  abi::WcStatus work(const abi::Wqe& w) {
    queues.send({Qpn{1}, 1, w, Pdn{1}});
    run_until_idle();
    return done.take().at(0).status;
  }
  Pieces pieces(std::uint32_t stag, std::uint64_t to, std::uint32_t bytes) const {
    Pieces list;
    MemoryPiece m = contexts.stag(Stag{stag})->piece(stag, to, bytes);
    while (m.bytes != 0) {
      const PagePlace at = place_of(m.list, m.address);
      const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(m.bytes, m.list.page_bytes() - at.offset));
      list.emplace_back(contexts.page_table.peek(at.row)->page[at.page] + at.offset, n);
      m = {m.address + n, m.bytes - n, m.list, m.region};
    }
    return list;
  }
};

TEST_F(PageListTest, TheFirstPageBeginsAtItsOffset) {
  EXPECT_THAT(pieces(stag_of(1), kVa, 1), ElementsAre(std::pair(0x50080, 1)));
  EXPECT_THAT(pieces(stag_of(1), kVa, 0xf80), ElementsAre(std::pair(0x50080, 0xf80)));
}
TEST_F(PageListTest, APieceEndsWithItsPage) {
  EXPECT_THAT(pieces(stag_of(1), kVa, 0xf81), ElementsAre(std::pair(0x50080, 0xf80), std::pair(0x20000, 1)));
  EXPECT_THAT(pieces(stag_of(1), kVa + 0xf7f, 2), ElementsAre(std::pair(0x50fff, 1), std::pair(0x20000, 1)));
  EXPECT_THAT(pieces(stag_of(1), kVa + 0xf80, 1), ElementsAre(std::pair(0x20000, 1)));
}
TEST_F(PageListTest, TheWholeRegionIsFourPieces) {
  StagContext whole = paged(kVa, 0x3f80);
  contexts.write(Stag{stag_of(1)}, whole);
  contexts.commit();
  EXPECT_THAT(pieces(stag_of(1), kVa, 0x3f80), ElementsAre(std::pair(0x50080, 0xf80), std::pair(0x20000, 0x1000),
                                                           std::pair(0x21000, 0x1000), std::pair(0x90000, 0x1000)));
}
TEST_F(PageListTest, AZeroBasedRegionCountsFromItsFirstOctet) {
  StagContext zero = paged(kVa, 0x2f00);
  zero.zero_based = true;
  contexts.write(Stag{stag_of(1)}, zero);
  contexts.commit();
  EXPECT_THAT(pieces(stag_of(1), 0xf7f, 2), ElementsAre(std::pair(0x50fff, 1), std::pair(0x20000, 1)));
}
TEST_F(PageListTest, LargePages) {
  StagContext large = paged(kVa, 0x200000);
  large.log_page = 21;
  large.bus = 0x1fffff;
  contexts.write(Stag{stag_of(1)}, large);
  contexts.commit();
  EXPECT_THAT(pieces(stag_of(1), kVa, 3), ElementsAre(std::pair(0x50000 + 0x1fffff, 1), std::pair(0x20000, 2)));
}
TEST_F(PageListTest, AWindowIsInThePagesOfItsRegion) {
  StagContext window;
  window.allocated = true;
  window.kind = StagKind::kWindow2;
  window.pd = Pdn{1};
  contexts.write(Stag{stag_of(2)}, window);
  open_qp(contexts, 1, rts_qp(1));
  abi::Wqe w;
  w.opcode = abi::WrOpcode::kBindMw;
  w.rkey = stag_of(2);
  abi::Registration{kVa + 0xf00, 0x100, stag_of(1), abi::kRemoteRead | abi::kZeroBased}.put(w);
  ASSERT_EQ(work(w), abi::WcStatus::kSuccess);
  EXPECT_THAT(pieces(stag_of(2), 0, 0x100), ElementsAre(std::pair(0x50f80, 0x80), std::pair(0x20000, 0x80)));
}

TEST_F(PageListTest, APieceNamesTheRegionWhoseListItBrings) {
  const MemoryPiece m = contexts.stag(Stag{stag_of(1)})->piece(stag_of(1), kVa, 1);
  EXPECT_EQ(m.list, PageList::of(8, 12));
  EXPECT_EQ(m.region, stag_of(1));
}
// The largest table and the largest pages.
TEST_F(PageListTest, AListIsOneWord) {
  constexpr std::uint32_t kLast = (1u << 20) - 1;
  for (const unsigned log_page : {kMinLogPage, kMaxLogPage}) {
    const PageList list = PageList::of(kLast, log_page);
    EXPECT_EQ(list.first_page(), kLast);
    EXPECT_EQ(list.log_page(), log_page);
    EXPECT_EQ(list.v >> PageList::kBits, 0u);
  }
  EXPECT_EQ(PageList::of(kLast, 0), PageList{});
}
TEST_F(PageListTest, ALinearPieceNamesNoList) {
  contexts.write(Stag{stag_of(3)}, region(0x1000, 0x100000, abi::kLocalWrite));
  contexts.commit();
  const MemoryPiece m = contexts.stag(Stag{stag_of(3)})->piece(stag_of(3), 0x1001, 0xfffff);
  EXPECT_EQ(m.address, 0x1001u);
  EXPECT_EQ(m.list, PageList{});
  EXPECT_EQ(m.region, 0u);
}

TEST(PageListSizeTest, FitsToTheOctet) {
  EXPECT_TRUE(fits_pages(0xfff, 0x1001, 2, 12));
  EXPECT_FALSE(fits_pages(0xfff, 0x1002, 2, 12));
  EXPECT_FALSE(fits_pages(0x1000, 1, 2, 12));
  EXPECT_FALSE(fits_pages(0, 1, 1, 11));
  EXPECT_FALSE(fits_pages(0, 1, 1, 31));
  EXPECT_FALSE(fits_pages(0, 0, 0, 12));
  EXPECT_FALSE(fits_pages(1, ~std::uint64_t{0}, 0xffffffff, 30));
}

// Fast registration gives an allocated region a list in its part of the table.
TEST_F(PageListTest, FastRegistrationWithAPageList) {
  StagContext allocated;
  allocated.allocated = true;
  allocated.pd = Pdn{1};
  allocated.first_page = 8;
  allocated.pages = 3;
  contexts.write(Stag{stag_of(4)}, allocated);
  open_qp(contexts, 1, rts_qp(1));
  const auto try_it = [&](std::uint32_t log_page, std::uint32_t pages, std::uint32_t first_offset) {
    abi::Registration r{0x123, 0x2f00, 0, abi::kLocalWrite};
    r.log_page = log_page;
    r.pages = pages;
    r.first_offset = first_offset;
    abi::Wqe w;
    w.opcode = abi::WrOpcode::kRegMr;
    w.rkey = stag_of(4);
    r.put(w);
    return work(w);
  };
  EXPECT_EQ(try_it(12, 4, 0x80), abi::WcStatus::kMwBindErr) << "more pages than it has";
  EXPECT_EQ(try_it(12, 3, 0x101), abi::WcStatus::kMwBindErr) << "one octet too long";
  EXPECT_EQ(try_it(12, 3, 0x1000), abi::WcStatus::kMwBindErr) << "begins behind its first page";
  EXPECT_EQ(try_it(11, 3, 0x80), abi::WcStatus::kMwBindErr) << "2 KiB pages";
  EXPECT_EQ(try_it(12, 3, 0x100), abi::WcStatus::kSuccess);
  EXPECT_THAT(pieces(stag_of(4), 0x123 + 0xeff, 2), ElementsAre(std::pair(0x50fff, 1), std::pair(0x20000, 1)));
}

}  // namespace
}  // namespace rnic::test

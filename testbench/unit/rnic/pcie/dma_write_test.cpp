// DMA writes between scripted clients and a scripted link.
#include "model/rnic/pcie/dma_write.h"

#include <memory>

#include "testbench/support/contexts.h"
#include "testbench/unit/rnic/pcie/dma_client.h"
#include "testbench/unit/rnic/pcie/short_tlps.h"

namespace rnic::pcie {
namespace {

using testing::ElementsAre;

class DmaWriteTest : public test::StageTest {
 protected:
  using Writer = Client<DmaWriteRequest, DmaWriteDone>;
  PcieLinkConfig link = test::short_tlps();
  BufferPool pool{16384};
  Sink<Tlp> tlps{"tlps", clk};
  Netlist net{"link", clk};
  ConfigSpace space{clk, link};
  std::unique_ptr<DmaWrite> dut;
  std::vector<std::unique_ptr<Writer>> clients;

  void build(unsigned n = 1) {
    dut = std::make_unique<DmaWrite>("dut", clk, n, link, space);
    for (unsigned i = 0; i < n; ++i) clients.push_back(std::make_unique<Writer>(*dut, i));
    net.connect(dut->tlps, tlps.in, "tlps");
  }
  DmaWriteRequest request(std::uint64_t address, std::uint32_t bytes, std::uint32_t tag, bool notify) {
    return {address, bytes, pool.take(), 8, tag, notify};
  }
};

TEST_F(DmaWriteTest, OneTlpPerCycleAndTheAnswerWithTheLast) {
  build();
  clients[0]->source.send(request(0x10f00, 1000, 7, true));
  run_until_idle(100);
  EXPECT_THAT(pieces(tlps.messages()), ElementsAre(std::pair{0x10f00, 256}, std::pair{0x11000, 256},
                                                   std::pair{0x11100, 256}, std::pair{0x11200, 232}));
  EXPECT_EQ(tlps.cycles(), test::in_a_row(kThrough, 4));
  EXPECT_THAT(clients[0]->sink.cycles(), ElementsAre(kThrough + 3));
  EXPECT_EQ(clients[0]->sink[0].tag, 7u);
  const Buffer* source = tlps[0].hold.get();
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(tlps[i].data(), source->bytes() + 8 + 256 * i);
}

TEST_F(DmaWriteTest, AResetEndsARequestAmidItsTlps) {
  build();
  clients[0]->source.send(request(0x10000, 4096, 7, true));
  sc_core::sc_start(6 * 4, sc_core::SC_NS);
  clk.reset(*dut);
  run_until_idle(100);
  EXPECT_LT(tlps.size(), 8u);
  EXPECT_TRUE(clients[0]->sink.empty());
  clients[0]->source.send(request(0x20000, 64, 8, true));
  run_until_idle(100);
  EXPECT_EQ(tlps.back().address, 0x20000u);
  ASSERT_EQ(clients[0]->sink.size(), 1u);
  EXPECT_EQ(clients[0]->sink[0].tag, 8u);
}

TEST_F(DmaWriteTest, ClientsTakeTurnsAndEachStaysInOrder) {
  build(2);
  clients[0]->source.send({request(0, 512, 0, false), request(0x8000, 4, 1, true)});
  clients[1]->source.send(request(0x10000, 768, 2, true));
  run_until_idle(100);
  EXPECT_THAT(pieces(tlps.messages()),
              ElementsAre(std::pair{0, 256}, std::pair{0x10000, 256}, std::pair{256, 256}, std::pair{0x10100, 256},
                          std::pair{0x8000, 4}, std::pair{0x10200, 256}));
}

TEST_F(DmaWriteTest, AClientThatDoesNotTakeItsAnswersStopsOnlyItself) {
  build(2);
  clients[0]->sink.pause(test::window(0, 200));
  for (std::uint32_t i = 0; i < 6; ++i) clients[0]->source.send(request(0x1000 * i, 64, i, true));
  for (std::uint32_t i = 0; i < 6; ++i) clients[1]->source.send(request(0x100000 + 0x1000 * i, 64, i, true));
  sc_core::sc_start(100 * 4, sc_core::SC_NS);
  EXPECT_EQ(clients[1]->sink.size(), 6u);
  EXPECT_EQ(tlps.size(), 6u + Netlist::kFew.depth);  // the capacity of its answer link
  run_until_idle(1000);
  EXPECT_EQ(clients[0]->sink.size(), 6u);
  EXPECT_EQ(tlps.size(), 12u);
}

TEST_F(DmaWriteTest, BackpressureLosesNothingAndKeepsNoBuffer) {
  build();
  tlps.pause(test::at_random(3, 60));
  std::vector<std::uint64_t> expected;
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < 20; ++i) {
    clients[0]->source.send(request(0x10000 * i, 100 * i + 1, i, true));
    total += 100 * i + 1;
  }
  run_until_idle(10000);
  std::uint64_t sum = 0;
  for (const Tlp& t : tlps) sum += t.bytes;
  EXPECT_EQ(sum, total);
  EXPECT_EQ(clients[0]->sink.size(), 20u);
}

// Region 1: pages of 4 KiB, the first at 0x50000, the others elsewhere; the page table holds four of them in a row.
class PagedWriteTest : public DmaWriteTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 16, 4, 16}};
  static constexpr std::uint32_t kRegion = test::stag_of(1);
  PagedWriteTest() {
    build(2);
    test::paged_region(contexts, kRegion, {0x50000, 0x20000, 0x21000, 0x70000, 0x30000});
    dut->in_pages(0, "client", contexts.page_table, contexts.stag_table);
  }
  DmaWriteRequest paged(std::uint64_t offset, std::uint32_t bytes, bool notify = true) {
    DmaWriteRequest r = request(offset, bytes, 7, notify);
    r.list = PageList::of(0, 12);
    return r;
  }
};

TEST_F(PagedWriteTest, ATlpEndsWithItsPage) {
  clients[0]->source.send(paged(0xf80, 0x1100));
  run_until_idle(1000);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> expected{{0x50f80, 0x80}};
  for (std::uint32_t at = 0; at < 0x1000; at += 256) expected.emplace_back(0x20000 + at, 256);
  expected.emplace_back(0x21000, 0x80);
  EXPECT_EQ(pieces(tlps.messages()), expected);
  const std::uint8_t* octets = tlps[0].hold->bytes() + 8;
  for (const Tlp& t : tlps) EXPECT_EQ(std::exchange(octets, octets + t.bytes), t.data());
  EXPECT_EQ(tlps.cycles(), test::in_a_row(kThrough + kRow, 18));
  EXPECT_THAT(clients[0]->sink.cycles(), ElementsAre(tlps.cycles().back()));
}

TEST_F(PagedWriteTest, TheNextRowIsThereWhenItIsNeeded) {
  clients[0]->source.send(paged(0x3f00, 0x200));
  run_until_idle(1000);
  EXPECT_THAT(pieces(tlps.messages()), ElementsAre(std::pair{0x70f00, 256}, std::pair{0x30000, 256}));
  EXPECT_EQ(tlps.cycles(), test::in_a_row(kThrough + kRow, 2));
}

TEST_F(PagedWriteTest, RowsAreReadAheadSoThatOnlyTheFirstRequestWaits) {
  for (std::uint32_t i = 0; i < 20; ++i) clients[0]->source.send(paged(0x1000 * (i % 5), 4, false));
  run_until_idle(1000);
  EXPECT_EQ(tlps.cycles(), test::in_a_row(kThrough + kRow, 20));
}

TEST_F(PagedWriteTest, ARequestWithoutPagesWaitsForNoRow) {
  clients[0]->source.send(paged(0, 4));
  clients[1]->source.send(request(0x10000, 4, 3, false));
  run_until_idle(1000);
  EXPECT_THAT(pieces(tlps.messages()), ElementsAre(std::pair{0x10000, 4}, std::pair{0x50000, 4}));
  EXPECT_THAT(tlps.cycles(), ElementsAre(kThrough, kThrough + kRow));
}

TEST_F(PagedWriteTest, AResetForgetsWhatWasAskedFor) {
  for (std::uint32_t i = 0; i < 4; ++i) clients[0]->source.send(paged(0x1000 * i, 0x800));
  sc_core::sc_start(6 * 4, sc_core::SC_NS);
  clk.reset(*dut);
  contexts.reset();
  run_until_idle(100);
  const std::size_t before = tlps.size();
  test::paged_region(contexts, kRegion, {0x60000});
  clients[0]->source.send(paged(8, 4));
  run_until_idle(100);
  EXPECT_GT(tlps.size(), before);
  EXPECT_EQ(tlps.back().address, 0x60008u);
}

TEST_F(PagedWriteTest, RequestsOfOneClientStayInOrderWhateverTheyName) {
  clients[0]->source.send({request(0x8000, 4, 1, false), paged(0x1000, 4, false), request(0x9000, 4, 2, true)});
  clients[1]->source.send({request(0x10000, 4, 3, false), request(0x11000, 4, 4, true)});
  run_until_idle(1000);
  std::vector<std::uint64_t> first;
  for (const Tlp& t : tlps) {
    if (t.address >> 16 != 1) first.push_back(t.address);
  }
  EXPECT_THAT(first, ElementsAre(0x8000, 0x20000, 0x9000));
  EXPECT_EQ(tlps.size(), 5u);
}

// The end of its STag is reported when the write is out (StagFence), and until then its pages are its own.
TEST_F(PagedWriteTest, AWriteWhoseRegionEndsBetweenItsTlpsIsFinished) {
  test::At firmware{"firmware", clk};
  clients[0]->source.send(paged(0, 1024));
  firmware.at(test::kToEnd + kRow + 1, [this] { contexts.write(Stag{kRegion}, StagContext{}); });
  run_until_idle(1000);
  EXPECT_THAT(pieces(tlps.messages()), ElementsAre(std::pair{0x50000, 256}, std::pair{0x50100, 256},
                                                   std::pair{0x50200, 256}, std::pair{0x50300, 256}));
  EXPECT_EQ(clients[0]->sink.size(), 1u);
}

}  // namespace
}  // namespace rnic::pcie

// DMA reads between scripted clients and a scripted link.
#include "model/rnic/pcie/dma_read.h"

#include <memory>

#include "model/common/prng.h"
#include "testbench/support/contexts.h"
#include "testbench/support/described.h"
#include "testbench/unit/rnic/pcie/dma_client.h"
#include "testbench/unit/rnic/pcie/short_tlps.h"

namespace rnic::pcie {
namespace {

using testing::ElementsAre;

class DmaReadTest : public test::StageTest {
 protected:
  using Reader = Client<DmaReadRequest, DmaReadDone>;
  DmaReadConfig config;
  PcieLinkConfig link = test::short_tlps();
  Sink<Tlp> tlps{"tlps", clk};
  Source<Tlp> completions{"completions", clk};
  Netlist net{"link", clk};
  ConfigSpace space{clk, link};
  std::unique_ptr<DmaRead> dut;
  std::vector<std::unique_ptr<Reader>> clients;
  std::uint8_t memory[8192] = {}, to[8192] = {};

  void build(unsigned n = 1) {
    for (std::size_t i = 0; i < sizeof memory; ++i) memory[i] = static_cast<std::uint8_t>(mix64(i));
    dut = std::make_unique<DmaRead>("dut", clk, n, config, link, space);
    for (unsigned i = 0; i < n; ++i) clients.push_back(std::make_unique<Reader>(*dut, i));
    net.connect(dut->tlps, tlps.in, "tlps");
    net.connect(completions.out, dut->completions, "completions");
  }
  // A pending timeout keeps the calendar busy.
  void run(Cycle cycles) { sc_core::sc_start(sc_core::sc_time::from_value(cycles * clk.period_ps())); }
  DmaReadRequest request(std::uint64_t address, std::uint32_t bytes, std::uint32_t tag) {
    return {address, bytes, to + address, {}, tag};
  }
  // A completion with `n` octets of the request, starting at `offset`.
  Tlp answer(const Tlp& request, std::uint32_t offset, std::uint32_t n) {
    Tlp t = Tlp::completion(request, request.address + offset, n);
    t.far_data = memory + request.address + offset;
    return t;
  }
  Tlp whole(const Tlp& request) { return answer(request, 0, request.bytes); }
  bool arrived(std::uint64_t address, std::uint32_t bytes) {
    return std::memcmp(to + address, memory + address, bytes) == 0;
  }
  std::vector<std::pair<std::uint32_t, bool>> answers(unsigned client = 0) {
    std::vector<std::pair<std::uint32_t, bool>> all;
    for (const DmaReadDone& d : clients[client]->sink) all.push_back({d.tag, d.ok});
    return all;
  }
};

TEST_F(DmaReadTest, OneReadTlpLeavesPerCycle) {
  build();
  clients[0]->source.send(request(0, 1428, 1));
  run(100);
  EXPECT_THAT(pieces(tlps.messages()), ElementsAre(std::pair{0, 512}, std::pair{512, 512}, std::pair{1024, 404}));
  EXPECT_EQ(tlps.cycles(), test::in_a_row(kThrough, 3));
}

TEST_F(DmaReadTest, CompletionsOfDifferentTlpsComeInAnyOrder) {
  build();
  clients[0]->source.send({request(0, 1428, 1), request(2000, 100, 2)});
  run(100);
  ASSERT_EQ(tlps.size(), 4u);
  const auto& t = tlps.messages();
  completions.send_at(100, {whole(t[3]), answer(t[2], 0, 256), whole(t[1]), answer(t[2], 256, 148), answer(t[0], 0, 64),
                            answer(t[0], 64, 256), answer(t[0], 320, 192)});
  run_until_idle(1000);
  EXPECT_THAT(answers(), ElementsAre(std::pair{2u, true}, std::pair{1u, true}));
  EXPECT_THAT(clients[0]->sink.cycles(), ElementsAre(100 + kThrough, 106 + kThrough));
  EXPECT_TRUE(arrived(0, 1428));
  EXPECT_TRUE(arrived(2000, 100));
}

TEST_F(DmaReadTest, ClientsTakeTurnsTlpByTlp) {
  build(3);
  for (unsigned c = 0; c < 3; ++c) clients[c]->source.send(request(c * 2048, c == 1 ? 512u : 1024u, c));
  run(100);
  EXPECT_THAT(pieces(tlps.messages()), ElementsAre(std::pair{0, 512}, std::pair{2048, 512}, std::pair{4096, 512},
                                                   std::pair{512, 512}, std::pair{4608, 512}));
}

TEST_F(DmaReadTest, TagsBoundWhatIsOutstanding) {
  config.max_tags = 2;
  build();
  clients[0]->source.send(request(0, 2048, 1));
  run(100);
  ASSERT_EQ(tlps.size(), 2u);
  completions.send_at(100, whole(tlps[1]));
  run(100);
  ASSERT_EQ(tlps.size(), 3u);
  EXPECT_EQ(tlps[2].tag, tlps[1].tag);
  EXPECT_EQ(tlps.cycles()[2], 100 + kThrough);
  // One tag is taken in cycle 1, the other in cycle 2; from then on the rest of the request waits.
  const Account::Totals tags = test::account_of(*dut, "pcie.tags").totals(200);
  EXPECT_EQ(tags.empty, 1);
  EXPECT_EQ(tags.busy, 1);
  EXPECT_EQ(tags.blocked, 198);
  EXPECT_EQ(tags.taken, 1 + 198 * 2);
  EXPECT_EQ(test::account_of(*dut, "pcie.read_requests").totals(200).blocked, 0);
}

TEST_F(DmaReadTest, AnUnsupportedRequestStopsTheRestAndAnswersOnce) {
  config.max_tags = 2;
  build();
  clients[0]->source.send({request(0, 4096, 1), request(4096, 64, 2)});
  run(100);
  completions.send_at(100, {Tlp::answer(tlps[0], CplStatus::kUr), whole(tlps[1])});
  run(100);
  ASSERT_EQ(tlps.size(), 3u);  // the first request sends nothing after its error
  completions.send_at(201, whole(tlps[2]));
  run_until_idle(1000);
  EXPECT_THAT(answers(), ElementsAre(std::pair{1u, false}, std::pair{2u, true}));
  EXPECT_EQ(dut->counters().failed_requests, 1u);
}

TEST_F(DmaReadTest, PoisonedDataFailsTheRequestAndDoesNotLand) {
  build();
  clients[0]->source.send(request(0, 128, 1));
  run(100);
  Tlp poisoned = answer(tlps[0], 0, 64);
  poisoned.poisoned = true;
  completions.send_at(100, {poisoned, answer(tlps[0], 64, 64)});
  run_until_idle(1000);
  EXPECT_THAT(answers(), ElementsAre(std::pair{1u, false}));
  EXPECT_EQ(std::count(to, to + 64, 0), 64);
}

TEST_F(DmaReadTest, TimeoutFailsTheRequestAndKeepsTheTagUntilItsCompletionComesAfterAll) {
  config.max_tags = 2;
  config.completion_timeout_us = 1;
  const Cycle timeout = 1'000'000 / clk.period_ps();
  build();
  clients[0]->source.send({request(0, 512, 1), request(512, 512, 2)});
  run_until_idle(10000);
  EXPECT_THAT(answers(), ElementsAre(std::pair{1u, false}, std::pair{2u, false}));
  EXPECT_THAT(clients[0]->sink.cycles(), ElementsAre(timeout + kThrough, timeout + kThrough + 1));
  EXPECT_EQ(dut->counters().timeouts, 2u);
  clients[0]->source.send(request(1024, 64, 3));
  run_until_idle(10000);
  ASSERT_EQ(tlps.size(), 2u);  // no tag is free
  completions.send(whole(tlps[0]));
  run(100);
  ASSERT_EQ(tlps.size(), 3u);
  EXPECT_EQ(std::count(to, to + 512, 0), 512);  // the late data had nowhere to go
  completions.send(whole(tlps[2]));
  run_until_idle(10000);
  EXPECT_TRUE(arrived(1024, 64));
  EXPECT_EQ(answers().back(), (std::pair{3u, true}));
}

TEST_F(DmaReadTest, AResetKeepsTagsUntilTheirCompletionsCome) {
  config.max_tags = 3;
  build();
  clients[0]->source.send({request(0, 1024, 1), request(1024, 512, 2)});
  run(10);
  ASSERT_EQ(tlps.size(), 3u);  // one of four; the second request waits
  clients[0]->source.out->reset();
  clk.reset(*dut);
  clients[0]->source.send(request(2048, 64, 3));
  run(20);
  ASSERT_EQ(tlps.size(), 3u);  // no tag is free
  for (int i = 0; i < 3; ++i) completions.send(whole(tlps[i]));
  run(20);
  EXPECT_EQ(std::count(to, to + sizeof to, 0), static_cast<std::ptrdiff_t>(sizeof to));  // no one asks for it
  EXPECT_EQ(dut->counters().unexpected, 0u);
  ASSERT_EQ(tlps.size(), 4u);
  completions.send(whole(tlps[3]));
  run_until_idle(10000);
  EXPECT_TRUE(arrived(2048, 64));
  EXPECT_THAT(answers(), ElementsAre(std::pair{3u, true}));
}

TEST_F(DmaReadTest, CompletionsThatDoNotContinueTheirReadAreRefused) {
  config.completion_timeout_us = 1;
  build();
  clients[0]->source.send(request(0, 512, 1));
  run(100);
  Tlp nobody = whole(tlps[0]);
  nobody.tag = 200;
  completions.send_at(100, {nobody, answer(tlps[0], 64, 64)});
  run_until_idle(10000);
  EXPECT_EQ(dut->counters().unexpected, 1u);
  EXPECT_EQ(dut->counters().malformed, 1u);
  EXPECT_THAT(answers(), ElementsAre(std::pair{1u, false}));
}

TEST_F(DmaReadTest, AnswersWaitForRoomAndNoneIsLost) {
  build();
  clients[0]->sink.pause(test::window(0, 400));
  std::vector<DmaReadRequest> many;
  for (std::uint32_t i = 0; i < 40; ++i) many.push_back(request(i * 64, 64, i));
  clients[0]->source.send(many);
  run(100);
  std::vector<Tlp> replies;
  for (const Tlp& t : tlps) replies.push_back(whole(t));
  ASSERT_EQ(replies.size(), 40u);
  completions.send_at(100, replies);
  run_until_idle(10000);
  ASSERT_EQ(answers().size(), 40u);
  for (std::uint32_t i = 0; i < 40; ++i) EXPECT_EQ(answers()[i], (std::pair{i, true}));
}

// Region 1: pages of 4 KiB at 0x1000 and 0 in turn; the page table holds four of them in a row.
class PagedReadTest : public DmaReadTest {
 protected:
  ContextStore contexts{clk, {4, 4, 4, 16, 4, 16}};
  static constexpr std::uint32_t kRegion = test::stag_of(1);
  void build_paged(unsigned tags = DmaReadConfig{}.max_tags) {
    config.max_tags = tags;
    build(2);
    test::paged_region(contexts, kRegion, {0x1000, 0, 0x1000, 0, 0x1000});
    dut->in_pages(0, "client", contexts.page_table, contexts.stag_table);
  }
  DmaReadRequest paged(std::uint64_t offset, std::uint32_t bytes, std::uint32_t tag) {
    return {offset, bytes, to, {}, tag, {}, PageList::of(0, 12), kRegion};
  }
};

TEST_F(PagedReadTest, ATlpEndsWithItsPage) {
  build_paged();
  clients[0]->source.send(paged(0xe00, 0x300, 7));
  run(100);
  ASSERT_THAT(pieces(tlps.messages()), ElementsAre(std::pair{0x1e00, 512}, std::pair{0, 256}));
  EXPECT_EQ(tlps.cycles(), test::in_a_row(kThrough + kRow, 2));
  completions.send({whole(tlps[1]), whole(tlps[0])});
  run(100);
  EXPECT_THAT(answers(), ElementsAre(std::pair{7u, true}));
  EXPECT_EQ(std::memcmp(to, memory + 0x1e00, 512), 0);
  EXPECT_EQ(std::memcmp(to + 512, memory, 256), 0);
}

// Its second row is asked for and not used; the next request gets its own.
TEST_F(PagedReadTest, TheRestOfAFailedRequestIsNotRead) {
  build_paged(1);
  clients[0]->source.send({paged(0x3e00, 0x400, 7), paged(0x1000, 16, 8)});
  run(100);
  ASSERT_THAT(pieces(tlps.messages()), ElementsAre(std::pair{0xe00, 512}));
  completions.send(Tlp::answer(tlps[0], CplStatus::kUr));
  run(100);
  EXPECT_THAT(answers(), ElementsAre(std::pair{7u, false}));
  EXPECT_THAT(pieces(tlps.messages()), ElementsAre(std::pair{0xe00, 512}, std::pair{0, 16}));
}

TEST_F(PagedReadTest, AListThatIsGoneIsNowhere) {
  build_paged();
  clients[0]->source.send(paged(0, 16, 7));
  contexts.write(Stag{kRegion}, StagContext{});
  contexts.commit();
  run(100);
  EXPECT_THAT(pieces(tlps.messages()), ElementsAre(std::pair{kNowhere, 16}));
}
// The STag names other pages by then: those of the request may be another region's.
TEST_F(PagedReadTest, AListThatItsRegionHasNoMoreIsNowhere) {
  build_paged();
  clients[0]->source.send(paged(0, 16, 7));
  StagContext other = *contexts.stag(Stag{kRegion});
  other.first_page = 1;
  contexts.write(Stag{kRegion}, other);
  contexts.commit();
  run(100);
  EXPECT_THAT(pieces(tlps.messages()), ElementsAre(std::pair{kNowhere, 16}));
}
// Bounds are checked before a request is made, so only an engine's own test asks for this.
TEST_F(PagedReadTest, APageOutsideTheTableIsNowhere) {
  build_paged();
  clients[0]->source.send(paged(16 << 12, 16, 7));
  run(100);
  EXPECT_THAT(pieces(tlps.messages()), ElementsAre(std::pair{kNowhere, 16}));
}

}  // namespace
}  // namespace rnic::pcie

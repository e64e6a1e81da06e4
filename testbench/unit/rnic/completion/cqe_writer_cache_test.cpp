// cqe_writer with fewer rows of queues on the chip than there are queues.
#include <array>
#include <cstring>
#include <map>

#include "model/common/bytes.h"
#include "model/common/prng.h"
#include "model/rnic/completion/cqe_writer.h"
#include "model/rnic/context/context_home.h"
#include "testbench/support/fake_dma.h"

namespace rnic::test {
namespace {

constexpr std::uint32_t kQueues = 24, kLogEntries = 4, kEntries = 1u << kLogEntries;
constexpr std::uint64_t base_of(std::uint32_t cqn) { return 0x100000 + 0x1000 * std::uint64_t{cqn}; }

// Programs that sleep on their queues: each takes the entries when it is notified, and arms again.
class Sleepers final : public Stage {
 public:
  PopPort<CqNotify> notify{*this, "notify"};
  PushPort<CqArm> arm{*this, "arm"};
  std::array<std::uint32_t, kQueues> written{}, seen{}, arms{}, notifications{};

  Sleepers(sc_core::sc_module_name nm, ClockDomain& clk) : Stage(nm, clk) {
    for (std::uint32_t n = 0; n < kQueues; ++n) to_arm_.push(n);
    wake(150);  // the queues are there
  }
  Wake tick() override {
    if (notify->can_pop()) {
      const std::uint32_t n = notify->pop().cqn.v;
      ++notifications[n];
      seen[n] = written[n];
      to_arm_.push(n);
    }
    if (to_arm_.empty() || !arm->can_push()) return Wake::on_traffic();
    const std::uint32_t n = to_arm_.pop();
    arm->push({Cqn{n}, false, seen[n] & 0x7ff});
    ++arms[n];
    return Wake::next_cycle();
  }

 private:
  Ring<std::uint32_t> to_arm_;
};

// Takes the entries into the host's memory, and answers questions about them.
class Host final : public Stage {
 public:
  PopPort<DmaWriteRequest> in{*this, "in"};
  PopPort<DmaReadRequest> asked{*this, "asked"};
  PushPort<DmaReadDone> answer{*this, "answer"};
  std::map<std::uint32_t, std::vector<abi::Cqe>> entries;

  Host(sc_core::sc_module_name nm, ClockDomain& clk, Sleepers& programs) : Stage(nm, clk), programs_(programs) {}
  Wake tick() override {
    const bool busy = in->can_pop() || asked->can_pop();
    if (in->can_pop()) take(in->pop());
    if (asked->can_pop() && answer->can_push()) {
      const DmaReadRequest r = asked->pop();
      const auto n = static_cast<std::uint32_t>((r.address - base_of(0)) / 0x1000);
      EXPECT_EQ(r.address, base_of(n) + kEntries * abi::kCqeBytes);
      store_le32(r.dst, programs_.written[n]);  // all of them
      answer->push({r.tag, true});
    }
    return busy ? Wake::next_cycle() : Wake::on_traffic();
  }

 private:
  void take(const DmaWriteRequest& w) {
    const auto n = static_cast<std::uint32_t>((w.address - base_of(0)) / 0x1000);
    std::uint32_t& written = programs_.written[n];
    EXPECT_EQ(w.address, base_of(n) + written % kEntries * abi::kCqeBytes);
    abi::Cqe cqe;
    std::memcpy(&cqe, w.src->bytes() + w.src_offset, sizeof cqe);
    EXPECT_EQ(cqe.phase, written / kEntries % 2 == 0);
    entries[n].push_back(cqe);
    ++written;
  }
  Sleepers& programs_;
};

struct CacheCase {
  CacheConfig cache;
  std::uint64_t shuffle;
};
class CqeWriterCache : public StageTest, public testing::WithParamInterface<CacheCase> {
 protected:
  static ContextStore::Sizes sizes(const CacheConfig& cache) {
    ContextStore::Sizes s{4, 4, kQueues, 4};
    s.cq_cache = cache;
    return s;
  }
  ContextStore contexts{clk, sizes(GetParam().cache)};
  CqeWriter dut{"dut", clk, contexts};
  ContextHome home{"home", clk, contexts, {}};
  Source<CqeRequest> receives = drive(dut.receive), sends = drive(dut.send);
  Sink<CqOverflow> overflows = collect(dut.overflow);
  Source<HomeOp> ops = drive(home.ops);
  Sink<HomeEvent> events = collect(home.events);
  FakeDma dma{home.read, home.read_done};
  FakeDmaWrite to_home{home.write, home.write_done, dma.memory};
  Sleepers programs{"programs", clk};
  Host host{"host", clk, programs};
  Netlist net{"host_net", clk};

  CqeWriterCache() {
    if (GetParam().shuffle != 0) clk.shuffle(GetParam().shuffle);
    net.connect(programs.arm, dut.arm, "arms");
    net.connect(dut.notify, programs.notify, "notifies");
    net.connect(dut.dma, host.in, "entries");
    net.connect(dut.read_record, host.asked, "questions");
    net.connect(host.answer, dut.record_read, "answers");
    ops.send({HomeOp::Kind::kHomePage, 0, 0});
    for (std::uint32_t n = 0; n < kQueues; ++n) {
      ops.send({HomeOp::Kind::kWriteCq,
                n,
                0,
                {true, kLogEntries, base_of(n), 1, static_cast<std::uint16_t>(n % 3), n % 3 != 0 ? 400u : 0}});
    }
  }
};

TEST_P(CqeWriterCache, EachQueueHasItsEntriesInOrderAndIsNotified) {
  Prng random(GetParam().shuffle + 1);
  std::array<std::vector<std::uint64_t>, kQueues> received, sent;
  for (std::uint64_t i = 0; i < 1500; ++i) {
    const auto wide = static_cast<std::uint32_t>(random.below(kQueues)), n = i % 2 == 0 ? wide : wide % 3;
    CqeRequest r;
    r.cqn = Cqn{n};
    r.cqe.wr_id = i;
    const bool receive = random.below(2) != 0;
    (receive ? received : sent)[n].push_back(i);
    (receive ? receives : sends).send_at(200, r);
  }
  run_until_idle();
  for (std::uint32_t n = 0; n < kQueues; ++n) {
    std::vector<std::uint64_t> of_receives, of_sends;
    for (const abi::Cqe& cqe : host.entries[n]) {
      const bool receive = std::binary_search(received[n].begin(), received[n].end(), cqe.wr_id);
      (receive ? of_receives : of_sends).push_back(cqe.wr_id);
    }
    EXPECT_EQ(of_receives, received[n]);
    EXPECT_EQ(of_sends, sent[n]);
    EXPECT_EQ(programs.seen[n], programs.written[n]) << "nobody sleeps beside an entry";
    EXPECT_EQ(programs.arms[n], programs.notifications[n] + 1) << "the last arm waits";
  }
  EXPECT_TRUE(overflows.empty());
  EXPECT_TRUE(events.empty());
  EXPECT_GT(home.counters().write_backs, 200u);
  if (GetParam().cache.entries > 1) {
    EXPECT_GT(contexts.cq_table.cache().counters().hits, 200u);
  }
}
INSTANTIATE_TEST_SUITE_P(Caches, CqeWriterCache,
                         testing::Values(CacheCase{{1, 1, CachePolicy::kLru, 1, 1}, 0},
                                         CacheCase{{4, 4, CachePolicy::kLru, 1, 1}, 0},
                                         CacheCase{{4, 2, CachePolicy::kPlru, 2, 0}, 3},
                                         CacheCase{{8, 8, CachePolicy::kRandom, 4, 2}, 4},
                                         CacheCase{{6, 3, CachePolicy::kLru, 8, 1}, 5}));

}  // namespace
}  // namespace rnic::test

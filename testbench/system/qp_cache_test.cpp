// Contexts of queue pairs that are not all on the chip.
#include "testbench/support/home_check.h"
#include "testbench/system/few_rows.h"
#include "testbench/system/lost_row.h"
#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

class QpCacheEndToEnd : public TwoNodeBench, public testing::WithParamInterface<FewRows> {
 protected:
  static constexpr std::size_t kStreams = 24;  // with the spare places there is room for some more than `entries`
  static NodeConfig config() { return GetParam().of(&CachesConfig::qp); }
  QpCacheEndToEnd() : TwoNodeBench(config(), config()) {}
};

// Reads have their requests in the rows of one end and their responses in those of the other.
TEST_P(QpCacheEndToEnd, EveryReadCompletesOnceAndInOrder) {
  constexpr std::uint64_t kEach = 40;
  for (std::size_t n = 0; n < kStreams; ++n) client.create(128), server.create(128);
  connect(kStreams);
  for (std::uint64_t round = 0; round < kEach / 8; ++round) {
    client.run([this, round] {
      for (std::uint64_t id = 8 * round; id < 8 * round + 8; ++id) {
        for (End::Stream& stream : client.streams) {
          host::SendWr wr = client.request(id, abi::WrOpcode::kRdmaRead, 0, 64);
          wr.remote_addr = server.address;
          wr.rkey = server.mr->rkey();
          EXPECT_EQ(stream.qp->post_send(wr), 0);
        }
      }
    });
    client.then([this, round] {
      return std::all_of(client.streams.begin(), client.streams.end(),
                         [round](const End::Stream& s) { return s.completions.size() == 8 * round + 8; });
    });
  }
  run();
  std::vector<std::uint64_t> ids(kEach);
  std::iota(ids.begin(), ids.end(), std::uint64_t{0});
  for (const End::Stream& stream : client.streams) EXPECT_EQ(stream.succeeded(), ids);
  for (const End* end : {&server, &client}) {
    const ContextStore& contexts = end->node.chip.contexts();
    const CacheCounters &sent = contexts.tx_table.cache().counters(), &received = contexts.rx_table.cache().counters();
    EXPECT_GT(sent.dirty, 20u);
    EXPECT_GT(received.dirty, 20u);
    EXPECT_GT(end->node.chip.ddp_placement.counters().parked, 20u);
    const ContextHomeCounters& home = end->node.chip.context_home.counters();
    const bool objects = GetParam().fetch == QpFetch::kObject;
    EXPECT_EQ(home.write_backs, objects ? sent.dirty : sent.dirty + received.dirty);
    EXPECT_EQ(home.failed + home.corrupt, 0u);
    if (end->node.context.home() != nullptr) {
      EXPECT_GE(check_qp_home(end->node), GetParam().entries);
      EXPECT_GE(check_qp_rx_home(end->node), GetParam().entries);
      EXPECT_GE(check_qp_rows_home(end->node), 5 * GetParam().entries);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, QpCacheEndToEnd, few_rows_of_queues(), testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Objects, QpCacheEndToEnd,
                         testing::Values(FewRows{"OnePlace", 1, 1, HomeKind::kHost, 0, QpFetch::kObject},
                                         FewRows{"TwoSets", 4, 2, HomeKind::kHost, 0, QpFetch::kObject},
                                         FewRows{"OnePlaceOnBoard", 1, 1, HomeKind::kBoard, 0, QpFetch::kObject}),
                         testing::PrintToStringParamName());

// A wrong bit in a row that comes back: its queue pair is in error, and so is the peer's; the others go on.
struct LostFetch {
  unsigned number;
  QpFetch fetch = QpFetch::kHalf;
  abi::WrOpcode opcode = abi::WrOpcode::kRdmaWrite;
};
class LostQp : public LostRow, public testing::WithParamInterface<LostFetch> {
 protected:
  LostQp() : LostRow(FewRows{"", 1, 1, HomeKind::kHost, GetParam().number, GetParam().fetch}.of(&CachesConfig::qp)) {}
};
TEST_P(LostQp, EndsItsStreamAndNoOther) {
  post(GetParam().opcode, 4, 30, 300);
  expect_one_lost(4);
}
INSTANTIATE_TEST_SUITE_P(Fetches, LostQp,
                         testing::Values(LostFetch{60}, LostFetch{80}, LostFetch{100}, LostFetch{110}, LostFetch{120},
                                         LostFetch{60, QpFetch::kObject}, LostFetch{80, QpFetch::kObject},
                                         LostFetch{90, QpFetch::kObject}));
// The peer waits for a response that does not come.
INSTANTIATE_TEST_SUITE_P(FetchesOfReads, LostQp,
                         testing::Values(LostFetch{60, QpFetch::kHalf, abi::WrOpcode::kRdmaRead},
                                         LostFetch{90, QpFetch::kHalf, abi::WrOpcode::kRdmaRead},
                                         LostFetch{101, QpFetch::kHalf, abi::WrOpcode::kRdmaRead},
                                         LostFetch{111, QpFetch::kHalf, abi::WrOpcode::kRdmaRead},
                                         LostFetch{122, QpFetch::kHalf, abi::WrOpcode::kRdmaRead},
                                         LostFetch{60, QpFetch::kObject, abi::WrOpcode::kRdmaRead},
                                         LostFetch{80, QpFetch::kObject, abi::WrOpcode::kRdmaRead}));

// Without its home there is no queue pair; the home is not given back while there is one.
class QpHomeCommands : public TwoNodeBench {
 protected:
  QpHomeCommands() : TwoNodeBench({}, FewRows{"", 2, 2}.of(&CachesConfig::qp)) {}
  host::Qp* create(host::Cq* cq) {
    host::QpInitAttr attr;
    attr.pd = client.pd;
    attr.send_cq = attr.recv_cq = cq;
    attr.max_send_wr = attr.max_recv_wr = 16;
    return b.context.create_qp(attr);
  }
};
TEST_F(QpHomeCommands, AQueuePairNeedsItsHome) {
  host::Cq* cq = nullptr;
  host::Qp *first = nullptr, *second = nullptr, *third = nullptr;
  client.run([&] { cq = b.context.create_cq(128, host::CqMode::kPolled); });
  client.then([&] { return cq->ready(); });
  client.run([&] { first = create(cq); });
  client.then([&] { return first->ready(); });
  client.run([&] { b.context.release_home(); });
  client.wait_us(50);
  client.run([&] {
    EXPECT_TRUE(b.context.home()->failed());
    EXPECT_EQ(b.context.home()->status(), abi::CommandStatus::kBusy);
    b.context.destroy_qp(*first);
  });
  client.wait_us(50);
  client.run([&] { b.context.release_home(); });
  client.wait_us(50);
  client.run([&] {
    EXPECT_TRUE(b.context.home()->destroyed());
    second = create(cq);
  });
  client.then([&] { return second->failed(); });
  client.run([&] {
    EXPECT_EQ(second->status(), abi::CommandStatus::kNoHome);
    b.context.give_home();
    third = create(cq);
  });
  client.then([&] { return third->ready(); });
  run();
}

}  // namespace
}  // namespace rnic::test

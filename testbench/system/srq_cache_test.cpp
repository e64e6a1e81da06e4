// Shared receive queues that are not all on the chip.
#include "testbench/support/home_check.h"
#include "testbench/system/few_rows.h"
#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

// The server's streams take their receive requests from shared queues, in turn.
class SharedQueues : public TwoNodeBench {
 protected:
  static constexpr std::size_t kStreams = 9, kQueues = 6;
  static constexpr std::uint32_t kBytes = 64, kRequests = 64;  // of a queue
  using TwoNodeBench::TwoNodeBench;

  void set_up() {
    server.run([this] {
      for (std::size_t n = 0; n < kQueues; ++n) srqs.push_back(a.context.create_srq({server.pd, kRequests}));
      for (std::size_t n = 0; n < kStreams; ++n) {
        host::QpInitAttr attr;
        attr.pd = server.pd;
        attr.send_cq = attr.recv_cq = a.context.create_cq(256, host::CqMode::kPolled);
        attr.srq = srqs[n % kQueues];
        server.streams.push_back({attr.send_cq, a.context.create_qp(attr), {}, {}});
      }
    });
    server.then([this] { return server.streams.back().qp->ready() && server.mr->ready(); });
    for (std::size_t n = 0; n < kStreams; ++n) client.create(128);
    connect(kStreams);
  }
  // Into buffers of their own.
  void post_receives(std::size_t queue, std::uint64_t first, unsigned count) {
    for (std::uint64_t id = first; id < first + count; ++id) {
      EXPECT_EQ(srqs[queue]->post_recv(host::receive_request(id, host::part_of(*server.mr, buffer(queue, id), kBytes))),
                0);
    }
  }
  static std::uint32_t buffer(std::size_t queue, std::uint64_t id) {
    return static_cast<std::uint32_t>(queue * 128 + id % 128) * kBytes;
  }
  static std::uint8_t octet(std::size_t stream, std::uint64_t message, std::uint32_t i) {
    return static_cast<std::uint8_t>(37 * stream + 11 * message + i);
  }
  // On each stream that still can.
  void send(std::uint64_t message) {
    for (std::size_t n = 0; n < kStreams; ++n) {
      const auto at = static_cast<std::uint32_t>(n * 64 + message % 64) * kBytes;
      const MutableByteSpan octets = client.memory(at, kBytes);
      for (std::uint32_t i = 0; i < kBytes; ++i) octets[i] = octet(n, message, i);
      if (client.streams[n].qp->state() != host::QpState::kRts) continue;
      EXPECT_EQ(client.streams[n].qp->post_send(client.request(message, abi::WrOpcode::kSend, at, kBytes)), 0);
    }
  }
  // Each message that came is in the buffer that its completion names.
  void check_data(std::size_t stream) {
    std::uint64_t message = 0;
    for (const std::uint64_t id : server.streams[stream].succeeded()) {
      const MutableByteSpan got = server.memory(buffer(stream % kQueues, id), kBytes);
      for (std::uint32_t i = 0; i < kBytes; ++i) {
        ASSERT_EQ(got[i], octet(stream, message, i)) << "stream " << stream << " message " << message;
      }
      ++message;
    }
  }
  std::vector<host::Srq*> srqs;
};

class SrqCacheEndToEnd : public SharedQueues, public testing::WithParamInterface<FewRows> {
 protected:
  SrqCacheEndToEnd() : SharedQueues(GetParam().of(&CachesConfig::srq)) {}
};

// Two streams share each of the first three queues.
TEST_P(SrqCacheEndToEnd, EachMessageIsInTheBufferThatItsCompletionNames) {
  constexpr std::uint64_t kEach = 40;
  set_up();
  for (std::uint64_t round = 0; round < kEach / 8; ++round) {
    server.run([this, round] {
      for (std::size_t n = 0; n < kQueues; ++n) post_receives(n, 16 * round, n < kStreams - kQueues ? 16 : 8);
    });
    client.wait_us(20);
    client.run([this, round] {
      for (std::uint64_t m = 8 * round; m < 8 * round + 8; ++m) send(m);
    });
    const auto all_done = [round](const End& end) {
      return std::all_of(end.streams.begin(), end.streams.end(),
                         [round](const End::Stream& s) { return s.completions.size() == 8 * round + 8; });
    };
    client.then([this, all_done] { return all_done(client); });
    server.then([this, all_done] { return all_done(server); });
  }
  run();
  for (std::size_t n = 0; n < kStreams; ++n) {
    EXPECT_EQ(server.streams[n].succeeded().size(), kEach);
    EXPECT_EQ(client.streams[n].succeeded().size(), kEach);
    check_data(n);
  }
  EXPECT_GT(a.chip.contexts().srq_table.cache().counters().misses, 20u);
  const ContextHomeCounters& home = a.chip.context_home.counters();
  EXPECT_EQ(home.write_backs, 0u) << "nobody changes such a row";
  EXPECT_EQ(home.failed + home.corrupt, 0u);
  if (a.context.home() != nullptr) {
    EXPECT_EQ(check_srq_home(a), GetParam().entries);
  }
}
INSTANTIATE_TEST_SUITE_P(Sizes, SrqCacheEndToEnd, few_rows_of_queues(), testing::PrintToStringParamName());

// A wrong bit in a row that comes back: its queue is in error, and the streams that use it end at both ends. The others
// go on. Its number is used again.
class LostSrq : public SharedQueues, public testing::WithParamInterface<unsigned> {
 protected:
  LostSrq() : SharedQueues(FewRows{"", 1, 1, HomeKind::kHost, GetParam()}.of(&CachesConfig::srq)) {}
};
TEST_P(LostSrq, EndsTheStreamsThatUseItAndNoOther) {
  constexpr std::uint64_t kRounds = 6;
  set_up();
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    server.run([this, round] {
      for (std::size_t n = 0; n < kQueues; ++n) {
        if (!srqs[n]->in_error()) post_receives(n, 2 * round, 2);
      }
    });
    server.wait_us(40);
    client.wait_us(20);
    client.run([this, round] { send(round); });
    client.wait_us(20);
  }
  host::Srq* again = nullptr;
  std::size_t lost = kQueues;
  server.wait_us(300);
  server.run([&] {
    for (std::size_t n = 0; n < kQueues; ++n) {
      if (srqs[n]->in_error()) lost = n;
    }
    ASSERT_LT(lost, kQueues);
    EXPECT_EQ(srqs[lost]->post_recv(host::receive_request(0, host::part_of(*server.mr, 0, kBytes))), EINVAL);
    for (std::size_t n = lost; n < kStreams; n += kQueues) a.context.destroy_qp(*server.streams[n].qp);
    a.context.destroy_srq(*srqs[lost]);
  });
  server.wait_us(100);
  server.run([&] { again = a.context.create_srq({server.pd, kRequests}); });
  server.then([&] { return again->ready(); });
  server.run([&] { EXPECT_EQ(again->post_recv(host::receive_request(0, host::part_of(*server.mr, 0, kBytes))), 0); });
  server.wait_us(50);
  run();
  EXPECT_EQ(again->number().v, lost) << "as the queues were created in the order of their numbers";
  EXPECT_FALSE(again->in_error());
  EXPECT_EQ(a.chip.context_home.counters().corrupt, 1u);
  for (std::size_t n = 0; n < kStreams; ++n) {
    const bool ends = n % kQueues == lost;
    check_data(n);
    EXPECT_EQ(server.streams[n].succeeded().size() == kRounds, !ends) << n;
    EXPECT_EQ(server.streams[n].qp->state(), ends ? host::QpState::kError : host::QpState::kRts) << n;
    EXPECT_EQ(client.streams[n].qp->state(), ends ? host::QpState::kError : host::QpState::kRts) << n;
    const auto types = server.streams[n].event_types();
    EXPECT_EQ(std::count(types.begin(), types.end(), host::CmEventType::kQpError), ends ? 1 : 0) << n;
  }
  for (std::size_t n = 0; n < kQueues; ++n) EXPECT_EQ(srqs[n]->in_error(), n == lost);
}
INSTANTIATE_TEST_SUITE_P(Fetches, LostSrq, testing::Values(1, 2, 6, 7, 12, 19));

// Without its home there is no queue; the home is not given back while there is one.
class SrqHomeCommands : public TwoNodeBench {
 protected:
  SrqHomeCommands() : TwoNodeBench({}, FewRows{"", 2, 2}.of(&CachesConfig::srq)) {}
};
TEST_F(SrqHomeCommands, AQueueNeedsItsHome) {
  host::Srq *first = nullptr, *second = nullptr, *third = nullptr;
  client.run([&] { first = b.context.create_srq({client.pd, 16}); });
  client.then([&] { return first->ready(); });
  client.run([&] { b.context.release_home(); });
  client.wait_us(50);
  client.run([&] {
    EXPECT_TRUE(b.context.home()->failed());
    EXPECT_EQ(b.context.home()->status(), abi::CommandStatus::kBusy);
    b.context.destroy_srq(*first);
  });
  client.wait_us(50);
  client.run([&] { b.context.release_home(); });
  client.wait_us(50);
  client.run([&] {
    EXPECT_TRUE(b.context.home()->destroyed());
    second = b.context.create_srq({client.pd, 16});
  });
  client.then([&] { return second->failed(); });
  client.run([&] {
    EXPECT_EQ(second->status(), abi::CommandStatus::kNoHome);
    b.context.give_home();
    third = b.context.create_srq({client.pd, 16});
  });
  client.then([&] { return third->ready(); });
  run();
}

}  // namespace
}  // namespace rnic::test

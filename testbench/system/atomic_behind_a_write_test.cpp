// RFC 7306 section 5.4, rule 5, while other streams' atomics hit the same word all the time: a stream that releases a
// lock with a Write sees that Write in its own next atomic.
#include <array>

#include "model/common/bytes.h"
#include "testbench/system/two_node_bench.h"

namespace rnic::test {
namespace {

class AtomicBehindAWrite : public TwoNodeBench {
 protected:
  static constexpr std::size_t kPollers = 6, kReleaser = kPollers;
  static constexpr std::size_t kDeep = 12;
  static constexpr std::uint64_t kRounds = 120;
  static constexpr std::uint32_t kWord = 64;  // offset of the word at the server

  host::SendWr at_the_word(std::uint64_t id, abi::WrOpcode opcode, std::uint32_t local) const {
    host::SendWr wr = client.request(id, opcode, local, 8);
    wr.remote_addr = server.address + kWord;
    wr.rkey = server.mr->rkey();
    return wr;
  }
  // CmpSwaps that never match, enough of them on each stream that one is always at the word.
  void poll() {
    for (std::size_t n = 0; n < kPollers; ++n) {
      while (posted_[n] < client.streams[n].completions.size() + kDeep) {
        host::SendWr wr = at_the_word(1, abi::WrOpcode::kCmpSwap, static_cast<std::uint32_t>(1024 + 8 * n));
        wr.atomic.compare_add = ~std::uint64_t{0};
        EXPECT_EQ(client.streams[n].qp->post_send(wr), 0);
        ++posted_[n];
      }
    }
  }
  std::uint64_t local(std::uint32_t offset) { return load_le64(client.memory(offset, 8).data()); }

  std::array<std::size_t, kPollers> posted_{};
  std::uint64_t round_ = 0, asked_ = 0, begin_ps_ = 0, stale_ = 0;
};

TEST_F(AtomicBehindAWrite, SeesIt) {
  server.access = client.access = abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead | abi::kRemoteAtomic;
  for (std::size_t n = 0; n <= kReleaser; ++n) server.create(32), client.create(32);
  connect(kReleaser + 1);
  client.then([this] {
    End::Stream& releaser = client.streams[kReleaser];
    poll();
    if (releaser.completions.size() < 2 * round_) return false;
    if (asked_ != round_) {  // once per round; the next one begins somewhere among the polls
      stale_ += local(8) != round_;
      asked_ = round_;
      begin_ps_ = client.core.time_ps() + 53'000 * round_ % 4'000'000;
    }
    if (round_ == kRounds) return true;
    client.core.wake_at(begin_ps_);
    if (client.core.time_ps() < begin_ps_) return false;
    ++round_;
    store_le64(client.memory(0, 8).data(), round_);
    EXPECT_EQ(releaser.qp->post_send(at_the_word(2, abi::WrOpcode::kRdmaWrite, 0)), 0);
    EXPECT_EQ(releaser.qp->post_send(at_the_word(3, abi::WrOpcode::kFetchAdd, 8)), 0);  // adds 0
    return false;
  });
  run();
  EXPECT_EQ(stale_, 0u) << "of " << kRounds << " atomics told an older value than the Write before them";
  const AtomicAluCounters& counters = a.chip.atomic_alu.counters();
  EXPECT_GT(counters.forwarded, 5 * kRounds);
  EXPECT_GT(counters.held_up, kRounds / 2);
}

}  // namespace
}  // namespace rnic::test

// Streams of which one loses a row of a context: a wrong bit in what comes back from its home.
#pragma once

#include "testbench/system/few_rows.h"
#include "testbench/system/two_node_bench.h"

namespace rnic::test {

class LostRow : public TwoNodeBench {
 protected:
  static constexpr std::size_t kStreams = 24;
  explicit LostRow(const NodeConfig& of_client) : TwoNodeBench({}, of_client) {}

  // A request of 64 octets on each stream that still can, so often, so far apart; then time for what has to be noticed.
  void post(abi::WrOpcode opcode, std::uint64_t rounds, std::uint64_t apart_us, std::uint64_t rest_us) {
    for (std::size_t n = 0; n < kStreams; ++n) client.create(32), server.create(32);
    connect(kStreams);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      client.run([this, opcode, round] {
        for (End::Stream& stream : client.streams) {
          host::SendWr wr = client.request(round, opcode, 0, 64);
          wr.remote_addr = server.address;
          wr.rkey = server.mr->rkey();
          if (stream.qp->state() == host::QpState::kRts) {
            EXPECT_EQ(stream.qp->post_send(wr), 0);
          }
        }
      });
      client.wait_us(apart_us);
    }
    client.wait_us(rest_us);
    run();
  }
  // One stream is in error at both ends; the others have completed all, and none has a hole.
  void expect_one_lost(std::uint64_t rounds) {
    EXPECT_EQ(b.chip.context_home.counters().corrupt, 1u);
    unsigned ended = 0;
    for (std::size_t n = 0; n < kStreams; ++n) {
      const End::Stream& mine = client.streams[n];
      const std::vector<std::uint64_t> ids = mine.succeeded();
      for (std::uint64_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], i) << "no hole";
      const bool lost = mine.qp->state() == host::QpState::kError;
      ended += lost;
      EXPECT_EQ(server.streams[n].qp->state(), lost ? host::QpState::kError : host::QpState::kRts) << n;
      EXPECT_EQ(ids.size() == rounds, !lost);
    }
    EXPECT_EQ(ended, 1u);
  }
};

}  // namespace rnic::test

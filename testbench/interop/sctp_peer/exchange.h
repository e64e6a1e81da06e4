// The far end's work in an open session: both parts of `echo` and of `rping`, as described in
// model/programs/consumer/consumer.md. Every octet that comes back is compared; rping's server also compares what it
// reads.
#pragma once

#include <functional>

#include "testbench/interop/sctp_peer/options.h"
#include "testbench/interop/sctp_peer/rdma.h"

namespace far_end {

class Exchange {
 public:
  // `round_done` is called after each round of a client.
  Exchange(Rdma& rdma, const Options& options, std::function<void(std::uint32_t)> round_done)
      : rdma_(rdma), options_(options), round_done_(std::move(round_done)) {}

  void run();  // throws Ended on any mismatch
  std::uint32_t rounds() const { return rounds_; }

 private:
  struct Note {
    std::uint32_t operation = 0, number = 0, size = 0, stag = 0;
    std::uint64_t address = 0;
  };

  void echo_client();
  void echo_server();
  void echo_round(const Note& server);
  void rping_client();
  void rping_server();

  void tell(const Note& note, std::optional<std::uint32_t> invalidate = std::nullopt);
  Note hear(const Bytes& message);
  void tell_rping(std::uint64_t address, std::uint32_t stag, std::uint32_t size);
  Bytes wanted();  // the next Send, which must come
  void done();

  Rdma& rdma_;
  const Options& options_;
  const std::function<void(std::uint32_t)> round_done_;
  Bytes source_, sink_;
  std::uint32_t rounds_ = 0;
};

}  // namespace far_end

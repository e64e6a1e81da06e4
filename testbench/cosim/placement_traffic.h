// Random messages for ddp_placement: those that real peers send, with an error in every tenth segment.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "testbench/cosim/placement_bench.h"
#include "testbench/support/contexts.h"

namespace rnic::test {

class PlacementTraffic {
 public:
  static constexpr unsigned kQps = 8, kSegments = 60;
  static constexpr Srqn kSrq{1};
  static constexpr bool is_sctp(std::uint32_t n) { return n == 1 || n == 2; }  // the others use MPA
  static ContextStore::Sizes sizes() { return {kQps, kQps, 1, 32, 2, 64}; }

  explicit PlacementTraffic(Prng& rng) : rng_(rng), streams_(kQps) {}
  // Without what no neighbour in a chip does: answers to what was not handed on, messages about queue pairs that are
  // not there, uses that follow one another at once.
  PlacementTraffic& as_in_a_chip() {
    is_chip_ = true;
    return *this;
  }
  PlacementRound round();

 private:
  struct Buffer {
    abi::Wqe wqe;
    std::uint64_t bytes = 0;
  };
  struct Read {
    ReadIssued issued;
    std::uint32_t done = 0;
  };
  // The state known to a queue pair's peer.
  struct Stream {
    QpContext qp;  // as written last
    std::uint32_t epoch = 0;
    bool over = true;
    bool ended = false;
    std::uint8_t version = 1;
    bool extended = true, shares = false;
    std::uint32_t msn[4] = {1, 1, 1, 1};
    std::optional<Buffer> into;  // for the Send in progress
    wire::Opcode opcode = wire::Opcode::kSend;
    std::uint32_t mo = 0;
    std::uint32_t producer = 0;
    std::deque<Buffer> posted;
    std::deque<Read> reads;
  };

  bool once_in(unsigned n) { return rng_.below(n) == 0; }
  template <class T, std::size_t N>
  T one_of(const T (&choices)[N]) {
    return choices[rng_.below(N)];
  }
  std::uint32_t payload(std::uint64_t most);
  std::uint32_t chunk(std::uint64_t left);
  abi::Sge element();
  Buffer buffer();

  void contexts(PlacementRound& r);
  void open(PlacementRound& r, std::uint32_t n);
  void post(PlacementRound& r, std::uint32_t n);
  void post_shared(PlacementRound& r);
  void ask(PlacementRound& r, std::uint32_t n);
  void disturb(PlacementRound& r, std::uint32_t n);

  Bytes segment(std::uint32_t n);
  PlacementRound::Fpdu end(std::uint32_t n);
  Bytes tagged(const Stream& s, wire::Opcode op, std::uint32_t stag, std::uint64_t to, std::uint32_t bytes, bool last);
  Bytes untagged(Stream& s, wire::Opcode op, const Bytes& message, bool last, std::uint32_t mo = 0,
                 std::uint32_t stag = 0);
  Bytes write(std::uint32_t n);
  Bytes read_response(Stream& s);
  Bytes send(std::uint32_t n);
  Bytes single(std::uint32_t n, wire::Opcode op, std::size_t bytes);
  Bytes terminate(Stream& s);
  void harm(Bytes& ulpdu);

  Prng& rng_;
  bool is_chip_ = false;
  std::vector<Stream> streams_;
  std::deque<Buffer> shared_;
  std::uint32_t shared_epoch_ = 0, shared_producer_ = 0;
  std::uint64_t next_wr_id_ = 1;
};

}  // namespace rnic::test

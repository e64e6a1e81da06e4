// The content of a receiver's SACK options: the runs of octets received out of order, the latest first (RFC 2018
// section 4).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "model/wire/tcp.h"

namespace rnic::tcp {

class SackList {
 public:
  bool empty() const { return runs_ == 0; }

  // A segment became part of `run`, which goes first; an empty run only updates RCV.NXT. Runs reported before follow,
  // except those that are part of it, or that the cumulative acknowledgement covers.
  void note(const wire::SackBlock& run, std::uint32_t rcv_nxt) {
    const std::array<wire::SackBlock, wire::TcpOptions::kMaxSackBlocks> reported = blocks_;
    const std::uint8_t before = std::exchange(runs_, std::uint8_t{0});
    const bool any = run.left != run.right;
    if (any && wire::seq_gt(run.right, rcv_nxt)) blocks_[runs_++] = run;
    for (std::uint8_t i = 0; i < before && runs_ < blocks_.size(); ++i) {
      const wire::SackBlock& old = reported[i];
      const bool part = any && wire::seq_ge(old.left, run.left) && wire::seq_le(old.right, run.right);
      if (!part && wire::seq_gt(old.left, rcv_nxt)) blocks_[runs_++] = old;
    }
  }

  // As many as fit next to the options that are present.
  void write(wire::TcpOptions& options) const {
    options.sack = blocks_;
    options.sack_blocks = std::min<std::size_t>(runs_, options.timestamps ? 3 : 4);
  }

  static constexpr const char* kMessage = "sack_list";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v.each("blocks", m.blocks_);
    v("runs", 3, m.runs_);
  }

 private:
  std::array<wire::SackBlock, wire::TcpOptions::kMaxSackBlocks> blocks_;
  std::uint8_t runs_ = 0;  // valid ones of blocks_
};

}  // namespace rnic::tcp

// Writes of other parts of the chip to host memory, as atomic_alu hears of them.
#pragma once

#include <cstdint>

#include "model/common/ring.h"
#include "model/golden/host_write.h"
#include "model/rnic/context/word_watch.h"
#include "model/scoreboard/stage_board.h"
#include "model/scoreboard/structure.h"

namespace rnic::scoreboard {

// A write is on the bus before the read of a request that is taken in its cycle, so this is added before the port of
// requests.
class OtherWrites final : public StagePort, private WriteObserver {
 public:
  OtherWrites(StageBoard& board, WordWatch& words, unsigned number) : board_(board), words_(words), number_(number) {
    words.be_observed_by(this);
  }
  ~OtherWrites() override { words_.be_observed_by(nullptr); }
  OtherWrites(const OtherWrites&) = delete;
  OtherWrites& operator=(const OtherWrites&) = delete;

  Cycle oldest() const override { return writes_.empty() ? kNever : writes_.front().cycle; }
  void hand_over() override {
    Write& write = writes_.front();
    board_.accepted(number_, structure_.of(write.what), write.cycle, {});
    writes_.drop();
  }
  void tell_stall(Cycle) override {}
  bool empty() const override { return true; }

 private:
  struct Write {
    golden::HostWrite what;
    Cycle cycle = 0;
  };
  void written(std::uint64_t address, std::uint32_t bytes) override {
    writes_.push({{address, bytes}, board_.stage().clock().now()});
    board_.moved();
  }

  StageBoard& board_;
  WordWatch& words_;
  const unsigned number_;
  Ring<Write> writes_;
  Structure<golden::HostWrite> structure_;
};

}  // namespace rnic::scoreboard

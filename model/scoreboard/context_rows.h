// The rows of a chip's contexts that a board's predictor looks up.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/common/ring.h"
#include "model/rnic/context/context.h"
#include "model/rnic/context/context_observer.h"
#include "model/scoreboard/stage_board.h"

namespace rnic::scoreboard {

// A row counts from the cycle on in which stages find it. The board gets it before what moves in that cycle, so this is
// added before the ports; and once, though several parts of the chip may write it.
class ContextRows final : public StagePort, private ContextObserver {
 public:
  // Of the library's kinds.
  enum Tables : unsigned { kQp = 1, kStags = 2, kSrq = 4 };  // kStags: with the pages of their lists

  // The board gets the rows that are there as well.
  ContextRows(StageBoard& board, ContextStore& contexts, unsigned tables);
  ~ContextRows() override { contexts_.forget(*this); }
  ContextRows(const ContextRows&) = delete;
  ContextRows& operator=(const ContextRows&) = delete;

  Cycle oldest() const override { return changes_.empty() ? kNever : changes_.front().cycle; }
  void hand_over() override;
  void tell_stall(Cycle) override {}
  bool empty() const override { return true; }

 private:
  using Image = std::vector<std::uint8_t>;  // of a row as a C structure
  struct Table {
    const char* name;
    Image blank;                                    // as in the beginning
    std::unordered_map<std::uint32_t, Image> told;  // of those that were written
  };
  struct Change {
    Cycle cycle = 0;
    const char* table = nullptr;
    std::uint32_t index = 0;
    Image row;
  };
  void wrote(Qpn n, const QpContext& c) override;
  void wrote(Srqn n, const SrqContext& c) override;
  void wrote_stag(std::uint32_t index, const StagContext& c) override;
  void wrote_page(std::uint32_t index, std::uint64_t bus_address) override;
  void emptied() override;
  template <class Row>
  void note(Table& table, std::uint32_t index, const Row& row);

  StageBoard& board_;
  ContextStore& contexts_;
  const unsigned tables_;
  Table qps_, stags_, pages_, srqs_;
  Ring<Change> changes_;
};

// The sizes of these tables as members of a JSON object.
std::string context_settings(const ContextStore& contexts, unsigned tables);

}  // namespace rnic::scoreboard

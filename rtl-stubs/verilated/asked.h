// What a block has asked others for, and what others wait for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/common/ids.h"
#include "model/common/table.h"
#include "model/rnic/context/tables.h"

namespace rnic::rtl {

// Rows of one reader: asked for, and not used yet.
class AskedRows {
 public:
  // In each cycle. `uses`: it drops or keeps the row in front.
  void note(bool asks, bool uses) {
    count_ += asks;
    count_ -= uses;
  }
  // The next one is not there yet.
  bool awaited(const TableReader& reader) const { return count_ != 0 && !reader.can_use(); }

 private:
  std::size_t count_ = 0;
};

// Messages about queue pairs whose outcome is not there yet. Those of a queue pair that is gone have none.
class OpenMessages {
 public:
  explicit OpenMessages(const ContextTables& contexts) : contexts_(contexts), of_(contexts.qps()) {}
  void open(Qpn qpn, std::uint32_t epoch) {
    if (qpn.v >= of_.size()) return;
    if (of_[qpn.v].epoch != epoch) of_[qpn.v] = {epoch, 0};
    ++of_[qpn.v].count;
  }
  void close(Qpn qpn, std::uint32_t epoch) {
    if (qpn.v < of_.size() && of_[qpn.v].epoch == epoch && of_[qpn.v].count != 0) --of_[qpn.v].count;
  }
  // Its stream is over.
  void end(Qpn qpn) {
    if (qpn.v < of_.size()) of_[qpn.v].count = 0;
  }
  std::size_t count() const {
    std::size_t sum = 0;
    for (std::uint32_t i = 0; i < of_.size(); ++i) {
      if (of_[i].count == 0) continue;
      const QpLife life = contexts_.life(Qpn{i});
      if (life.valid && life.epoch == of_[i].epoch) sum += of_[i].count;
    }
    return sum;
  }

 private:
  struct Queue {
    std::uint32_t epoch = 0, count = 0;
  };
  const ContextTables& contexts_;
  std::vector<Queue> of_;  // by number
};

}  // namespace rnic::rtl

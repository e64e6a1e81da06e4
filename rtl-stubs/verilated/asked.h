// What a block has asked others for.
#pragma once

#include <cstddef>

#include "model/common/table.h"

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

}  // namespace rnic::rtl

// 64-bit numbers for the request ids in one file.
#pragma once

#include <cstdint>
#include <map>

#include "model/common/request_id.h"

namespace rnic {

// An id's packed number. Ids of nodes too high for one are numbered from 1 on as they come, below any packed number.
class RequestNumbers final {
 public:
  // 0: none.
  std::uint64_t of(RequestId id) {
    return id.packs() ? id.packed() : others_.try_emplace(id, others_.size() + 1).first->second;
  }
  static bool packed(std::uint64_t number) { return number >> RequestId::kPlaceBits != 0; }

 private:
  std::map<RequestId, std::uint64_t> others_;
};

}  // namespace rnic

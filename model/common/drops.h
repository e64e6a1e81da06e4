// What a stage discards without effect, for observers. Free without listeners.
#pragma once

#include <cstdint>

#include "model/common/cycle.h"
#include "model/common/request_id.h"

namespace rnic {

class DropTap {
 public:
  // `why` is a text that stays valid.
  virtual void dropped(Cycle at, RequestId owner, std::uint32_t bytes, const char* why) = 0;

 protected:
  ~DropTap() = default;
};

// A stage's side.
class Drops {
 public:
  void tap(DropTap& tap) { tap_ = &tap; }
  void operator()(Cycle at, RequestId owner, std::uint32_t bytes, const char* why) const {
    if (tap_ != nullptr) tap_->dropped(at, owner, bytes, why);
  }

 private:
  DropTap* tap_ = nullptr;
};

}  // namespace rnic

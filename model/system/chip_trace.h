// The stations of a work request in one device, as trace events.
#pragma once

#include <memory>
#include <vector>

#include "model/common/description.h"
#include "model/trace/event.h"

namespace rnic {

class ChipTrace final {
 public:
  // Events go to the recorder while a sink is attached. The parts must outlive this.
  ChipTrace(const Described& parts, const Recorder& recorder);
  ~ChipTrace();

 private:
  struct Observers;
  const std::unique_ptr<Observers> observers_;
};

}  // namespace rnic

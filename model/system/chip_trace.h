// The stations of a work request in one chip, as trace events.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/trace/event.h"

namespace rnic {

class Rnic;

class ChipTrace final {
 public:
  // Observes the links that rnic.cpp has `traced_as` something; events go to the recorder while a sink is attached.
  ChipTrace(Rnic& chip, const Recorder& recorder);
  ~ChipTrace();

 private:
  struct Observers;
  const std::unique_ptr<Observers> observers_;
};

// The meaning of the numbers of a chip's event, if it differs from their names.
std::string trace_words(const TraceEvent& event);

}  // namespace rnic

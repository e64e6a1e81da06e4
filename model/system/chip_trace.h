// The stations of a work request in one chip, as trace events.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/host/driver/host_cpu.h"
#include "model/rnic/context/context.h"
#include "model/trace/event.h"

namespace rnic {

class Rnic;

class ChipTrace final {
 public:
  // Observes the links that rnic.cpp has `traced_as` something; events go to the recorder while a sink is attached.
  ChipTrace(Rnic& chip, const Recorder& recorder);
  ~ChipTrace();

 private:
  class DropTrace;
  class FetchTrace;
  class SharedFetchTrace;
  struct Observers;
  void observe_takes(Rnic& chip, const Recorder& recorder);

  const std::unique_ptr<Observers> observers_;
};

// Work requests as a host's programs post them and see them complete.
class HostTrace final : public host::WorkObserver {
 public:
  // The recorder's period is 1 ps: a core's time lies on no clock edge. It has detailed sinks only.
  HostTrace(host::HostCpu& cpu, const ContextStore& contexts, const Recorder& recorder);
  void posted(Qpn qpn, std::uint64_t first, unsigned count, std::uint64_t at_ps) override;
  void posted(Rqn rqn, std::uint64_t first, unsigned count, std::uint64_t at_ps) override;
  void rang(Qpn qpn, std::uint32_t producer, std::uint64_t at_ps) override;
  void polled(Qpn qpn, bool receive, std::uint64_t wr_id, std::uint64_t at_ps) override;

 private:
  void record(TraceKind kind, std::uint32_t qpn, RequestId id, std::uint64_t at_ps, std::uint32_t value = 0) const;
  host::HostCpu& cpu_;
  const ContextStore& contexts_;
  const Recorder& recorder_;
};

// The meaning of the numbers of a chip's event, if it differs from their names.
std::string trace_words(const TraceEvent& event);

}  // namespace rnic

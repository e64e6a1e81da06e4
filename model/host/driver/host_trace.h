// A host's work requests as trace events.
#pragma once

#include <deque>
#include <string>

#include "model/common/owners.h"
#include "model/host/driver/host_cpu.h"
#include "model/trace/event.h"

namespace rnic::host {

// Work requests as a host's programs post them and see them complete.
class HostTrace final : public WorkObserver {
 public:
  // The recorder's period is 1 ps: a core's time is at no clock edge. It has detailed sinks only.
  HostTrace(HostCpu& cpu, const Owners& owners, const Recorder& recorder);
  void posted(Qpn qpn, std::uint64_t first, unsigned count, std::uint64_t at_ps) override;
  void posted(Rqn rqn, std::uint64_t first, unsigned count, std::uint64_t at_ps) override;
  void rang(Qpn qpn, std::uint32_t producer, std::uint64_t at_ps) override;
  void polled(Qpn qpn, bool receive, std::uint64_t wr_id, std::uint64_t at_ps) override;
  void worked(std::uint32_t core, std::uint64_t from_ps, std::uint64_t to_ps) override;
  RequestId owner(Qpn qpn, bool receive, std::uint64_t number) const override;
  void spoiled(RequestId owner, const Spoiled& how, std::uint64_t at_ps) override;
  void seen(Qpn qpn, RequestId sent, std::uint32_t message, std::uint64_t at_ps) override;
  void differs(Qpn qpn, RequestId sent, std::uint32_t message, Difference d, std::uint64_t at_ps) override;

 private:
  void record(TraceKind kind, std::uint32_t qpn, RequestId id, std::uint64_t at_ps, std::uint32_t value = 0) const;
  HostCpu& cpu_;
  const Owners& owners_;
  const Recorder& recorder_;
  std::deque<std::string> cores_;  // their places; they stay where they are
};

}  // namespace rnic::host

// How many work requests of all queue pairs may be outstanding, begun and not complete, and which queue pair is next
// when no more may. See outstanding_requests.md.
#pragma once

#include "model/common/part.h"
#include "model/common/shared_room.h"

namespace rnic {

struct OutstandingRequestsCounters : SharedRoomCounters {
  template <class V>
  static void fields(V& v) {
    v("requests_max", &OutstandingRequestsCounters::records_max, "requests",
      "most work requests outstanding at a time");
    v("waits", &OutstandingRequestsCounters::waits, "requests",
      "work requests that found no place when they were to begin");
    v("wait_cycles", &OutstandingRequestsCounters::wait_cycles, "cycles",
      "for how long queue pairs waited until they were called");
  }
};

// A work request takes its place when it begins, and gives it back when sq_completion retires it. The queue pairs that
// have requests outstanding have parts of equal size.
class OutstandingRequests final : public SharedRoom<Qpn>, public Part {
 public:
  OutstandingRequests(ClockDomain& clk, std::uint32_t requests, std::size_t qps)
      : SharedRoom(clk, {requests, requests}, Qpn{}, qps, 1, Sharers::kHolders, counters_) {}

  bool admits(Qpn qpn) const { return SharedRoom::admits(qpn, 1); }
  void take(Qpn qpn) { SharedRoom::take(qpn, 1); }
  void wait(Qpn qpn) { SharedRoom::wait(qpn, qpn, 1); }
  // A request that ends without a turn, as its queue pair's row is lost, does not wait.
  void keep(Qpn qpn) { SharedRoom::keep(qpn, 1, 1); }
  void give_back(Qpn qpn, std::uint32_t requests = 1) { SharedRoom::give_back(qpn, requests, requests); }

  const OutstandingRequestsCounters& counters() const { return counters_; }
  void describe(const Description& d) override;

 private:
  OutstandingRequestsCounters counters_;
};

}  // namespace rnic

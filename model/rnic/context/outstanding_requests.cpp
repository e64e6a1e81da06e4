#include "model/rnic/context/outstanding_requests.h"

#include "model/common/description.h"

namespace rnic {

void OutstandingRequests::describe(const Description& d) {
  d.counters(counters_);
  const auto level = [&](const char* key, auto read, const char* text) {
    d.stats().derived(
        key, [read] { return static_cast<double>(read()); }, "requests", text);
  };
  level(
      "requests", [this] { return whole().records; }, "that may be outstanding");
  level(
      "requests_used", [this] { return used().records; }, "outstanding at the end of the run");
}

}  // namespace rnic

// Where a lower layer keeps what the firmware says of its flows: in the rows of its own tables.
#pragma once

#include <cstdint>

#include "model/abi/context_types.h"

namespace rnic {

// A queue pair in one use of its number.
struct QpUse {
  Qpn qpn = {};
  std::uint32_t epoch = 0;

  static QpUse of(const FlowContext& c) { return {c.qpn, c.qp_epoch}; }

  static constexpr const char* kMessage = "qp_use";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("epoch", 32, m.epoch);
  }
};

class FlowRows {
 public:
  // By the firmware; visible from the next cycle on.
  virtual void write(FlowId flow, const FlowContext& c) = 0;
  // For observers, which are no hardware.
  virtual QpUse peek(FlowId flow) const = 0;

 protected:
  ~FlowRows() = default;
};

}  // namespace rnic

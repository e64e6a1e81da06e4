// Retires send work requests in posting order: Sends and Writes when TCP has acknowledged them, Reads when their data
// is placed (RFC 5040 section 5.5). See sq_completion.md.
#pragma once

#include <vector>

#include "model/common/link.h"
#include "model/common/node_pool.h"
#include "model/rnic/completion/cqe.h"
#include "model/rnic/context/context.h"
#include "model/rnic/llp/tcp_types.h"

namespace rnic {

class SqCompletion final : public Stage {
 public:
  PopPort<WqeIssued> issued{*this, "issued"};
  PopPort<WqesAcked> acked{*this, "acked"};
  PopPort<ReadDone> read_done{*this, "read_done"};
  PushPort<CqeRequest> cqe{*this, "cqe"};

  SqCompletion(sc_core::sc_module_name nm, ClockDomain& clk, const ContextStore& contexts)
      : Stage(nm, clk), contexts_(contexts), qps_(contexts.qps()) {}
  Wake tick() override;
  std::string waiting_for() const override;

 private:
  struct QpSq {
    std::uint32_t epoch = 0;
    PooledQueue outstanding;
    std::uint32_t acked = 0;  // Sends and Writes acknowledged, not yet retired
    std::uint32_t read = 0;   // Reads complete, not yet retired
    bool listed = false;
  };
  QpSq& qp(Qpn qpn);
  bool retirable(const QpSq& q) const;
  void list(Qpn qpn);
  void retire(Qpn qpn);

  const ContextStore& contexts_;
  std::vector<QpSq> qps_;
  NodePool<WqeIssued> pool_;
  NodePool<Qpn> list_pool_;
  PooledQueue listed_;
};

}  // namespace rnic

// Writes completion queue entries into host memory and notifies armed queues. See cqe_writer.md.
#pragma once

#include <vector>

#include "model/common/link.h"
#include "model/rnic/completion/cqe.h"
#include "model/rnic/context/context.h"
#include "model/rnic/dma.h"
#include "model/rnic/pcie/doorbells.h"
#include "model/stats/registry.h"

namespace rnic {

class CqeWriter final : public Stage {
 public:
  PopPort<CqeRequest> receive{*this, "receive"};  // from rdmap_dispatch
  PopPort<CqeRequest> send{*this, "send"};        // from sq_completion
  PopPort<CqArm> arm{*this, "arm"};
  PushPort<DmaWriteRequest> dma{*this, "dma"};
  PushPort<CqNotify> notify{*this, "notify"};

  CqeWriter(sc_core::sc_module_name nm, ClockDomain& clk, const ContextStore& contexts)
      : Stage(nm, clk), contexts_(contexts), cqs_(contexts.cqs()) {}
  Wake tick() override;
  void register_stats(const StatsGroup& group) const;
  const Counter& stray_doorbells() const { return stray_doorbells_; }

 private:
  static constexpr std::uint32_t kConsumerMask = 0x7ff;  // of CqArm::consumer
  struct Cq {
    std::uint32_t epoch = 0;
    std::uint32_t produced = 0;
    std::uint32_t last_solicited = 0;  // value of `produced` after the newest solicited entry
    bool armed = false, solicited_only = false;
  };
  Cq& cq(Cqn cqn);
  void write(const CqeRequest& r);
  void rearm(const CqArm& a);

  const ContextStore& contexts_;
  std::vector<Cq> cqs_;
  BufferPool buffers_{abi::kCqeBytes};
  bool send_turn_ = false;
  Counter cqes_, notifications_, stray_doorbells_;
};

}  // namespace rnic

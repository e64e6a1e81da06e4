// Fetches the payload of ULPDUs into their buffers, many at a time, and passes them on in order. See payload_fetch.md.
#pragma once

#include <cstdint>
#include <vector>

#include "model/common/account.h"
#include "model/common/link.h"
#include "model/config/field.h"
#include "model/rnic/llp/transmit_memory.h"
#include "model/rnic/messages/completion.h"
#include "model/rnic/messages/dma.h"
#include "model/rnic/messages/per_llp.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/tx/ulpdu_job.h"
#include "model/wire/rdmap.h"

namespace rnic {

struct PayloadFetchConfig {
  unsigned jobs = 32;
  template <class V>
  static void fields(V& v) {
    v("jobs", &PayloadFetchConfig::jobs, "ULPDUs whose payload is being read: covers the PCIe round trip",
      in_range(1, 256), unit("ULPDUs"));
  }
};

struct PayloadFetchCounters {
  std::uint64_t ulpdus = 0, failed = 0, dropped = 0;
  template <class V>
  static void fields(V& v) {
    v("ulpdus", &PayloadFetchCounters::ulpdus, "ULPDUs", "ULPDUs passed on, to the framer or to SCTP");
    v("failed", &PayloadFetchCounters::failed, "ULPDUs", "ULPDUs whose payload could not be read from host memory");
    v("dropped", &PayloadFetchCounters::dropped, "ULPDUs", "ULPDUs after a failed one of their stream");
  }
};

class PayloadFetch final : public Stage {
 public:
  PopPort<UlpduJob> in{*this, "in"};
  PushPort<DmaReadRequest> dma{*this, "dma"};
  PopPort<DmaReadDone> dma_done{*this, "dma_done"};
  PerLlp<PushPort<Ulpdu>> out{*this, "out"};
  PushPort<QpEvent> event{*this, "event"};
  PushPort<WqeLost> lost{*this, "lost"};

  PayloadFetch(sc_core::sc_module_name nm, ClockDomain& clk, std::size_t qps, const PayloadFetchConfig& cfg)
      : Stage(nm, clk), slots_(cfg.jobs), jobs_(cfg.jobs), broken_(qps) {}
  // Where a lower layer keeps its segments: those that are dropped here give their room back.
  void keep_in(LlpId llp, llp::TransmitMemory& memory) { memories_[llp] = &memory; }
  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const PayloadFetchCounters& counters() const { return counters_; }
  // A ULPDU waits while all are taken and the oldest one's payload is still being read.
  Account& jobs() { return jobs_; }

 private:
  struct Slot {
    Ulpdu ulpdu;
    Qpn qpn;
    std::uint32_t epoch = 0;
    std::uint16_t octets = 0;  // of the transmit memory
    unsigned open = 0;         // reads not answered yet
    bool ok = true;
  };
  static constexpr std::uint32_t kIntact = ~0u;  // no epoch gets so far
  // The epoch in which a QP's stream lost octets, and where the first of them would have been.
  struct Broken {
    std::uint32_t epoch = kIntact;
    std::uint16_t position = 0;
  };
  bool lost_octets(const Slot& slot) const { return broken_[slot.qpn.v].epoch == slot.epoch; }
  // A stream that lost octets must not continue: the peer would take later data for the missing part. Its Terminate
  // reports that, and passes: it comes where they would have been.
  bool dropped(const Slot& slot) const { return lost_octets(slot) && !is_terminate(slot.ulpdu); }
  static bool is_terminate(const Ulpdu& ulpdu) {
    return wire::RdmapControl::opcode(ulpdu.buf->bytes()[Ulpdu::kOffset + 1]) == wire::Opcode::kTerminate;
  }
  // Reads of the newest job are still to be requested.
  bool requesting() const { return requested_ != current_.pieces; }
  bool accept();
  bool hand_on();
  void give_back(const Slot& slot);
  void move(Slot& slot, std::uint16_t position);

  std::vector<Slot> slots_;  // a ring in order of arrival
  unsigned first_ = 0, used_ = 0;
  Account jobs_;
  UlpduJob current_;  // its pieces are requested one per cycle
  unsigned requested_ = 0;
  std::uint32_t offset_ = 0;
  std::vector<Broken> broken_;  // by QP
  PerLlp<llp::TransmitMemory*> memories_{nullptr, nullptr};
  PayloadFetchCounters counters_;
};

}  // namespace rnic

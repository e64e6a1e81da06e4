// Writes completion queue entries into host memory and notifies armed queues. See cqe_writer.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/common/link.h"
#include "model/common/timer_wheel.h"
#include "model/rnic/context/context.h"
#include "model/rnic/messages/completion.h"
#include "model/rnic/messages/dma.h"
#include "model/rnic/messages/doorbells.h"

namespace rnic {

struct CqeWriterCounters {
  std::uint64_t cqes = 0, stray_doorbells = 0, overruns = 0, lost = 0, notifications = 0;
  template <class V>
  static void fields(V& v) {
    v("cqes", &CqeWriterCounters::cqes, "CQEs", "completion queue entries written");
    v("stray_doorbells", &CqeWriterCounters::stray_doorbells, "doorbells",
      "arm doorbells for a CQ that does not exist, dropped");
    v("overruns", &CqeWriterCounters::overruns, "CQs", "completion queues that overran");
    v("lost", &CqeWriterCounters::lost, "CQEs", "entries lost after a completion queue overran");
    v("notifications", &CqeWriterCounters::notifications, "events", "armed completion queues that were notified");
  }
};

class CqeWriter final : public Stage {
 public:
  PopPort<CqeRequest> receive{*this, "receive"};  // from rdmap_dispatch
  PopPort<CqeRequest> send{*this, "send"};        // from sq_completion
  PopPort<CqArm> arm{*this, "arm"};
  PushPort<DmaWriteRequest> dma{*this, "dma"};
  PushPort<CqNotify> notify{*this, "notify"};
  PushPort<DmaReadRequest> read_record{*this, "read_record"};  // how far the host has taken entries
  PopPort<DmaReadDone> record_read{*this, "record_read"};
  PushPort<CqOverflow> overflow{*this, "overflow"};

  CqeWriter(sc_core::sc_module_name nm, ClockDomain& clk, const ContextStore& contexts)
      : Stage(nm, clk), contexts_(contexts), cqs_(contexts.cqs()), deadlines_(contexts.cqs()) {}
  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const CqeWriterCounters& counters() const { return counters_; }

 private:
  static constexpr std::uint32_t kConsumerMask = 0x7ff;  // of CqArm::consumer
  struct Cq {
    std::uint32_t epoch = 0;
    std::uint32_t produced = 0;
    std::uint32_t taken = 0;           // by the host, as far as it is known
    std::uint32_t last_solicited = 0;  // value of `produced` after the newest solicited entry
    bool armed = false, solicited_only = false;
    bool overrun = false;   // an entry was lost: nothing more is written
    std::uint32_t due = 0;  // entries that the notification under moderation is for

    std::uint32_t unread() const { return produced - taken; }
    // The host's consumer index: values that are impossible are ignored.
    void take(std::uint32_t more) {
      if (more <= unread()) taken += more;
    }
  };
  struct Inquiry {
    Cqn cqn;
    std::uint32_t epoch;
    bool decides;  // asked when the ring was full: if it still is, it overruns
  };
  Cq& cq(Cqn cqn);
  std::uint32_t entries(Cqn cqn) const { return 1u << contexts_.cq(cqn).log_entries; }
  bool has_room(const CqeRequest& r);
  void ask(Cqn cqn, bool decides);
  void hear(bool ok);
  void write(const CqeRequest& r);
  void rearm(const CqArm& a);
  void owe(Cqn cqn, Cq& q, std::uint32_t entries);
  void raise(Cqn cqn, Cq& q);
  bool raise_late();
  Wake idle() const { return Wake::at_cycle(deadlines_.next()); }

  const ContextStore& contexts_;
  std::vector<Cq> cqs_;
  BufferPool buffers_{abi::kCqeBytes};
  bool send_turn_ = false;
  TimerWheel deadlines_;  // of notifications under moderation, by CQ
  std::optional<Inquiry> asked_;
  std::array<std::uint8_t, abi::kCqRecordBytes> record_{};
  CqeWriterCounters counters_;
};

}  // namespace rnic

// Writes completion queue entries into host memory and notifies armed queues. See cqe_writer.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/common/fifo.h"
#include "model/common/link.h"
#include "model/common/timer_wheel.h"
#include "model/rnic/completion/cq_told.h"
#include "model/rnic/context/tables.h"
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
    v("lost", &CqeWriterCounters::lost, "CQEs", "entries lost because a completion queue overran, or its row is lost");
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

  CqeWriter(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts);
  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const CqeWriterCounters& counters() const { return counters_; }

 private:
  // What a row is asked for, besides entries.
  enum class Errand : std::uint32_t { kDeadline, kArm };
  // Entries of one side for whose queues the table is being read: those of a queue keep their order.
  struct Entries {
    PopPort<CqeRequest>& in;
    CqTable::Reader rows;
    std::vector<CqeRequest> asked = {};    // by tag
    std::vector<std::uint32_t> free = {};  // tags

    const CqeRequest& front() const { return asked[rows.front().tag]; }
  };
  struct Inquiry {
    Cqn cqn;
    std::uint32_t epoch;  // of the queue
    bool decides;         // asked when the ring was full: if it still is, it overruns
    bool answered = false;
  };
  bool take_arm();
  bool take_record();
  bool ask_rows();
  bool ask(Entries& side);
  bool ask_errand();
  bool use_row();
  bool has_more();
  bool run_errand();
  bool write_entry();
  bool is_decided(Entries& side);
  void write(Entries& side);
  void lose(Cqn cqn);
  void write(const CqeRequest& r, const CqRow& row);
  CqState& state(Cqn cqn, const CqContext& cq);
  void inquire(Cqn cqn, const CqRow& row, bool decides);
  void forget_inquiry(Cqn cqn);
  void overrun(Cqn cqn, CqState& s);
  void rearm(Cqn cqn);
  void raise_late(Cqn cqn);
  void owe(Cqn cqn, const CqContext& cq, CqState& s, std::uint32_t entries, bool in_period);
  void raise(Cqn cqn, CqState& s);

  ContextTables& contexts_;
  Entries receives_{receive, {*this, "cqe_writer_receive", 0, RowOrder::kAsTheyCome}},
      sends_{send, {*this, "cqe_writer_send", 0, RowOrder::kAsTheyCome}};
  CqTable::Reader errands_{*this, "cqe_writer"};
  BufferPool buffers_{abi::kCqeBytes};
  bool send_turn_ = false;
  std::vector<CqTold> told_;  // by CQ
  Fifo<Cqn> armed_;           // those that wait, each once
  TimerWheel deadlines_;      // of notifications under moderation, by CQ
  std::optional<Inquiry> asked_;
  std::array<std::uint8_t, abi::kCqRecordBytes> record_{};
  CqeWriterCounters counters_;
};

}  // namespace rnic

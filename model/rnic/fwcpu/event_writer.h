// Writes events into the host's event ring and interrupts. See event_writer.md.
#pragma once

#include <cstdint>

#include "model/common/link.h"
#include "model/rnic/fwcpu/queue_regs.h"
#include "model/rnic/messages/dma.h"
#include "model/rnic/messages/doorbells.h"
#include "model/rnic/messages/firmware.h"

namespace rnic {

struct EventWriterCounters {
  std::uint64_t events = 0, waited_for_room = 0, dropped = 0;
  template <class V>
  static void fields(V& v) {
    v("events", &EventWriterCounters::events, "events", "events written to the host");
    v("waited_for_room", &EventWriterCounters::waited_for_room, "events", "events that found the event ring full");
    v("dropped", &EventWriterCounters::dropped, "events", "events while the device was disabled");
  }
};

class EventWriter final : public Stage {
 public:
  PopPort<HostEvent> events{*this, "events"};
  PopPort<CqNotify> cq_notifies{*this, "cq_notifies"};
  PopPort<EventsTaken> taken{*this, "taken"};
  PushPort<DmaWriteRequest> write{*this, "write"};
  PopPort<DmaWriteDone> write_done{*this, "write_done"};
  PushPort<MsixRequest> msix{*this, "msix"};

  static constexpr unsigned kMsixVector = 0;  // of the event queue

  // Blocks of the pool hold an event or more.
  EventWriter(sc_core::sc_module_name nm, ClockDomain& clk, QueueRegsReader regs, BufferPool& pool,
              std::uint32_t node = 0);

  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const EventWriterCounters& counters() const { return counters_; }

 private:
  enum class Step { kIdle, kRoom, kPrivateData, kEvent };
  bool interrupt();
  bool advance();
  bool take_next();
  bool room(const QueueRegs& regs) const {
    return ring_distance(producer_, consumer_) < (1u << regs.event_log_entries);
  }
  void write_private_data(const QueueRegs& regs);
  void write_event(const QueueRegs& regs);
  RequestId owner(std::uint32_t event) const { return {node_, RequestId::Kind::kEvent, 0, 0, event}; }
  std::uint32_t slot(const QueueRegs& regs) const { return producer_ & ((1u << regs.event_log_entries) - 1); }

  const QueueRegsReader regs_;
  BufferPool& pool_;
  const std::uint32_t node_;
  Step step_ = Step::kIdle;
  HostEvent current_;
  std::uint32_t producer_ = 0, consumer_ = 0, interrupted_ = 0;
  bool waits_counted_ = false;
  EventWriterCounters counters_;
};

}  // namespace rnic

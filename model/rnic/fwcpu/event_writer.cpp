#include "model/rnic/fwcpu/event_writer.h"

#include <cstring>

#include "model/common/description.h"

namespace rnic {

EventWriter::EventWriter(sc_core::sc_module_name nm, ClockDomain& clk, QueueRegsReader regs, BufferPool& pool,
                         std::uint32_t node)
    : Stage(nm, clk), regs_(std::move(regs)), pool_(pool), node_(node) {
  RNIC_CHECK(pool.block_bytes() >= abi::kEventBytes);
}

void EventWriter::reset() {
  step_ = Step::kIdle;
  current_ = {};
  producer_ = consumer_ = interrupted_ = 0;
  waits_counted_ = false;
}

Wake EventWriter::tick() {
  while (taken->can_pop()) consumer_ = taken->pop().consumer;
  const bool more_interrupts = interrupt(), more_writes = advance();
  return more_interrupts || more_writes ? Wake::next_cycle() : Wake::on_traffic();
}

// An interrupt follows when its event can no longer be overtaken. True if another one is due.
bool EventWriter::interrupt() {
  if (!write_done->can_pop() || !msix->can_push()) return false;
  write_done->pop();
  msix->push({kMsixVector, owner(interrupted_++)});
  return write_done->can_pop();
}

// At most one DMA write. False if only a link can bring more work.
bool EventWriter::advance() {
  if (step_ == Step::kIdle && !take_next()) return false;
  const QueueRegs regs = regs_();
  if (step_ == Step::kRoom) {
    if (!room(regs)) {
      if (!std::exchange(waits_counted_, true)) ++counters_.waited_for_room;
      return false;
    }
    waits_counted_ = false;
    step_ = current_.event.private_bytes != 0 ? Step::kPrivateData : Step::kEvent;
  }
  if (!write->can_push()) return false;
  if (step_ == Step::kPrivateData) {
    write_private_data(regs);
    step_ = Step::kEvent;
  } else {
    write_event(regs);
    step_ = Step::kIdle;
  }
  return true;
}

// The firmware's events first: they are rare. Without an event queue there is no host to notify.
bool EventWriter::take_next() {
  for (;;) {
    if (events->can_pop()) {
      current_ = events->pop();
    } else if (cq_notifies->can_pop()) {
      current_ = {};
      current_.event.type = abi::EventType::kCqNotify;
      current_.event.id = cq_notifies->pop().cqn.v;
    } else {
      return false;
    }
    if (regs_().enabled) break;
    current_ = {};
    ++counters_.dropped;
  }
  step_ = Step::kRoom;
  return true;
}

void EventWriter::write_private_data(const QueueRegs& regs) {
  DmaWriteRequest request;
  request.address = regs.event_data_base + std::uint64_t{slot(regs)} * abi::kPrivateDataBytes;
  request.bytes = current_.event.private_bytes;
  request.src = std::move(current_.private_data);
  request.src->belong_to(owner(producer_));
  write->push(std::move(request));
}

void EventWriter::write_event(const QueueRegs& regs) {
  current_.event.phase = static_cast<std::uint8_t>(~(producer_ >> regs.event_log_entries) & 1);
  DmaWriteRequest request;
  request.address = regs.event_base + std::uint64_t{slot(regs)} * abi::kEventBytes;
  request.bytes = abi::kEventBytes;
  request.src = pool_.take(owner(producer_));
  request.notify = true;
  std::memcpy(request.src->bytes(), &current_.event, sizeof current_.event);
  write->push(std::move(request));
  current_ = {};
  ++producer_;
  ++counters_.events;
}

std::string EventWriter::waiting_for() const {
  if (step_ == Step::kIdle) return {};
  return step_ == Step::kRoom ? "the host to take events" : "room for a DMA write";
}

void EventWriter::describe(const Description& d) {
  d.counters(counters_);
  d.stats().derived(
      "slots", [this] { return static_cast<double>(ring_distance(producer_, consumer_)); }, "slots",
      "entries of the event ring that the host has not released");
}

}  // namespace rnic

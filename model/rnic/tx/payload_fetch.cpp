#include "model/rnic/tx/payload_fetch.h"

#include "model/common/description.h"
#include "model/wire/fpdu.h"

namespace rnic {

// One read of the current job per cycle, of one element of its gather list; a job's slot is its DMA tag.
bool PayloadFetch::accept() {
  if (!requesting()) {
    if (!in->can_pop() || used_ == slots_.size()) return false;
    current_ = in->pop();
    requested_ = 0;
    offset_ = Ulpdu::kOffset + current_.header_bytes;
    slots_[(first_ + used_++) % slots_.size()] = {
        std::move(current_.ulpdu), current_.qpn, current_.epoch, current_.octets, 0, true};
    if (current_.pieces == 0) return true;
  }
  if (!dma->can_push()) return false;
  const UlpduJob::Piece& piece = current_.piece[requested_++];
  const auto slot = static_cast<std::uint32_t>((first_ + used_ - 1) % slots_.size());
  const BufferRef& buf = slots_[slot].ulpdu.buf;
  dma->push({piece.address, piece.bytes, buf->bytes() + offset_, buf, slot, {}, piece.list, piece.region});
  offset_ += piece.bytes;
  ++slots_[slot].open;
  return true;
}

bool PayloadFetch::hand_on() {
  if (used_ == 0) return false;
  Slot& slot = slots_[first_];
  if (slot.open != 0 || (used_ == 1 && requesting())) return false;
  const bool given_up = dropped(slot) || !slot.ok;
  if (given_up && slot.ulpdu.completes_wqe) {
    if (!lost->can_push() || !event->can_push()) return false;
    lost->push({slot.qpn, slot.epoch});
  }
  if (dropped(slot)) {
    give_back(slot);
    slot.ulpdu = {};
    ++counters_.dropped;
  } else if (!slot.ok) {
    if (!event->can_push()) return false;
    event->push({QpEvent::Kind::kLocalError, slot.qpn, wire::rdma::kLocalCatastrophic});
    broken_[slot.qpn.v] = {slot.epoch, slot.ulpdu.position};
    give_back(slot);
    slot.ulpdu = {};
    ++counters_.failed;
  } else {
    PushPort<Ulpdu>& to = out[slot.ulpdu.llp];
    if (!to->can_push()) return false;
    if (lost_octets(slot)) move(slot, broken_[slot.qpn.v].position);
    to->push(std::move(slot.ulpdu));
    ++counters_.ulpdus;
  }
  first_ = (first_ + 1) % static_cast<unsigned>(slots_.size());
  --used_;
  return true;
}

void PayloadFetch::give_back(const Slot& slot) {
  llp::TransmitMemory* const memory = memories_[slot.ulpdu.llp];
  if (memory != nullptr) memory->give_back(slot.ulpdu.flow, slot.octets, 1);
}

// At another place it may have a marker more, or less.
void PayloadFetch::move(Slot& slot, std::uint16_t position) {
  Ulpdu& u = slot.ulpdu;
  llp::TransmitMemory* const memory = memories_[u.llp];
  if (memory != nullptr && u.markers) {
    memory->give_back(u.flow, static_cast<std::uint32_t>(wire::marked_fpdu_bytes(u.position, u.bytes)), 0);
    memory->keep(u.flow, static_cast<std::uint32_t>(wire::marked_fpdu_bytes(position, u.bytes)), 0);
  }
  u.position = position;
}

void PayloadFetch::reset() {
  slots_.assign(slots_.size(), {});
  first_ = used_ = 0;
  jobs_.set(now(), 0, false);
  current_ = {};
  requested_ = 0;
  offset_ = 0;
  broken_.assign(broken_.size(), {});
}

Wake PayloadFetch::tick() {
  bool busy = hand_on();
  if (dma_done->can_pop()) {
    const DmaReadDone done = dma_done->pop();
    RNIC_CHECK(done.tag < slots_.size() && slots_[done.tag].open != 0);
    --slots_[done.tag].open;
    slots_[done.tag].ok &= done.ok;
    busy = true;
  }
  busy |= accept();
  const bool full = used_ == slots_.size() && slots_[first_].open != 0;
  jobs_.set(now(), used_, full && !requesting() && in->can_pop());
  return busy ? Wake::next_cycle() : Wake::on_traffic();
}

std::string PayloadFetch::waiting_for() const {
  return used_ != 0 && slots_[first_].open != 0 ? "payload of QP " + std::to_string(slots_[first_].qpn.v) : "";
}

void PayloadFetch::describe(const Description& d) {
  d.counters(counters_);
  d.account({"tx.jobs", "slots", Reach::kFetch, "payload fetch jobs", 150, {}, true}, jobs_);
  d.takes(in);
  d.probes().group("tx").number("jobs_in_use", 16, "slots", [this] { return jobs_.taken(); });
}

}  // namespace rnic

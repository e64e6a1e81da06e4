#include "model/rnic/pcie/mmio.h"

#include "model/common/bytes.h"
#include "model/common/description.h"

namespace rnic::pcie {

Mmio::Mmio(sc_core::sc_module_name nm, ClockDomain& clk, std::uint64_t bar0_address, regs::RegBank& bank)
    : Stage(nm, clk), bar0_address_(bar0_address), bank_(bank) {
  bank.on_write<regs::SqDoorbell>([this](regs::SqDoorbell d) { sq_doorbells->push({Qpn{d.qpn}, d.pi}); });
  bank.on_write<regs::RqDoorbell>([this](regs::RqDoorbell d) { rq_doorbells->push({Qpn{d.qpn}, d.pi}); });
  bank.on_write<regs::SrqDoorbell>([this](regs::SrqDoorbell d) { rq_doorbells->push({Srqn{d.srqn}, d.pi}); });
  bank.on_write<regs::CqArm>([this](regs::CqArm a) { cq_arms->push({Cqn{a.cqn}, a.solicited, a.ci}); });
  bank.on_write<regs::CmdqDoorbell>([this](regs::CmdqDoorbell d) { command_doorbells->push({d.pi}); });
  bank.on_write<regs::EvqCi>([this](regs::EvqCi r) { events_taken->push({r.ci}); });
}

// Requests outside the BAR get an offset without a register.
std::uint32_t Mmio::offset(const Tlp& request) const {
  const std::uint64_t offset = request.address - bar0_address_;
  return offset < regs::kBarBytes ? static_cast<std::uint32_t>(offset) : regs::kBarBytes;
}

bool Mmio::has_room_for(const Tlp& request) {
  if (request.type == TlpType::kMRd) return completions->can_push();
  switch (offset(request)) {
    case regs::SqDoorbell::kOffset:
      return sq_doorbells->can_push();
    case regs::RqDoorbell::kOffset:
    case regs::SrqDoorbell::kOffset:
      return rq_doorbells->can_push();
    case regs::CqArm::kOffset:
      return cq_arms->can_push();
    case regs::CmdqDoorbell::kOffset:
      return command_doorbells->can_push();
    case regs::EvqCi::kOffset:
      return events_taken->can_push();
    default:
      return true;
  }
}

void Mmio::write(const Tlp& request) {
  if (request.poisoned) {
    ++counters_.poisoned;
    return;
  }
  const std::uint32_t value = request.bytes == 4 ? load_le32(request.data()) : 0;
  const regs::RegStatus status = bank_.write(offset(request), request.bytes, value);
  ++(status == regs::RegStatus::kOk ? counters_.writes : counters_.refused);
}

void Mmio::read(const Tlp& request) {
  const auto [status, value] = bank_.read(offset(request), request.bytes);
  Tlp answer;
  if (status == regs::RegStatus::kOk) {
    ++counters_.reads;
    answer = Tlp::completion(request, request.address, 4);
    answer.set_word(value);
  } else {
    ++counters_.refused;
    answer = Tlp::refusal(request, CplStatus::kUr);
  }
  answer.issued = now();
  completions->push(std::move(answer));
}

Wake Mmio::tick() {
  if (!requests->can_pop() || !has_room_for(requests->front())) return Wake::on_traffic();
  const Tlp request = requests->pop();
  if (request.type == TlpType::kMWr) write(request);
  else read(request);
  return requests->can_pop() ? Wake::next_cycle() : Wake::on_traffic();
}

void Mmio::describe(const Description& d) { d.counters(counters_); }

}  // namespace rnic::pcie

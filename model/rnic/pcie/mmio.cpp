#include "model/rnic/pcie/mmio.h"

#include "model/common/bytes.h"
#include "model/common/description.h"

namespace rnic::pcie {

Mmio::Mmio(sc_core::sc_module_name nm, ClockDomain& clk, ConfigSpace& config, regs::RegBank& bank)
    : Stage(nm, clk), config_(config), bank_(bank) {
  bank.on_write<regs::SqDoorbell>([this](regs::SqDoorbell d) { sq_doorbells->push({Qpn{d.qpn}, d.pi}); });
  bank.on_write<regs::RqDoorbell>([this](regs::RqDoorbell d) { rq_doorbells->push({Qpn{d.qpn}, d.pi}); });
  bank.on_write<regs::SrqDoorbell>([this](regs::SrqDoorbell d) { rq_doorbells->push({Srqn{d.srqn}, d.pi}); });
  bank.on_write<regs::CqArm>([this](regs::CqArm a) { cq_arms->push({Cqn{a.cqn}, a.solicited, a.ci}); });
  bank.on_write<regs::CmdqDoorbell>([this](regs::CmdqDoorbell d) { command_doorbells->push({d.pi}); });
  bank.on_write<regs::EvqCi>([this](regs::EvqCi r) { events_taken->push({r.ci}); });
}

// Requests outside the BAR get an offset without a register, and so do all while it is disabled.
std::uint32_t Mmio::offset(const Tlp& request) const {
  const std::uint64_t offset = request.address - config_.get().bar0();
  const bool ours = offset < regs::kBarBytes && config_.get().memory_space();
  return ours ? static_cast<std::uint32_t>(offset) : regs::kBarBytes;
}

bool Mmio::has_room_for(const Tlp& request) {
  if (request.flow_class() == FlowClass::kNonPosted) return completions->can_push();
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
  if (status != regs::RegStatus::kOk) {
    ++counters_.refused;
    return answer(Tlp::answer(request, CplStatus::kUr));
  }
  ++counters_.reads;
  Tlp data = Tlp::completion(request, request.address, 4);
  data.set_word(value);
  answer(std::move(data));
}

// Poisoned data of a configuration write is not taken (section 2.7.2.1).
void Mmio::configure(const Tlp& request) {
  ++counters_.config;
  if (request.type == TlpType::kCfgRd0) {
    Tlp data = Tlp::completion(request, request.address, 4);
    data.lower_address = 0;
    data.set_word(config_.get().read(static_cast<std::uint32_t>(request.address)));
    return answer(std::move(data));
  }
  if (request.poisoned) ++counters_.poisoned;
  else config_.write(request);
  answer(Tlp::answer(request, request.poisoned ? CplStatus::kUr : CplStatus::kSc));
}

void Mmio::answer(Tlp completion) {
  completion.issued = now();
  completions->push(std::move(completion));
}

Wake Mmio::tick() {
  if (!requests->can_pop() || !has_room_for(requests->front())) return Wake::on_traffic();
  const Tlp request = requests->pop();
  if (request.type == TlpType::kMWr) write(request);
  else if (request.type == TlpType::kMRd) read(request);
  else configure(request);
  return requests->can_pop() ? Wake::next_cycle() : Wake::on_traffic();
}

void Mmio::describe(const Description& d) { d.counters(counters_); }

}  // namespace rnic::pcie

#include "model/rnic/pcie/msix.h"

#include "model/common/description.h"

namespace rnic::pcie {

static_assert(regs::MsixControl::kCount <= 32, "the pending bits are one word");

Msix::Msix(sc_core::sc_module_name nm, ClockDomain& clk, ConfigSpace& config, regs::RegBank& bank)
    : Stage(nm, clk), config_(config), bank_(bank) {
  // What the host wrote is in the bank from the next cycle on.
  bank.on_write<regs::MsixControl>([this](regs::MsixControl) { wake(now() + 1); });
}

bool Msix::enabled() const { return config_.get().msix() && config_.get().bus_master(); }

std::uint32_t Msix::deliverable() const {
  if (!enabled()) return 0;
  std::uint32_t vectors_set = 0;
  for (std::uint32_t rest = pending_; rest != 0; rest &= rest - 1) {
    const auto v = static_cast<std::uint32_t>(__builtin_ctz(rest));
    if (!bank_.get<regs::MsixControl>(v).mask) vectors_set |= 1u << v;
  }
  return vectors_set;
}

void Msix::reset() { pending_ = 0; }

Wake Msix::tick() {
  const std::uint32_t before = pending_;
  if (vectors->can_pop()) {
    const MsixRequest request = vectors->pop();
    RNIC_CHECK(request.vector < regs::MsixControl::kCount);
    ++counters_.requests;
    newest_ = request.owner;
    pending_ |= 1u << request.vector;
  }
  const std::uint32_t ready = deliverable();
  if (ready != 0 && messages->can_push()) {
    const auto v = static_cast<std::uint32_t>(__builtin_ctz(ready));
    const std::uint64_t high = bank_.get<regs::MsixAddressHi>(v).value;
    Tlp message =
        Tlp::write32(high << 32 | bank_.get<regs::MsixAddressLo>(v).value, bank_.get<regs::MsixData>(v).value);
    message.issued = now();
    message.owner = newest_;
    message.purpose = Purpose::kInterrupt;
    messages->push(std::move(message));
    ++counters_.messages;
    pending_ &= ~(1u << v);
  }
  if (pending_ != 0 && !enabled()) config_.await(*this);
  if (pending_ != before) bank_.set(regs::MsixPba{pending_});
  return vectors->can_pop() || (deliverable() != 0 && messages->can_push()) ? Wake::next_cycle() : Wake::on_traffic();
}

void Msix::describe(const Description& d) { d.counters(counters_); }

}  // namespace rnic::pcie

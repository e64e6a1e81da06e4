// The firmware on the RV32 processor: everything happens in the interrupt handler, one event at a time.
#include <new>

#include "firmware/app/instantiate.h"
#include "firmware/targets/rv32/bus.h"

namespace rnic::fw::rv32 {
namespace {

using Image = Firmware<Bus>;

Bus bus;
alignas(Image) std::uint8_t storage[sizeof(Image)];
Image* firmware = nullptr;

}  // namespace

extern "C" {

extern const Layout rnic_layout;
[[gnu::used]] const Layout rnic_layout = Layout::mine();

// Called by start.S. The linker checks static data against the budget.
void rnic_boot() {
  asm volatile(".globl rnic_data_budget\n.set rnic_data_budget, %0" ::"i"(data_budget(DefaultCapacity::kConnections)));
  firmware = new (storage) Image(bus, mailbox().settings);
}

[[gnu::interrupt, gnu::aligned(4)]] void rnic_interrupt() {
  asm volatile("" ::: "memory");  // the mailbox has changed
  const bool known = Events::visit(csr(kEvent), mailbox().event, [](const auto& event) { firmware->on(event); });
  if (!known) bus.write(Panic{PanicCode::kUnknownEvent});
}

}  // extern "C"
}  // namespace rnic::fw::rv32

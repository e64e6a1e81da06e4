#include "model/rnic/pcie/pcie_endpoint.h"

#include "model/common/description.h"

namespace rnic::pcie {

// True when it moved one; a full link itself wakes the stage.
bool PcieEndpoint::receive(FlowClass c, PushPort<Tlp>& to) {
  if (!port.can_pop(c) || !to->can_push()) return false;
  to->push(port.pop(c));
  return true;
}

// A read does not pass a write that arrived before it.
bool PcieEndpoint::receive_request() {
  const bool write = port.can_pop(FlowClass::kPosted), read = port.can_pop(FlowClass::kNonPosted);
  const bool write_first =
      write && (!read || port.front_ps(FlowClass::kPosted) <= port.front_ps(FlowClass::kNonPosted));
  return receive(write_first ? FlowClass::kPosted : FlowClass::kNonPosted, mmio);
}

void PcieEndpoint::transmit() {
  PopPort<Tlp>* const sources[] = {&dma_writes, &messages, &mmio_completions, &dma_reads};
  const Tlp* heads[4];
  unsigned waiting = 0;
  for (unsigned i = 0; i < 4; ++i) {
    heads[i] = (*sources[i])->can_pop() ? &(*sources[i])->front() : nullptr;
    waiting += heads[i] != nullptr;
  }
  if (waiting == 0) return;
  const int chosen = port.choose(heads, 4);
  if (chosen < 0) return;
  Link<Tlp>& source = **sources[chosen];
  const Cycle ready = source.front_at();
  port.send(source.pop(), ready);
  if (waiting > 1 || source.can_pop()) port.wake_when_free();
}

Wake PcieEndpoint::tick() {
  if (port.reset_arrived()) {
    port.take_reset();
    config_.reset(ConfigSpace::Reset::kLink);
    return Wake::on_traffic();
  }
  const bool completions = receive(FlowClass::kCompletion, read_completions) && port.can_pop(FlowClass::kCompletion);
  const bool requests = receive_request() && (port.can_pop(FlowClass::kPosted) || port.can_pop(FlowClass::kNonPosted));
  transmit();
  return completions || requests ? Wake::next_cycle() : Wake::on_traffic();
}

void PcieEndpoint::describe(const Description& d) { port.describe(d); }

}  // namespace rnic::pcie

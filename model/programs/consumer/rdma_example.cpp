#include "model/programs/consumer/rdma_example.h"

#include <fmt/format.h>

namespace rnic::consumer {

// The stock tools request as many Reads as their device supports.
RdmaExample::RdmaExample(host::Context& context, const ProgramSpec& spec)
    : Consumer(context, spec, {4096, abi::kLocalWrite, 32}) {}

// Each side leaves when it has both sent and received.
void RdmaExample::completed(const host::Wc& wc) {
  if (record_.first_ps == 0) record_.first_ps = time_ps();
  if (wc.opcode == abi::WcOpcode::kSend) {
    sent_ = true;
  } else {
    if (wc.byte_len != kBytes) return fail(fmt::format("a Send of {} octets, not {}", wc.byte_len, kBytes));
    received_ = true;
    received();
  }
  if (!may_end()) return;
  count_round(2 * kBytes);
  disconnect();
}

}  // namespace rnic::consumer

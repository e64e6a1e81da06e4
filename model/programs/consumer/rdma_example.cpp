#include "model/programs/consumer/rdma_example.h"

#include <fmt/format.h>

namespace rnic::consumer {

// They ask for all Reads that their device can do.
RdmaExample::RdmaExample(host::Context& context, const ProgramSpec& spec)
    : Consumer(context, spec, {4096, abi::kLocalWrite, 32}) {}

// Either leaves when it has sent and received, whichever is last.
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

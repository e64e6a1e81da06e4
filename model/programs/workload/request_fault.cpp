#include "model/programs/workload/request_fault.h"

#include <algorithm>

namespace rnic::workload {
namespace {

constexpr std::uint32_t kNoStag = 0xffffffff;  // beyond every table

}  // namespace

std::uint32_t longest_request(const Transfer& transfer) {
  std::uint32_t longest = transfer.max_size;
  for (const RequestFault& f : transfer.item.faults) longest = std::max(longest, f.length.value_or(0));
  return longest;
}

Spoiled spoil(const Transfer& transfer, std::uint32_t message, host::SendWr& wr) {
  Spoiled how;
  for (const RequestFault& f : transfer.item.faults) {
    if (f.receive || f.request != message) continue;
    if (f.length) {
      wr.sg_list[0].length = *f.length;
      how = {"a work request's length", *f.length};
    }
    if (f.wrong_lkey) {
      wr.sg_list[0].lkey = kNoStag;
      how.what = "a work request's local STag";
    }
    if (!f.right) continue;
    const std::uint32_t rkey = transfer.other_rkeys[static_cast<std::size_t>(*f.right)];
    if (wr.opcode == abi::WrOpcode::kSend) wr.opcode = abi::WrOpcode::kSendWithInv, wr.invalidate_rkey = rkey;
    else wr.rkey = rkey;
    how.what = "the rights of the memory that a work request names";
  }
  return how;
}

Spoiled spoil(const Transfer& transfer, std::uint32_t message, host::RecvWr& wr) {
  Spoiled how;
  for (const RequestFault& f : transfer.item.faults) {
    if (!f.receive || f.request != message) continue;
    wr.sg_list[0].lkey = kNoStag;
    how.what = "a receive request's local STag";
  }
  return how;
}

bool OtherRegions::prepare(host::Context& context, Transfer& transfer, host::Pd pd, std::uint64_t address,
                           std::uint64_t bytes) {
  constexpr std::uint8_t kAll = abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead | abi::kRemoteAtomic;
  constexpr std::uint8_t kAccess[kRights] = {0, abi::kRemoteRead, abi::kLocalWrite | abi::kRemoteWrite, kAll};
  bool ready = true;
  for (const RequestFault& f : transfer.item.faults) {
    if (!f.right) continue;
    const auto right = static_cast<std::size_t>(*f.right);
    if (*f.right == Right::kOtherDomain && !other_domain_) other_domain_ = context.alloc_pd();
    const host::Pd domain = *f.right == Right::kOtherDomain ? *other_domain_ : pd;
    if (regions_[right].is_new()) regions_[right] = LocalMemory(transfer.item.pages);
    ready = regions_[right].prepare(context, domain, address, bytes, kAccess[right]) && ready;
    transfer.other_rkeys[right] = regions_[right].key();
  }
  return ready;
}

}  // namespace rnic::workload

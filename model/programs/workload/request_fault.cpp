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
      how = {"a work request's length", *f.length, {}};
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
    if (*f.right == Right::kEnded) how = {"a work request names memory that has been deregistered", {}, rkey};
  }
  return how;
}

Spoiled spoil(const Transfer& transfer, std::uint32_t message, host::RecvWr& wr) {
  Spoiled how;
  for (const RequestFault& f : transfer.item.faults) {
    if (!f.receive || f.request != message) continue;
    if (f.posted) wr.sg_list[0].lkey = kNoStag;
    how.what = f.posted ? "a receive request's local STag" : "a receive request that is not posted";
  }
  return how;
}

bool is_posted(const Transfer& transfer, std::uint32_t message) {
  const auto& faults = transfer.item.faults;
  return std::none_of(faults.begin(), faults.end(),
                      [message](const RequestFault& f) { return f.receive && !f.posted && f.request <= message; });
}

bool OtherRegions::prepare(host::Context& context, Transfer& transfer, host::Pd pd, std::uint64_t address,
                           std::uint64_t bytes) {
  constexpr std::uint8_t kAll = abi::kLocalWrite | abi::kRemoteWrite | abi::kRemoteRead | abi::kRemoteAtomic;
  constexpr std::uint8_t kAccess[kRights] = {0, abi::kRemoteRead, abi::kLocalWrite | abi::kRemoteWrite, kAll, kAll};
  bool ready = true;
  for (const RequestFault& f : transfer.item.faults) {
    if (!f.right) continue;
    if (*f.right == Right::kEnded && ending_) {
      ready = end(context) && ready;
      continue;
    }
    const auto right = static_cast<std::size_t>(*f.right);
    if (*f.right == Right::kOtherDomain && !other_domain_) other_domain_ = context.alloc_pd();
    const host::Pd domain = *f.right == Right::kOtherDomain ? *other_domain_ : pd;
    if (regions_[right].is_new()) regions_[right] = LocalMemory(transfer.item.pages);
    const bool registered = regions_[right].prepare(context, domain, address, bytes, kAccess[right]);
    transfer.other_rkeys[right] = regions_[right].key();
    ready = registered && ready;
    if (registered && *f.right == Right::kEnded) ready = end(context) && ready;
  }
  return ready;
}

// Deregisters it; true when the device has forgotten it.
bool OtherRegions::end(host::Context& context) {
  ending_ = true;
  if (!ended_) ended_ = regions_[static_cast<std::size_t>(Right::kEnded)].release(context);
  return ended_;
}

}  // namespace rnic::workload

// Requests that must fail: their memory, and the changes to them.
#pragma once

#include <array>
#include <optional>

#include "model/programs/workload/role.h"

namespace rnic::workload {

// Octets of the item's longest request.
std::uint32_t longest_request(const Transfer& transfer);

// Whether the program posts a receive at all.
bool is_posted(const Transfer& transfer, std::uint32_t message);

// Change a work request as the item says, and say how.
Spoiled spoil(const Transfer& transfer, std::uint32_t message, host::SendWr& wr);
Spoiled spoil(const Transfer& transfer, std::uint32_t message, host::RecvWr& wr);

// A responder's region, registered once more for each right that a fault names.
class OtherRegions {
 public:
  // Called until it returns true; the transfer then knows the STags.
  bool prepare(host::Context& context, Transfer& transfer, host::Pd pd, std::uint64_t address, std::uint64_t bytes);

 private:
  bool end(host::Context& context);

  std::array<LocalMemory, kRights> regions_;
  std::optional<host::Pd> other_domain_;
  bool ending_ = false, ended_ = false;  // the region of Right::kEnded
};

}  // namespace rnic::workload

// Requests that are to fail: their memory, and what is changed in them.
#pragma once

#include <array>
#include <optional>

#include "model/programs/workload/role.h"

namespace rnic::workload {

// The octets of the item's longest request.
std::uint32_t longest_request(const Transfer& transfer);

// Change a work request as the item says.
void spoil(const Transfer& transfer, std::uint32_t message, host::SendWr& wr);
void spoil(const Transfer& transfer, std::uint32_t message, host::RecvWr& wr);

// A responder's region, registered once more for each right that a fault names.
class OtherRegions {
 public:
  // Called until it is true; the transfer knows the STags then.
  bool prepare(host::Context& context, Transfer& transfer, host::Pd pd, std::uint64_t address, std::uint64_t bytes);

 private:
  std::array<LocalMemory, kRights> regions_;
  std::optional<host::Pd> other_domain_;
};

}  // namespace rnic::workload

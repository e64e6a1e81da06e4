// Errors of a work request, found before anything of it is sent.
#pragma once

#include <array>

#include "model/rnic/context/tables.h"
#include "model/rnic/messages/work_requests.h"

namespace rnic {

// kSuccess, or the status with which the request completes: unreadable, opcode or gather list, length.
abi::WcStatus check_form(const TxContext& ctx, const FetchedWqe& f);

// The elements of its gather list, or its sink, whose STags count; bit i is that of sge[i]. Of a request of valid form.
std::uint8_t elements_of(const abi::Wqe& w, std::array<Stag, abi::kMaxSge>& stags);

// Local key and rights of such an element. `row`: at its STag's index, or nullptr.
abi::WcStatus check_element(const StagRow* row, const TxContext& ctx, const abi::Wqe& w, const abi::Sge& s);

}  // namespace rnic

// The targets of RV32IMC loads and stores (RISC-V unprivileged architecture, chapters 2 and 16).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "model/common/bytes.h"

namespace rnic {

// Of the first instruction of `code` that accesses this address, its offset; the registers are those at that time.
std::optional<std::uint32_t> find_access(ByteSpan code, const std::array<std::uint32_t, 32>& registers,
                                         std::uint32_t address);

}  // namespace rnic

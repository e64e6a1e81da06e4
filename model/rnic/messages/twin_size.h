// Sizes of the SystemVerilog twins' tables, as powers of two. rnic_messages_pkg has them by the same names.
#pragma once

namespace rnic {

struct TwinSize {
  static constexpr unsigned kQpBits = 10;     // queue pairs
  static constexpr unsigned kWriteBits = 12;  // writes of original values under way
};

}  // namespace rnic

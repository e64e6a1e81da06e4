// The two sides of a connection.
#pragma once

#include <cstdint>

namespace rnic::capture {

enum class Side : std::uint8_t { kInitiator = 0, kResponder = 1 };  // of the TCP connection and so of MPA
constexpr Side other(Side side) { return side == Side::kInitiator ? Side::kResponder : Side::kInitiator; }

}  // namespace rnic::capture

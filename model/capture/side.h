// The two sides of a connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rnic::capture {

enum class Side : std::uint8_t { kInitiator = 0, kResponder = 1 };  // of the TCP connection and so of MPA
constexpr Side other(Side side) { return side == Side::kInitiator ? Side::kResponder : Side::kInitiator; }
inline constexpr std::string_view kSideNames[] = {"initiator", "responder"};
constexpr std::string_view to_string(Side side) { return kSideNames[static_cast<std::size_t>(side)]; }

}  // namespace rnic::capture

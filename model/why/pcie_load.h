// How busy a direction of a PCIe link was.
#pragma once

#include <cstdint>
#include <string>

#include "model/why/rows.h"

namespace rnic::why {

// Of this share of the time on, something is a limit: the rest is gaps between frames and TLPs.
inline constexpr double kBusy = 0.9;

// Of a stretch of time, among the events of a request's time.
double pcie_share(const Rows& rows, const std::string& node, bool from_chip, const RequestRow& within,
                  std::uint64_t from_ps, std::uint64_t to_ps);

}  // namespace rnic::why

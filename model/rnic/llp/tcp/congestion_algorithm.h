// TCP's congestion control algorithms by name.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "model/config/field.h"
#include "model/rnic/llp/congestion_control.h"

namespace rnic::tcp {

enum class CongestionAlgorithm : std::uint8_t { kNewReno, kCubic, kDctcp };
inline constexpr std::array kCongestionAlgorithms{Named{CongestionAlgorithm::kNewReno, "newreno"},
                                                  Named{CongestionAlgorithm::kCubic, "cubic"},
                                                  Named{CongestionAlgorithm::kDctcp, "dctcp"}};

std::unique_ptr<llp::CongestionControl> make_congestion_control(CongestionAlgorithm algorithm);

}  // namespace rnic::tcp

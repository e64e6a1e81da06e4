#include "model/rnic/llp/tcp/congestion_algorithm.h"

#include "model/common/check.h"
#include "model/rnic/llp/tcp/cubic.h"
#include "model/rnic/llp/tcp/dctcp.h"
#include "model/rnic/llp/tcp/newreno.h"

namespace rnic::tcp {

std::unique_ptr<llp::CongestionControl> make_congestion_control(CongestionAlgorithm algorithm) {
  switch (algorithm) {
    case CongestionAlgorithm::kNewReno:
      return std::make_unique<NewReno>();
    case CongestionAlgorithm::kCubic:
      return std::make_unique<Cubic>();
    case CongestionAlgorithm::kDctcp:
      return std::make_unique<Dctcp>();
  }
  RNIC_CHECK(false);
  return nullptr;
}

}  // namespace rnic::tcp

#include "model/common/pool.h"

#include <string>

#include "model/common/check.h"
#include "model/common/description.h"

namespace rnic {

namespace {

const char* grows_with(PoolLimit limit) {
  switch (limit) {
    case PoolLimit::kHost:
      return "; more if the host breaks its rules";
    case PoolLimit::kPeer:
      return "; more if the peer sends many short segments";
    case PoolLimit::kHome:
      return "; more after rows were lost";
    case PoolLimit::kChip:
      break;
  }
  return "";
}

}  // namespace

void PoolBase::describe(const Description& d) const {
  const std::string text = std::string(size_.follows_from) + grows_with(size_.limit);
  describe_memory(d.part(size_.name).stats(), {size_.entries, size_.entries, bits_, "elements", text}, level_);
}

void PoolBase::run_out() const {
  fail_check(
      "elements < entries", __FILE__, __LINE__,
      std::string(size_.name) + " has room for " + std::to_string(size_.entries) + " (" + size_.follows_from + ")");
}

}  // namespace rnic

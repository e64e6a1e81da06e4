#include "model/programs/workload/window.h"

#include <algorithm>
#include <utility>

#include "model/common/prng.h"

namespace rnic::workload {

void Window::begin(std::uint64_t at_ps) {
  if (!order_.empty()) return;
  order_.reserve(members_.size() * count_);
  for (std::uint32_t member = 0; member < members_.size(); ++member) order_.insert(order_.end(), count_, member);
  Prng random(seed_);
  for (std::size_t left = order_.size(); left > 1; --left) std::swap(order_[left - 1], order_[random.below(left)]);
  for (std::uint32_t n = 0; n < size_; ++n) completed(at_ps);
}

void Window::completed(std::uint64_t at_ps) {
  if (next_ < order_.size()) members_[order_[next_++]]->admit(at_ps);
}

}  // namespace rnic::workload

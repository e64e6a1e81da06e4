#include "model/system/link_account.h"

namespace rnic {

Account& LinkAccount::until(Cycle end) {
  for (;;) {
    const Cycle take = taken_.empty() ? kNever : taken_.front(), pop = popped_.empty() ? kNever : popped_.front();
    const Cycle at = std::min({take, pop, waits_ ? kNever : due()});
    if (at >= end) return account_;
    for (; !taken_.empty() && taken_.front() == at; taken_.pop()) ++used_;
    for (; !popped_.empty() && popped_.front() == at; popped_.pop()) {
      visible_.pop();
      free_from_ = at + 1;
      --used_;
    }
    waits_ = due() <= at;
    account_.set(at, used_, waits_);
  }
}

// What is still on the link leaves together.
void LinkAccount::emptied(Cycle now) {
  until(now + 1);
  taken_ = visible_ = popped_ = {};
  used_ = 0;
  waits_ = false;
  account_.set(now + 1, 0, false);
}

}  // namespace rnic

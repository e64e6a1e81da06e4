// The account of a link: its slots, and the beats that its consumer does not take.
#pragma once

#include <algorithm>

#include "model/common/account.h"
#include "model/common/link_base.h"
#include "model/common/ring.h"

namespace rnic {

// If stages run ahead, one end's moves are reported before the other's, so they wait here until both are known. A slot
// is taken from the push to the pop; the consumer is waited for while a beat is visible and not taken.
class LinkAccount final : public LinkObserver {
 public:
  // The link must outlive this.
  explicit LinkAccount(LinkBase& link) : link_(link), account_(link.config().depth) { link.observe(*this); }
  ~LinkAccount() { link_.forget(*this); }
  LinkAccount(const LinkAccount&) = delete;
  LinkAccount& operator=(const LinkAccount&) = delete;

  // With all moves before cycle `end`, which must have been made: while the kernel stands, up to its clock's next().
  Account& until(Cycle end);

  void reserved(Cycle now, Cycle) override { taken_.push(now); }
  void filled(const void*, Cycle, Cycle visible) override { visible_.push(visible); }
  void popped(Cycle now, Cycle) override { popped_.push(now); }
  void emptied(Cycle now) override;

 private:
  // The oldest beat is visible, and the consumer has the cycle for it.
  Cycle due() const { return visible_.empty() ? kNever : std::max(visible_.front(), free_from_); }

  LinkBase& link_;
  Account account_;
  Ring<Cycle> taken_, visible_, popped_;  // not accounted for yet; visible_: of the beats on the link
  unsigned used_ = 0;
  Cycle free_from_ = 0;  // the consumer takes one beat per cycle
  bool waits_ = false;
};

}  // namespace rnic

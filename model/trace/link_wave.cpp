#include "model/trace/link_wave.h"

#include <algorithm>

namespace rnic {

LinkPins::LinkPins(Waves& waves, const std::string& scope, std::uint64_t period_ps)
    : waves_(waves), period_ps_(period_ps) {
  valid_ = declare(scope, "valid", 0);
  ready_ = declare(scope, "ready", 0);
  credit_ = declare(scope, "credit", 1);
}

WaveId LinkPins::declare(const std::string& scope, const char* name, std::uint64_t at_start) {
  const WaveId id = waves_.declare(scope, name, 1);
  waves_.change(id, 0, at_start);
  return id;
}

void LinkPins::declare_field(const std::string& scope, const char* name, unsigned width) {
  field_ids_.push_back(waves_.declare(scope, name, width));
}

void LinkPins::on_joined(Cycle next, Cycle credit) {
  pending_.clear();
  if (credit <= next) return;
  change(credit_, next, 0);
  if (credit != kNever) change(credit_, credit, 1);
}

void LinkPins::on_reserved(Cycle now, Cycle next_credit) {
  if (next_credit == now + 1) return;
  change(credit_, now + 1, 0);
  if (next_credit != kNever) change(credit_, next_credit, 1);
}

void LinkPins::on_filled(std::vector<std::uint64_t> values, Cycle visible) {
  pending_.push_back({visible, std::move(values)});
  if (pending_.size() == 1) show_front(visible);
}

void LinkPins::on_popped(Cycle now, Cycle credit) {
  change(ready_, now, 1);
  change(ready_, now + 1, 0);
  if (credit != kNever) change(credit_, credit, 1);
  pending_.pop_front();
  if (pending_.empty() || pending_.front().visible > now + 1) change(valid_, now + 1, 0);
  if (!pending_.empty()) show_front(std::max(pending_.front().visible, now + 1));
}

void LinkPins::on_emptied(Cycle now) {
  if (!pending_.empty()) change(valid_, std::max(pending_.front().visible, now + 1), 0);  // if it shows only then
  change(valid_, now + 1, 0);
  change(credit_, now + 1, 1);
  pending_.clear();
}

void LinkPins::change(WaveId id, Cycle at, std::uint64_t value) { waves_.change(id, at * period_ps_, value); }

void LinkPins::show_front(Cycle at) {
  change(valid_, at, 1);
  for (std::size_t i = 0; i < field_ids_.size(); ++i) change(field_ids_[i], at, pending_.front().values[i]);
}

}  // namespace rnic

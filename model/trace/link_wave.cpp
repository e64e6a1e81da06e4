#include "model/trace/link_wave.h"

#include <algorithm>
#include <utility>

namespace rnic {
namespace {

// A nested field of a message has no scope of its own: "cause.code" is cause_code, "sge[1].lkey" sge_1_lkey.
std::string variable_of(const std::string& field) {
  std::string variable;
  for (const char c : field) {
    if (c != ']') variable += c == '.' || c == '[' ? '_' : c;
  }
  return variable;
}

}  // namespace

LinkWave::LinkWave(Waves& waves, LinkBase& link, std::uint64_t period_ps, const WaveOwners* owners)
    : waves_(waves), link_(link), period_ps_(period_ps), kind_(link.kind()), owners_(owners) {
  const auto pin = [&](const char* name, std::uint64_t at_start) {
    const WaveId id = waves_.declare(link.name(), name, 1);
    waves_.change(id, 0, at_start);
    return id;
  };
  valid_ = pin("valid", 0);
  ready_ = pin("ready", 0);
  credit_ = pin("credit", 1);
  if (owners != nullptr && link.has_owner()) owner_ = waves_.declare_text(link.name(), "owner");
  for (const Signal& field : kind_.signals) {
    field_ids_.push_back(waves_.declare({link.name(), variable_of(field.name), field.width, field.words, {}, false}));
  }
}

void LinkWave::join(Cycle next) {
  pending_.clear();
  if (const Cycle credit = link_.credit_from(); credit > next) {
    change(credit_, next, 0);
    if (credit != kNever) change(credit_, credit, 1);
  }
  link_.show_beats(*this, next);
  link_.observe(*this);
}

void LinkWave::reserved(Cycle now, Cycle next_credit) {
  if (next_credit == now + 1) return;
  change(credit_, now + 1, 0);
  if (next_credit != kNever) change(credit_, next_credit, 1);
}

void LinkWave::filled(const void* beat, Cycle, Cycle visible) {
  std::vector<std::uint64_t> values(kind_.signals.size());
  kind_.store(beat, values.data());
  pending_.push_back({visible, std::move(values), owner_.dumped() ? link_.owner(beat, owners_->owners) : RequestId()});
  if (pending_.size() == 1) show_front(visible);
}

void LinkWave::popped(Cycle now, Cycle credit) {
  change(ready_, now, 1);
  change(ready_, now + 1, 0);
  if (credit != kNever) change(credit_, credit, 1);
  pending_.pop_front();
  if (pending_.empty() || pending_.front().visible > now + 1) change(valid_, now + 1, 0);
  if (!pending_.empty()) show_front(std::max(pending_.front().visible, now + 1));
}

void LinkWave::emptied(Cycle now) {
  if (!pending_.empty()) change(valid_, std::max(pending_.front().visible, now + 1), 0);  // also if not yet visible
  change(valid_, now + 1, 0);
  change(credit_, now + 1, 1);
  pending_.clear();
}

void LinkWave::change(WaveId id, Cycle at, std::uint64_t value) { waves_.change(id, at * period_ps_, value); }

void LinkWave::show_front(Cycle at) {
  change(valid_, at, 1);
  if (owner_.dumped()) waves_.change(owner_, at * period_ps_, pending_.front().owner.text(owners_->nodes));
  for (std::size_t i = 0; i < field_ids_.size(); ++i) change(field_ids_[i], at, pending_.front().values[i]);
}

}  // namespace rnic

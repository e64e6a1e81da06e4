#include "model/common/row_cache.h"

#include <algorithm>
#include <utility>

#include "model/common/description.h"
#include "model/common/table.h"

namespace rnic {

RowCache::RowCache(std::string name, ClockDomain& clk, std::size_t rows, const CacheConfig& config)
    : name_(std::move(name)),
      clk_(clk),
      config_(config),
      rows_(rows),
      rows_account_(0),
      misses_account_(config.misses_in_flight) {
  if (config.entries >= rows) return;
  tags_ = std::make_unique<Residency>(config);
  bad_.resize(config.entries);
  ahead_.resize(config.entries);
  lost_.resize(rows);
  begins_.resize(rows);
}

void RowCache::add(TableBase& table) {
  RNIC_CHECK_MSG(tables_.size() < TableMiss::kTables && table.rows() == rows_, name_);
  tables_.push_back(&table);
}

void RowCache::connect_home(PopPort<TableMiss>& misses) {
  RNIC_CHECK_MSG(to_home_ == nullptr, name_);
  LinkConfig config;
  config.depth = config_.misses_in_flight;
  to_home_ = std::make_unique<Link<TableMiss>>(name_ + ".misses", clk_, config);
  misses(*to_home_);
  to_home_->set_producer(misses.owner());  // what is not on the chip is missed in a commit
}

std::vector<LinkBase*> RowCache::links_of(const TableBase& table) const {
  std::vector<LinkBase*> links;
  if (&table != tables_.front()) return links;
  if (to_home_ != nullptr) links.push_back(to_home_.get());
  if (changes_to_home_ != nullptr) links.push_back(changes_to_home_.get());
  return links;
}

void RowCache::add_spare() {
  tags_->add_spare();
  bad_.resize(places());
  ahead_.resize(places());
  for (TableBase* table : tables_) table->resize(places());
}

void RowCache::commit_later() {
  if (std::exchange(registered_, true)) return;
  clk_.commit_later(*this);
}

void RowCache::commit() {
  if (std::exchange(expects_change_, false)) behind_->commit();
  for (TableBase* table : tables_) table->settle_writes();
  for (const std::uint32_t place : healed_) bad_[place] = false;
  healed_.clear();
  if (!arrivals_.empty()) settle();
  if (forgets_) drop_rows();
  if (writes_through()) take_changes();
  registered_ = false;  // what is asked for again takes part in this commit
  for (std::size_t n = 0, first = first_; n < tables_.size(); ++n) tables_[(first + n) % tables_.size()]->grant();
  for (TableBase* table : tables_) table->release();
  take_prefetch();
  if (writes_through()) send_change();
  account();
}

// ---- Reads

// `is_next`: it is the next row of its reader. Only such a one takes or shares a spare place, so there is always one
// for it: no reader waits for another one's pins, whatever rows a stage holds at a time.
RowCache::Found RowCache::look_up(const TableBase& table, const Stage& asker, std::uint32_t row, bool is_next,
                                  std::uint32_t& place) {
  place = tags_->find(row);
  if (place == Residency::kNone) {
    const Found found = miss(table, asker, row, is_next, place);
    if (found != Found::kPlace) return found;
  } else {
    if (tags_->is_spare(place) && !is_next) return Found::kNoPlace;
    ++(under_way(place) ? counters_.joined : counters_.hits);
    if (ahead_[place]) ++(under_way(place) ? prefetches_.late : prefetches_.used);
    ahead_[place] = false;
  }
  tags_->use(place);
  tags_->pin(place);
  return Found::kPlace;
}

RowCache::Found RowCache::miss(const TableBase& table, const Stage& asker, std::uint32_t row, bool is_next,
                               std::uint32_t& place) {
  const Found found = fetch(asker.basename(), row, is_next, place);
  if (found != Found::kPlace) return found;
  for (std::size_t n = 0; n < tables_.size(); ++n) {
    if (tables_[n] == &table) first_ = (n + 1) % tables_.size();
  }
  ++counters_.misses;
  return found;
}

RowCache::Found RowCache::fetch(const char* asker, std::uint32_t row, bool is_next, std::uint32_t& place) {
  if (fetched_.size() == config_.misses_in_flight) return Found::kNoPlace;
  if (!to_home_->can_push()) return Found::kNextCycle;  // another row was missed in this one
  std::uint32_t leaving = Residency::kNone;
  place = tags_->place(row, leaving);
  if (place == Residency::kNone && is_next) place = tags_->spare_place(row, leaving);
  if (place == Residency::kNone) return Found::kNoPlace;
  std::uint32_t dirty = 0;
  for (std::size_t n = 0; n < tables_.size(); ++n) dirty |= std::uint32_t{tables_[n]->takes_change(place)} << n;
  if (leaving == Residency::kNone) dirty = 0;
  counters_.evictions += leaving != Residency::kNone;
  counters_.dirty += dirty != 0;
  bad_[place] = false;
  prefetches_.unused += ahead_[place];
  ahead_[place] = false;
  fetched_.push_back(place);
  const TableMiss miss{row, place, leaving, dirty, begins_[row]};
  to_home_->push(miss);
  if (events_.on()) record(asker, miss);
  return Found::kPlace;
}

RequestId RowCache::object(std::uint32_t row) const {
  return {first_object_.node(), first_object_.kind(), first_object_.queue(), first_object_.life(), row};
}

void RowCache::record(const char* asker, const TableMiss& miss) const {
  TraceEvent e;
  e.kind = TraceKind::kMissed;
  e.request = object(miss.index);
  e.values[0] = miss.index;
  e.text = asker;
  events_(e);
  if (miss.leaving == Residency::kNone) return;
  e.kind = TraceKind::kEvicted;
  e.request = object(miss.leaving);
  e.values = {miss.leaving, miss.index, miss.dirty != 0 ? 1u : 0u};
  events_(e);
}

void RowCache::prefetch(std::uint32_t row) {
  if (!is_small()) return;
  prefetches_.dropped += to_prefetch_ != Residency::kNone;
  to_prefetch_ = row;
  commit_later();
}

// Spare places are for those who wait. A row that is here is used soon, and is the last to make room.
void RowCache::take_prefetch() {
  const std::uint32_t row = std::exchange(to_prefetch_, Residency::kNone);
  if (row >= rows_ || lost_[row]) return;
  std::uint32_t place = tags_->find(row);
  if (place != Residency::kNone) return tags_->use(place);
  switch (fetch("", row, false, place)) {
    case Found::kNextCycle:
      to_prefetch_ = row;
      return commit_later();
    case Found::kNoPlace:
      ++prefetches_.dropped;
      return;
    case Found::kPlace:
      break;
  }
  tags_->use(place);
  tags_->pin(place);
  prefetched_.push_back(place);
  ahead_[place] = true;
  ++prefetches_.rows;
}

bool RowCache::under_way(std::uint32_t place) const {
  return std::find(fetched_.begin(), fetched_.end(), place) != fetched_.end();
}

// Whether nobody uses it any more. A row that could not be fetched is asked for again then.
bool RowCache::unpin(std::uint32_t place) {
  tags_->unpin(place);
  if (tags_->pinned(place)) return false;
  const bool heals = std::find(healed_.begin(), healed_.end(), place) != healed_.end();
  if (bad_[place] && !heals) tags_->drop(place), bad_[place] = false;
  return true;
}

// Those that were refused.
void RowCache::try_all_again() {
  for (TableBase* table : tables_) table->try_again(~std::uint32_t{0});
}

// ---- Fetches

void RowCache::arrived(const TableMiss& miss, bool ok) {
  RNIC_CHECK_MSG(tags_->index_at(miss.place) == miss.index && under_way(miss.place), name_, ": nobody missed this row");
  arrivals_.push_back({miss, ok, false});
  commit_later();
}

void RowCache::lose(const TableMiss& miss) {
  arrived(miss, false);
  arrivals_.back().lost = true;
}

// Somebody may hold the place of what was lost: it is nobody's then, and the next ask fetches the row.
void RowCache::renew(std::uint32_t row) {
  if (!is_small()) return;
  lost_[row] = false;
  const std::uint32_t place = tags_->find(row);
  if (is_bad(place) && !under_way(place)) tags_->drop(place);
}

void RowCache::begin(std::uint32_t row) {
  has_uses_ = true;
  if (!is_lost(row)) return;
  renew(row);
  begins_[row] = true;
}

void RowCache::settle() {
  for (const auto& [miss, ok, lost] : arrivals_) {
    fetched_.erase(std::find(fetched_.begin(), fetched_.end(), miss.place));
    bad_[miss.place] = !ok;
    counters_.failed += !ok;
    if (miss.begins) begins_[miss.index] = false;
    if (lost) lost_[miss.index] = true;
    const auto prefetched = std::find(prefetched_.begin(), prefetched_.end(), miss.place);
    if (prefetched == prefetched_.end()) continue;
    prefetched_.erase(prefetched);
    if (!ok) ahead_[miss.place] = false;
    unpin(miss.place);
  }
  arrivals_.clear();
  try_all_again();
}

void RowCache::forget() {
  RNIC_CHECK_MSG(fetched_.empty(), name_, ": rows are forgotten while they are fetched");
  forgets_ = is_small();
  if (forgets_) commit_later();
}

// A row that somebody waits to use is not what its home has any more.
void RowCache::drop_rows() {
  forgets_ = false;
  for (std::uint32_t place = 0; place < places(); ++place) {
    if (tags_->pinned(place)) bad_[place] = true;
    else tags_->drop(place);
    for (TableBase* table : tables_) table->takes_change(place);
  }
  for (TableBase* table : tables_) table->changed_.clear();
  lost_.assign(lost_.size(), has_uses_);
  begins_.assign(begins_.size(), false);
  ahead_.assign(ahead_.size(), false);
}

// ---- Without write-back

// A row that has changed again before its octets leave is written once, so the home may be slow.
void RowCache::connect_home(PopPort<RowWrite>& writes, RowPacker& packer) {
  RNIC_CHECK_MSG(changes_to_home_ == nullptr && writes_through(), name_);
  LinkConfig config;
  config.depth = 2;
  changes_to_home_ = std::make_unique<Link<RowWrite>>(name_ + ".changes", clk_, config);
  writes(*changes_to_home_);
  changes_to_home_->set_producer(writes.owner());
  packer_ = &packer;
}

// A change of this cycle pins its row before anybody can make it leave.
void RowCache::take_changes() {
  for (std::uint32_t n = 0; n < tables_.size(); ++n) {
    for (const std::uint32_t place : tables_[n]->changed_) {
      changes_.push({tags_->index_at(place), place, n});
      ++unwritten_;
      tags_->pin(place);
    }
    tables_[n]->changed_.clear();
  }
  for (const std::uint32_t place : written_) {
    if (unpin(place)) try_all_again();
  }
  unwritten_ -= static_cast<unsigned>(written_.size());
  has_credit_later_ = !written_.empty();
  written_.clear();
}

// One a cycle. It takes all that was changed up to now.
void RowCache::send_change() {
  if (changes_.empty()) return;
  if (!changes_to_home_->can_push()) {
    if (has_credit_later_) commit_later();
    return;
  }
  RowWrite write;
  write.change = changes_.pop();
  tables_[write.change.table]->takes_change(write.change.place);
  packer_->pack_change(write);
  changes_to_home_->push(write);
  if (!changes_.empty()) commit_later();
}

void RowCache::written(const RowChange& change) {
  written_.push_back(change.place);
  commit_later();
}

void RowCache::heal(std::uint32_t place) {
  healed_.push_back(place);
  commit_later();
}

void RowCache::check_leaving(const TableMiss& miss) const {
  RNIC_CHECK_MSG(is_small() && miss.leaving != Residency::kNone && under_way(miss.place), name_, ": no row makes room");
}

void RowCache::account() {
  const Cycle next = clk_.now() + 1;
  const auto fetched = static_cast<unsigned>(fetched_.size());
  const bool full = fetched == config_.misses_in_flight;  // otherwise what is refused waits for a place of its set
  const auto any = [this](auto is) { return std::any_of(tables_.begin(), tables_.end(), is); };
  const bool holding = any([](const TableBase* table) { return table->holding_ != 0; });
  const bool blocked = any([](const TableBase* table) { return table->blocked_ != 0; });
  rows_account_.set(next, fetched, holding || (blocked && !full));
  misses_account_.set(next, fetched, blocked && full);
}

void RowCache::reset() {
  if (!is_small()) return;
  to_home_->reset();
  tags_->reset();
  first_ = 0;
  fetched_.clear();
  arrivals_.clear();
  healed_.clear();
  forgets_ = false;
  to_prefetch_ = Residency::kNone;
  prefetched_.clear();
  ahead_.assign(ahead_.size(), false);
  expects_change_ = false;
  if (changes_to_home_ != nullptr) changes_to_home_->reset();
  changes_.clear();
  unwritten_ = 0;
  written_.clear();
  has_credit_later_ = false;
  bad_.assign(bad_.size(), false);
  lost_.assign(lost_.size(), false);
  begins_.assign(begins_.size(), false);
  account();
}

void RowCache::describe(const Description& d, const CacheNames& names, RequestId first) {
  d.counters(counters_);
  d.stats().ratio(
      "hit_rate", [this] { return static_cast<double>(counters_.hits); },
      [this] { return static_cast<double>(counters_.lookups()); }, "hits, as a share of the rows read");
  const Description timed = d.in(clk_).at(name_.c_str());
  timed.account({names.rows, "slots", Reach::kFetch, names.cache, 140}, rows_account_);
  timed.account({names.misses, "slots", Reach::kTags, names.in_flight, 141}, misses_account_);
  first_object_ = first;
  if (is_small()) timed.point(events_);
}

}  // namespace rnic

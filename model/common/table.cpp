#include "model/common/table.h"

#include <algorithm>
#include <cstring>

#include "model/common/description.h"

namespace rnic {

TableReader::TableReader(Stage& owner, const char* name, unsigned asks, RowOrder order, unsigned keeps)
    : PortBase(name), owner_(owner), asks_(asks), order_(order), keeps_(keeps) {
  owner.add(*this);
}

// With a port for each reader it is a plain push. Otherwise ports are granted when all asks of the cycle are known.
void TableReader::ask(std::uint32_t index, std::uint32_t tag) {
  check_caller();
  if (table_->shared_ || table_->cached()) {
    link_->reserve() = {index, tag};
    if (table_->cached()) waiting_.push({index, tag});
    table_->pend(*this);
  } else {
    link_->push({index, tag});
    table_->count(1);
  }
}

const TableAsk& TableReader::front() const {
  check_caller();
  RNIC_CHECK_MSG(link_->can_pop(), link_->name(), ": use before the row is there");
  return link_->front();
}

bool TableReader::ok() const {
  if (!table_->cached()) return table_->has(front().index);
  return places_.front() != Residency::kNone && !table_->is_bad(places_.front());
}

bool TableReader::awaits_fetch(std::uint32_t tag) const {
  check_caller();
  if (refused_ && waiting_.any([tag](const TableAsk& ask) { return ask.tag == tag; })) return true;
  return std::any_of(held_.begin(), held_.end(),
                     [&](const Held& h) { return h.ask.tag == tag && table_->under_way(h.place); });
}

std::uint32_t TableReader::place() const { return table_->cached() ? places_.front() : front().index; }

void TableReader::drop() {
  take_front();
  if (table_->cached()) table_->used_up(*this, places_.pop());
}

void TableReader::take_front() {
  if constexpr (kSanitized) {
    const Cycle now = owner_.clock().now();
    RNIC_CHECK_MSG(used_at_ != now, link_->name(), ": two rows are dropped in one cycle");
    used_ = front().index;
    used_at_ = now;
  }
  link_->drop();
}

void TableReader::keep() {
  RNIC_CHECK_MSG(kept_.size() < keeps_, link_->name(), ": keeps more rows than it said");
  const TableAsk ask = front();
  take_front();
  kept_.push_back({ask, table_->cached() ? places_.pop() : ask.index});
  if (table_->cached() && asks_next()) table_->try_again(std::uint32_t{1} << number_);
}

bool TableReader::ok_kept(std::size_t n) const {
  check_caller();
  const auto& [ask, place] = kept_[n];
  return table_->has(ask.index) && place != Residency::kNone && !(table_->cached() && table_->is_bad(place));
}

void TableReader::release() {
  check_caller();
  for (const Held& row : kept_) {
    if (table_->cached()) table_->used_up(*this, row.place);
  }
  kept_.clear();
}

void TableReader::release_front() {
  check_caller();
  const Held row = kept_.front();
  kept_.erase(kept_.begin());
  if (table_->cached()) table_->used_up(*this, row.place);
}

void TableReader::check_caller() const {
  if constexpr (!kSanitized) return;
  RNIC_CHECK_MSG(owner_.clock().may_be_called(owner_), link_->name(), ": used by another stage");
}

TableBase::TableBase(std::string name, ClockDomain& clk, std::size_t rows, unsigned row_bits, const TableConfig& config,
                     const CacheConfig* cache)
    : name_(std::move(name)),
      clk_(clk),
      rows_(rows),
      row_bits_(row_bits),
      config_(config),
      banks_(config.banks),
      cache_config_(cache != nullptr ? *cache : CacheConfig{}),
      rows_account_(0),
      misses_account_(cache_config_.misses_in_flight) {
  used_.resize(rows);
  RNIC_CHECK_MSG(config.read_cycles >= 1 && config.read_ports >= 1 && config.banks >= 1, name_);
  if (cache == nullptr || cache->entries >= rows) return;
  cache_ = std::make_unique<Residency>(*cache);
  bad_.resize(cache->entries);
  dirty_.resize(cache->entries);
  lost_.resize(rows);
}

void TableBase::connect_home(PopPort<TableMiss>& misses) {
  RNIC_CHECK_MSG(to_home_ == nullptr, name_);
  LinkConfig config;
  config.depth = cache_config_.misses_in_flight;
  to_home_ = std::make_unique<Link<TableMiss>>(name_ + ".misses", clk_, config);
  misses(*to_home_);
  to_home_->set_producer(misses.owner());  // what is not on the chip is missed in a commit
}

void TableBase::bind(TableReader& reader) {
  RNIC_CHECK_MSG(!reader.bound(), name_ + '.' + reader.name() + " is bound twice");
  RNIC_CHECK_MSG(readers_.size() < kMaxReaders, name_, ": more than 32 readers");
  LinkConfig config = LinkConfig::pipeline(row_cycles());
  if (cached()) config.depth += 2 * cache_config_.misses_in_flight;  // some of them hit
  if (reader.asks_ != 0) config.depth = reader.asks_;
  reader.link_ = std::make_unique<Link<TableAsk>>(name_ + '.' + reader.name(), clk_, config);
  reader.link_->set_producer(reader.owner_);
  reader.link_->set_consumer(reader.owner_);
  reader.table_ = this;
  reader.number_ = static_cast<unsigned>(readers_.size());
  readers_.push_back(&reader);
  shared_ = readers_.size() > config_.read_ports;
  if (!cached()) return;
  for (unsigned n = 0; n <= reader.keeps_; ++n) cache_->add_spare();
  bad_.resize(cache_->places());
  dirty_.resize(cache_->places());
}

std::vector<LinkBase*> TableBase::links() const {
  std::vector<LinkBase*> links;
  for (const TableReader* reader : readers_) links.push_back(reader->link_.get());
  if (to_home_ != nullptr) links.push_back(to_home_.get());
  return links;
}

void TableBase::commit_later() {
  if (registered_) return;
  registered_ = true;
  clk_.commit_later(*this);
}

void TableBase::pend(TableReader& reader) {
  ++reader.ungranted_;
  pending_ |= std::uint32_t{1} << reader.number_;
  commit_later();
}

void TableBase::count(unsigned accesses) {
  const Cycle now = clk_.now();
  in_cycle_ = accesses + (counted_at_ == now ? in_cycle_ : 0);
  counted_at_ = now;
  counters_.accesses += accesses;
  counters_.most.level(in_cycle_, 0);
}

// ---- Writes

void TableBase::log(std::uint32_t row, void* to, const void* value, std::size_t octets) {
  const auto* from = static_cast<const std::byte*>(value);
  if (kSanitized && clk_.is_calling()) check_written_once(static_cast<std::byte*>(to), octets);
  writes_.push_back({row, static_cast<std::byte*>(to), octets});
  values_.insert(values_.end(), from, from + octets);
  ++counters_.writes;
  commit_later();
}

// Two stages that write the same octets would have an order.
void TableBase::check_written_once(const std::byte* to, std::size_t octets) const {
  const auto overlaps = [&](const Write& w) { return w.to < to + octets && to < w.to + w.octets; };
  RNIC_CHECK_MSG(std::none_of(writes_.begin(), writes_.end(), overlaps), name_,
                 ": a column is written twice in a cycle");
}

void TableBase::note_owned(std::uint32_t row, std::size_t place) {
  if (cached()) dirty_[place] = true;
  note_used(row);
  if constexpr (kSanitized) check_owned(row);
  Bank& bank = bank_of(row);
  if (std::exchange(bank.owned_at, clk_.now()) != clk_.now()) bank.owned.clear();
  if (bank.owns(row)) return;
  bank.owned.push_back(row);
  ++counters_.writes;
}

bool TableBase::can_own(std::uint32_t row) const {
  const Bank& bank = bank_of(row);
  return bank.owned_at != clk_.now() || bank.owned.size() < config_.read_ports || bank.owns(row);
}

void TableBase::check_owned(std::uint32_t row) const {
  const Cycle now = clk_.now();
  const auto is_row = [row](const TableReader::Held& h) { return h.ask.index == row; };
  const auto holds = [&](const TableReader* r) {
    const bool in_front = r->can_use() && r->link_->front().index == row;
    const bool kept = std::any_of(r->kept_.begin(), r->kept_.end(), is_row);
    return &r->owner_ == owner_ && (in_front || kept || (r->used_at_ == now && r->used_ == row));
  };
  RNIC_CHECK_MSG(owner_ != nullptr && clk_.may_be_called(*owner_), name_, ": changed in place by another stage");
  RNIC_CHECK_MSG(can_own(row), name_, ": more rows of a bank are changed in one cycle than it has ports");
  RNIC_CHECK_MSG(std::any_of(readers_.begin(), readers_.end(), holds), name_, ": its owner has not read this row");
}

void TableBase::apply_writes() {
  const std::byte* from = values_.data();
  for (const Write& w : writes_) {
    std::memcpy(w.to, from, w.octets);
    from += w.octets;
    call_holders(w.row);
  }
  writes_.clear();
  values_.clear();
}

// A stage that has the row and did not use it waits for a change.
void TableBase::call_holders(std::uint32_t row) {
  const auto is_row = [row](const TableReader::Held& h) { return h.ask.index == row; };
  for (TableReader* reader : readers_) {
    const bool in_front = reader->can_use() && reader->link_->front().index == row;
    if (in_front || std::any_of(reader->kept_.begin(), reader->kept_.end(), is_row)) {
      reader->owner_.wake(clk_.now() + 1);
    }
  }
}

// ---- Grants

void TableBase::commit() {
  registered_ = false;
  settle_writes();
  for (const std::uint32_t place : healed_) bad_[place] = false;
  healed_.clear();
  if (!arrivals_.empty()) settle();
  if (forgets_) drop_rows();
  if (pending_ != 0) grant();
  if (cached()) release();
}

// Of each bank, to as many readers as it has ports. A reader that gets none takes part again in the next cycle.
void TableBase::grant() {
  const auto asking = static_cast<unsigned>(__builtin_popcount(pending_));
  for (std::uint32_t left = pending_; left != 0; left &= left - 1) {
    const TableReader& reader = *readers_[static_cast<unsigned>(__builtin_ctz(left))];
    bank_of(cached() ? reader.waiting_.front().index : reader.link_->reserved().index).asks |= left & -left;
  }
  unsigned granted = 0;
  for (Bank& bank : banks_) granted += grant(bank);
  count(granted);
  counters_.conflicts += asking - granted;
  if (pending_ != 0) commit_later();
}

// Round-robin: after the reader that was granted last, then from the first one on.
unsigned TableBase::grant(Bank& bank) {
  unsigned granted = 0;
  for (; bank.asks != 0 && granted < config_.read_ports; ++granted) {
    const std::uint32_t after = bank.asks & ~((std::uint32_t{2} << bank.last) - 1);
    bank.last = static_cast<unsigned>(__builtin_ctz(after != 0 ? after : bank.asks));
    bank.asks &= ~(std::uint32_t{1} << bank.last);
    grant(*readers_[bank.last]);
  }
  bank.asks = 0;
  return granted;
}

void TableBase::grant(TableReader& reader) {
  if (cached()) return look_up(reader);
  reader.link_->fill(row_cycles());
  if (--reader.ungranted_ == 0) pending_ &= ~(std::uint32_t{1} << reader.number_);
}

// ---- Rows with a home elsewhere

unsigned TableBase::row_cycles() const { return config_.read_cycles + (cached() ? cache_config_.tag_cycles : 0); }

std::uint32_t TableBase::place_of(std::uint32_t row) const { return cached() ? cache_->find(row) : row; }

// A read that finds no way, or all fetches taken, waits; those of other readers pass. Another ask of its reader lets it
// try again.
void TableBase::look_up(TableReader& reader) {
  const std::uint32_t bit = std::uint32_t{1} << reader.number_;
  const Found found = find(reader, reader.waiting_.front());
  if (found == Found::kNextCycle) return;
  if (found == Found::kNoPlace) {
    cache_counters_.waits += !std::exchange(reader.refused_, true);
    blocked_ |= bit;
    pending_ &= ~bit;
    return;
  }
  reader.waiting_.drop();
  reader.refused_ = false;
  blocked_ &= ~bit;
  holding_ |= bit;
  if (--reader.ungranted_ == 0) pending_ &= ~bit;
}

// Only the next row of a reader takes or shares a spare place, so there is always one for it: no reader waits for
// another one's pins, whatever rows a stage holds at a time.
TableBase::Found TableBase::find(TableReader& reader, const TableAsk& ask) {
  const std::uint32_t index = ask.index;
  if (!has(index) || lost_[index]) return reader.held_.push_back({ask, Residency::kNone}), Found::kPlace;
  std::uint32_t place = cache_->find(index);
  if (place != Residency::kNone && cache_->is_spare(place) && !reader.asks_next()) return Found::kNoPlace;
  if (place == Residency::kNone) {
    if (fetched_.size() == cache_config_.misses_in_flight) return Found::kNoPlace;
    if (!to_home_->can_push()) return Found::kNextCycle;  // another reader missed a row in this one
    std::uint32_t leaving = Residency::kNone;
    place = cache_->place(index, leaving);
    if (place == Residency::kNone && reader.asks_next()) place = cache_->spare_place(index, leaving);
    if (place == Residency::kNone) return Found::kNoPlace;
    const bool evicts = leaving != Residency::kNone, dirty = evicts && dirty_[place];
    cache_counters_.evictions += evicts;
    cache_counters_.dirty += dirty;
    bad_[place] = dirty_[place] = false;
    fetched_.push_back(place);
    to_home_->push({index, place, leaving, dirty});
    ++cache_counters_.misses;
  } else {
    ++(under_way(place) ? cache_counters_.joined : cache_counters_.hits);
  }
  cache_->use(place);
  cache_->pin(place);
  reader.held_.push_back({ask, place});
  return Found::kPlace;
}

bool TableBase::under_way(std::uint32_t place) const {
  return std::find(fetched_.begin(), fetched_.end(), place) != fetched_.end();
}

void TableBase::arrived(const TableMiss& miss, bool ok) {
  RNIC_CHECK_MSG(cache_->index_at(miss.place) == miss.index && under_way(miss.place), name_,
                 ": nobody missed this row");
  arrivals_.push_back({miss, ok});
  commit_later();
}

void TableBase::settle() {
  for (const auto& [miss, ok] : arrivals_) {
    fetched_.erase(std::find(fetched_.begin(), fetched_.end(), miss.place));
    bad_[miss.place] = !ok;
    cache_counters_.failed += !ok;
  }
  arrivals_.clear();
  pending_ |= std::exchange(blocked_, 0);
}

void TableBase::forget() {
  RNIC_CHECK_MSG(fetched_.empty(), name_, ": rows are forgotten while they are fetched");
  forgets_ = cached();
  if (forgets_) commit_later();
}

// A row that somebody waits to use is not what its home has any more.
void TableBase::drop_rows() {
  forgets_ = false;
  for (std::uint32_t place = 0; place < cache_->places(); ++place) {
    if (cache_->pinned(place)) bad_[place] = true;
    else cache_->drop(place);
    dirty_[place] = false;
  }
  lost_.assign(lost_.size(), false);
}

void TableBase::heal(std::uint32_t row) {
  if (!cached()) return;
  healed_.push_back(place_of(row));
  commit_later();
}

void TableBase::check_leaving(const TableMiss& miss) const {
  RNIC_CHECK_MSG(cached() && miss.leaving != Residency::kNone && under_way(miss.place), name_, ": no row makes room");
}

// One row of each reader a cycle: the oldest that is there, or the oldest if it is.
void TableBase::release() {
  for (std::uint32_t left = holding_; left != 0; left &= left - 1) {
    TableReader& reader = *readers_[static_cast<unsigned>(__builtin_ctz(left))];
    const auto is_here = [this](const TableReader::Held& h) { return !under_way(h.place); };
    const auto last = reader.order_ == RowOrder::kAsAsked ? reader.held_.begin() + 1 : reader.held_.end();
    const auto next = std::find_if(reader.held_.begin(), last, is_here);
    if (next == last) continue;
    reader.link_->reserved() = next->ask;
    reader.link_->fill(row_cycles());
    reader.places_.push(next->place);
    reader.held_.erase(next);
    if (reader.held_.empty()) {
      holding_ &= ~(left & -left);
    } else {
      commit_later();
    }
  }
  account();
}

// A row that could not be fetched is asked for again when nobody uses it any more.
void TableBase::used_up(const TableReader& reader, std::uint32_t place) {
  if (place != Residency::kNone) cache_->unpin(place);
  const bool free = place != Residency::kNone && !cache_->pinned(place);
  const bool heals = std::find(healed_.begin(), healed_.end(), place) != healed_.end();
  if (free && bad_[place] && !heals) cache_->drop(place), bad_[place] = false;
  if (free) try_again(blocked_);
  else if (reader.asks_next()) try_again(std::uint32_t{1} << reader.number_);
}

// Those of these readers that were refused.
void TableBase::try_again(std::uint32_t readers) {
  const std::uint32_t again = blocked_ & readers;
  if (again == 0) return;
  blocked_ &= ~again;
  pending_ |= again;
  commit_later();
}

void TableBase::account() {
  const Cycle next = clk_.now() + 1;
  const auto fetched = static_cast<unsigned>(fetched_.size());
  const bool full =
      fetched == cache_config_.misses_in_flight;  // otherwise what is refused waits for a place of its set
  rows_account_.set(next, fetched, holding_ != 0 || (blocked_ != 0 && !full));
  misses_account_.set(next, fetched, blocked_ != 0 && full);
}

void TableBase::reset_readers() {
  for (TableReader* reader : readers_) {
    reader->link_->reset();
    reader->kept_.clear();
    reader->ungranted_ = 0;
    reader->used_at_ = kNever;
  }
  banks_.assign(banks_.size(), {});
  pending_ = 0;
  writes_.clear();
  values_.clear();
  if (cached()) reset_cache();
}

void TableBase::reset_cache() {
  for (TableReader* reader : readers_) {
    reader->waiting_.clear();
    reader->places_.clear();
    reader->held_.clear();
    reader->refused_ = false;
  }
  to_home_->reset();
  cache_->reset();
  fetched_.clear();
  arrivals_.clear();
  healed_.clear();
  forgets_ = false;
  bad_.assign(bad_.size(), false);
  dirty_.assign(dirty_.size(), false);
  lost_.assign(lost_.size(), false);
  blocked_ = holding_ = 0;
  account();
}

void TableBase::describe(const Description& d) {
  d.counters(counters_);
  const StatsGroup& stats = d.stats();
  const auto fixed = [&](const char* key, double value, const char* unit, const char* text) {
    stats.derived(
        key, [value] { return value; }, unit, text);
  };
  const double ports = double{1} * config_.read_ports * config_.banks;
  stats.ratio(
      "busy", [this] { return static_cast<double>(counters_.accesses); },
      [this, ports] { return static_cast<double>(clk_.next()) * ports; },
      "accesses, as a share of what its ports allow");
  fixed("entries", static_cast<double>(rows_), "rows", "on the chip or in their home");
  stats.derived(
      "used", [this] { return static_cast<double>(rows_used_); }, "rows", "that were written since the start");
  fixed("bits", row_bits_, "bits", "of a row");
  fixed("ports", config_.read_ports, "ports", "for reads, of each bank");
  fixed("banks", config_.banks, "banks", "its parts with ports of their own");
  fixed("size", static_cast<double>(places()) * row_bits_ / 8, "octets", "of the memory on the chip");
}

void TableBase::describe_cache(const Description& d, const CacheNames& names) {
  d.counters(cache_counters_);
  d.stats().ratio(
      "hit_rate", [this] { return static_cast<double>(cache_counters_.hits); },
      [this] { return static_cast<double>(cache_counters_.lookups()); }, "hits, as a share of the rows read");
  const Description timed = d.in(clk_);
  timed.account({names.rows, "slots", Reach::kFetch, names.cache, 140}, rows_account_);
  timed.account({names.misses, "slots", Reach::kTags, names.in_flight, 141}, misses_account_);
}

}  // namespace rnic

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

bool TableReader::awaits_fetch(std::uint32_t tag) const {
  check_caller();
  if (refused_ && waiting_.any([tag](const TableAsk& ask) { return ask.tag == tag; })) return true;
  return std::any_of(held_.begin(), held_.end(),
                     [&](const Held& h) { return h.ask.tag == tag && table_->under_way(h.place); });
}

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

void TableReader::check_called() const {
  RNIC_CHECK_MSG(owner_.clock().may_be_called(owner_), link_->name(), ": used by another stage");
}

TableBase::TableBase(std::string name, ClockDomain& clk, std::size_t rows, unsigned row_bits, const TableConfig& config,
                     std::shared_ptr<RowCache> cache)
    : name_(std::move(name)),
      clk_(clk),
      rows_(rows),
      row_bits_(row_bits),
      config_(config),
      banks_(config.banks),
      cache_(std::move(cache)),
      cached_(cache_ != nullptr && cache_->is_small()) {
  used_.resize(rows);
  RNIC_CHECK_MSG(config.read_cycles >= 1 && config.read_ports >= 1 && config.banks >= 1, name_);
  if (cache_ != nullptr) cache_->add(*this);
  dirty_.resize(cached() ? places() : 0);
}

void TableBase::bind(TableReader& reader) {
  RNIC_CHECK_MSG(!reader.bound(), name_ + '.' + reader.name() + " is bound twice");
  RNIC_CHECK_MSG(readers_.size() < kMaxReaders, name_, ": more than 32 readers");
  LinkConfig config = LinkConfig::pipeline(row_cycles());
  if (cached()) config.depth += 2 * cache_->config().misses_in_flight;  // some of them hit
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
}

std::vector<LinkBase*> TableBase::links() const {
  std::vector<LinkBase*> links;
  for (const TableReader* reader : readers_) links.push_back(reader->link_.get());
  if (cache_ == nullptr) return links;
  for (LinkBase* link : cache_->links_of(*this)) links.push_back(link);
  return links;
}

void TableBase::commit_later() {
  if (cached()) return cache_->commit_later();
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
  if (cached()) note_dirty(static_cast<std::uint32_t>(place));
  note_used(row);
  if constexpr (kSanitized) check_owned(row);
  Bank& bank = bank_of(row);
  if (std::exchange(bank.owned_at, clk_.now()) != clk_.now()) bank.owned.clear();
  if (bank.owns(row)) return;
  bank.owned.push_back(row);
  ++counters_.writes;
}

void TableBase::note_through(std::uint32_t place) {
  changed_.push_back(place);
  commit_later();
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
  grant();
}

std::uint32_t TableBase::index_asked(const TableReader& reader) const {
  return cached() ? reader.waiting_.front().index : reader.link_->reserved().index;
}

// Of each bank, to as many readers as it has ports. A reader that gets none takes part again in the next cycle.
void TableBase::grant() {
  if (pending_ == 0) return;
  if ((pending_ & (pending_ - 1)) == 0) return grant_alone(*readers_[static_cast<unsigned>(__builtin_ctz(pending_))]);
  const auto asking = static_cast<unsigned>(__builtin_popcount(pending_));
  for (std::uint32_t left = pending_; left != 0; left &= left - 1) {
    const TableReader& reader = *readers_[static_cast<unsigned>(__builtin_ctz(left))];
    bank_of(index_asked(reader)).asks |= left & -left;
  }
  unsigned granted = 0;
  for (Bank& bank : banks_) granted += grant(bank);
  count(granted);
  counters_.conflicts += asking - granted;
  if (pending_ != 0) commit_later();
}

// Nobody else asks.
void TableBase::grant_alone(TableReader& reader) {
  bank_of(index_asked(reader)).last = reader.number_;
  grant(reader);
  count(1);
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

unsigned TableBase::row_cycles() const { return config_.read_cycles + (cached() ? cache_->config().tag_cycles : 0); }

// A read that finds no way, or all fetches taken, waits; those of other readers pass. Another ask of its reader lets it
// try again.
void TableBase::look_up(TableReader& reader) {
  const std::uint32_t bit = std::uint32_t{1} << reader.number_;
  const RowCache::Found found = find(reader, reader.waiting_.front());
  if (found == RowCache::Found::kNextCycle) return;
  if (found == RowCache::Found::kNoPlace) {
    cache_->counters_.waits += !std::exchange(reader.refused_, true);
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

RowCache::Found TableBase::find(TableReader& reader, const TableAsk& ask) {
  std::uint32_t place = Residency::kNone;
  if (has(ask.index) && !cache_->is_lost(ask.index)) {
    const RowCache::Found found = cache_->look_up(*this, reader.owner(), ask.index, reader.asks_next(), place);
    if (found != RowCache::Found::kPlace) return found;
  }
  reader.held_.push_back({ask, place});
  return RowCache::Found::kPlace;
}

bool TableBase::takes_change(std::uint32_t place) {
  const bool changed = dirty_[place];
  dirty_[place] = false;
  return changed;
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
}

void TableBase::used_up(const TableReader& reader, std::uint32_t place) {
  const bool free = place != Residency::kNone && cache_->unpin(place);
  if (free) cache_->try_all_again();
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
  if (!cached()) return;
  for (TableReader* reader : readers_) {
    reader->waiting_.clear();
    reader->places_.clear();
    reader->held_.clear();
    reader->refused_ = false;
  }
  dirty_.assign(dirty_.size(), false);
  changed_.clear();
  blocked_ = holding_ = 0;
  cache_->reset();
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
  describe_memory(
      stats, {rows_, places(), row_bits_, "rows", "on the chip or in their home"},
      [this] { return static_cast<double>(rows_used_); }, "that were written since the start");
  fixed("ports", config_.read_ports, "ports", "for reads, of each bank");
  fixed("banks", config_.banks, "banks", "its parts with ports of their own");
}

}  // namespace rnic

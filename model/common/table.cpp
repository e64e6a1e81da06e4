#include "model/common/table.h"

#include <algorithm>
#include <cstring>

#include "model/common/description.h"

namespace rnic {

TableReader::TableReader(Stage& owner, const char* name, unsigned asks) : PortBase(name), owner_(owner), asks_(asks) {
  owner.add(*this);
}

// With a port for each reader it is a plain push. Otherwise ports are granted when all asks of the cycle are known.
void TableReader::ask(std::uint32_t index, std::uint32_t tag) {
  check_caller();
  if (table_->shared_) {
    link_->reserve() = {index, tag};
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

bool TableReader::ok() const { return table_->has(front().index); }

void TableReader::drop() {
  if constexpr (kSanitized) {
    const Cycle now = owner_.clock().now();
    RNIC_CHECK_MSG(used_at_ != now, link_->name(), ": two rows are dropped in one cycle");
    used_ = front().index;
    used_at_ = now;
  }
  link_->drop();
}

void TableReader::check_caller() const {
  if constexpr (!kSanitized) return;
  RNIC_CHECK_MSG(owner_.clock().may_be_called(owner_), link_->name(), ": used by another stage");
}

TableBase::TableBase(std::string name, ClockDomain& clk, std::size_t rows, unsigned row_bits, const TableConfig& config)
    : name_(std::move(name)), clk_(clk), rows_(rows), row_bits_(row_bits), config_(config), banks_(config.banks) {
  RNIC_CHECK_MSG(config.read_cycles >= 1 && config.read_ports >= 1 && config.banks >= 1, name_);
}

void TableBase::bind(TableReader& reader) {
  RNIC_CHECK_MSG(!reader.bound(), name_ + '.' + reader.name() + " is bound twice");
  RNIC_CHECK_MSG(readers_.size() < kMaxReaders, name_, ": more than 32 readers");
  LinkConfig config = LinkConfig::pipeline(config_.read_cycles);
  if (reader.asks_ != 0) config.depth = reader.asks_;
  reader.link_ = std::make_unique<Link<TableAsk>>(name_ + '.' + reader.name(), clk_, config);
  reader.link_->set_producer(reader.owner_);
  reader.link_->set_consumer(reader.owner_);
  reader.table_ = this;
  reader.number_ = static_cast<unsigned>(readers_.size());
  readers_.push_back(&reader);
  shared_ = readers_.size() > config_.read_ports;
}

std::vector<LinkBase*> TableBase::links() const {
  std::vector<LinkBase*> links;
  for (const TableReader* reader : readers_) links.push_back(reader->link_.get());
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

void TableBase::note_owned(std::uint32_t row) {
  Bank& bank = bank_of(row);
  if constexpr (kSanitized) check_owned(bank, row);
  const Cycle now = clk_.now();
  if (bank.owned_at == now && bank.owned == row) return;
  bank.owned_at = now;
  bank.owned = row;
  ++counters_.writes;
}

void TableBase::check_owned(const Bank& bank, std::uint32_t row) const {
  const Cycle now = clk_.now();
  const auto holds = [&](const TableReader* r) {
    const bool in_front = r->can_use() && r->link_->front().index == row;
    return &r->owner_ == owner_ && (in_front || (r->used_at_ == now && r->used_ == row));
  };
  RNIC_CHECK_MSG(owner_ != nullptr && clk_.may_be_called(*owner_), name_, ": changed in place by another stage");
  RNIC_CHECK_MSG(bank.owned_at != now || bank.owned == row, name_, ": two rows of a bank are changed in one cycle");
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
  for (TableReader* reader : readers_) {
    if (reader->can_use() && reader->link_->front().index == row) reader->owner_.wake(clk_.now() + 1);
  }
}

// ---- Grants

void TableBase::commit() {
  registered_ = false;
  if (!writes_.empty()) apply_writes();
  if (pending_ != 0) grant();
}

// Of each bank, to as many readers as it has ports. A reader that gets none takes part again in the next cycle.
void TableBase::grant() {
  const auto asking = static_cast<unsigned>(__builtin_popcount(pending_));
  for (std::uint32_t left = pending_; left != 0; left &= left - 1) {
    const TableReader& reader = *readers_[static_cast<unsigned>(__builtin_ctz(left))];
    bank_of(reader.link_->reserved().index).asks |= left & -left;
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
  reader.link_->fill(config_.read_cycles);
  if (--reader.ungranted_ == 0) pending_ &= ~(std::uint32_t{1} << reader.number_);
}

void TableBase::reset_readers() {
  for (TableReader* reader : readers_) {
    reader->link_->reset();
    reader->ungranted_ = 0;
    reader->used_at_ = kNever;
  }
  banks_.assign(banks_.size(), {});
  pending_ = 0;
  writes_.clear();
  values_.clear();
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
  fixed("entries", static_cast<double>(rows_), "rows", "what it holds");
  fixed("bits", row_bits_, "bits", "of a row");
  fixed("ports", config_.read_ports, "ports", "for reads, of each bank");
  fixed("banks", config_.banks, "banks", "its parts with ports of their own");
  fixed("size", static_cast<double>(rows_) * row_bits_ / 8, "octets", "of the memory");
}

}  // namespace rnic

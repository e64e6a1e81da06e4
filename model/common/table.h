// A memory of rows with ports and read latency: a stage asks for a row in one cycle and uses it in a later one. See
// table.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/common/link.h"
#include "model/common/memory.h"
#include "model/common/part.h"
#include "model/common/registered.h"
#include "model/common/ring.h"
#include "model/common/row_cache.h"
#include "model/config/field.h"
#include "model/stats/high_water.h"

namespace rnic {

class TableBase;

struct TableConfig {
  unsigned read_cycles = 2;
  unsigned read_ports = 1;
  unsigned banks = 1;
  template <class V>
  static void fields(V& v) {
    v("read_cycles", &TableConfig::read_cycles, "from a read of the memory to the use of the row", in_range(1, 63),
      unit("cycles"));
    v("read_ports", &TableConfig::read_ports, "rows that can be read in a cycle, from each bank", in_range(1, 32));
    v("banks", &TableConfig::banks, "a row is in bank number `index modulo banks`", in_range(1, 64));
  }
};

// What a reader asks for.
struct TableAsk {
  std::uint32_t index = 0;
  std::uint32_t tag = 0;  // for the reader, which gets it back with the row
  static constexpr const char* kMessage = "table_ask";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("index", 32, m.index);
    v("tag", 32, m.tag);
  }
};

// In which order a reader's rows come, if some have to be fetched. Those of one index always come as they were asked
// for.
enum class RowOrder : std::uint8_t { kAsAsked, kAsTheyCome };

// A stage's way to a table: a link of the stage to itself. It carries asks; a row is there while its ask is in front.
class TableReader : public PortBase {
 public:
  // `asks`: how many may be on the way or wait to be used, 0: enough for a use in each cycle without conflicts.
  // `keeps`: rows that it may keep at a time.
  TableReader(Stage& owner, const char* name, unsigned asks = 0, RowOrder order = RowOrder::kAsAsked,
              unsigned keeps = 0);

  // One ask a cycle. A refusal is remembered: the stage is called when it can ask.
  bool can_ask() { return link_->can_push(); }
  void ask(std::uint32_t index, std::uint32_t tag = 0);

  // The stage is called in the first cycle in which the row of an ask can be used, and after a write to it while it is
  // not dropped. kNever: nothing was asked for, or no port was granted yet.
  Cycle row_at() const { return link_->front_at(); }
  bool can_use() const { return link_->can_pop(); }
  const TableAsk& front() const;
  bool ok() const;  // whether the table has that row, and its home has given it; only then there is a row to be used
  // Whether the row of this ask is fetched, or has to wait until another one was. False: it can be used in some cycles,
  // or that is decided at the end of this one.
  bool awaits_fetch(std::uint32_t tag) const;
  void drop();  // used; its place is free for another ask from the next cycle on

  // For a use of several rows at once: the row in front is kept, and the next one comes to the front. Until release()
  // of all that are kept, writes reach them, too.
  void keep();
  std::size_t kept() const { return kept_.size(); }
  bool ok_kept(std::size_t n) const;  // n-th: as ok()
  void release();
  void release_front();  // the first of them alone

  Stage& owner() const { return owner_; }
  bool bound() const final { return link_ != nullptr; }

 protected:
  ~TableReader() override = default;
  const TableBase& table() const { return *table_; }
  std::uint32_t place() const;  // of the row in front
  std::uint32_t place_kept(std::size_t n) const { return kept_[n].place; }

 private:
  friend class TableBase;
  void check_caller() const {
    if constexpr (kSanitized) check_called();
  }
  void check_called() const;
  void take_front();
  bool asks_next() const { return held_.empty() && places_.empty(); }  // for the row after those that it keeps

  Stage& owner_;
  const unsigned asks_;
  const RowOrder order_;
  const unsigned keeps_;
  TableBase* table_ = nullptr;
  std::unique_ptr<Link<TableAsk>> link_;
  unsigned number_ = 0;     // among the table's readers
  unsigned ungranted_ = 0;  // asks that wait for a port
  struct Held {
    TableAsk ask;
    std::uint32_t place;
  };
  std::vector<Held> kept_;
  // With a cache: asks that were not looked up yet; those that were, while their row is fetched or an older one's; and
  // the places of those whose rows are on their way to the stage, or there.
  Ring<TableAsk> waiting_;
  std::vector<Held> held_;
  Ring<std::uint32_t> places_;
  bool refused_ = false;  // the oldest that was not looked up yet
  // With sanitizers: the row that was used last, and when.
  Cycle used_at_ = kNever;
  std::uint32_t used_ = 0;
};

struct TableCounters {
  std::uint64_t accesses = 0, conflicts = 0, writes = 0;
  HighWater most;
  template <class V>
  static void fields(V& v) {
    v("accesses", &TableCounters::accesses, "accesses", "rows read");
    v("conflicts", &TableCounters::conflicts, "cycles", "readers' waits for a port, added up");
    v("writes", &TableCounters::writes, "writes", "columns written; what the owner changes of a row in a cycle is one");
    v("most_accesses", &TableCounters::most, "accesses", "rows read in one cycle, at most");
  }
};

// All of a table that does not depend on its rows.
class TableBase : public Committed, public Part {
 public:
  static constexpr unsigned kMaxReaders = 32;  // one bit each in a mask

  virtual ~TableBase() = default;
  TableBase(const TableBase&) = delete;
  TableBase& operator=(const TableBase&) = delete;

  const std::string& name() const { return name_; }
  const TableConfig& config() const { return config_; }
  const TableCounters& counters() const { return counters_; }
  std::size_t rows() const { return rows_; }
  // Whether some rows are not on the chip.
  bool cached() const { return cached_; }
  bool shares_cache_with(const TableBase& table) const { return cache_ != nullptr && cache_ == table.cache_; }
  // Of a table that can have one.
  RowCache& cache() const { return *cache_; }
  const std::shared_ptr<RowCache>& shared_cache() const { return cache_; }
  // Whether the row is on the chip and was changed in place: its home has not seen that yet.
  bool is_dirty(std::uint32_t row) const {
    return cached() && place_of(row) != Residency::kNone && dirty_[place_of(row)];
  }
  bool has(std::uint32_t index) const { return index < rows_; }
  // The stage whose columns own() changes in place.
  void owned_by(const Stage& stage) { owner_ = &stage; }
  // Of its readers, in the order in which they were bound.
  std::vector<LinkBase*> links() const;

  void commit() override;  // writes, then grants
  // The writes alone, at the end of a cycle: for who makes one depend on another.
  void settle_writes() {
    if (!writes_.empty()) apply_writes();
  }
  void describe(const Description& d) override;

 protected:
  // Without a cache all rows are on the chip.
  TableBase(std::string name, ClockDomain& clk, std::size_t rows, unsigned row_bits, const TableConfig& config,
            std::shared_ptr<RowCache> cache);
  void bind(TableReader& reader);
  // A column is written, or changed in place.
  void note_used(std::uint32_t row) {
    rows_used_ += !used_[row];
    used_[row] = true;
  }
  void log(std::uint32_t row, void* to, const void* value, std::size_t octets);
  void note_owned(std::uint32_t row, std::size_t place);
  bool can_own(std::uint32_t row) const;
  void note_change(std::uint32_t row) {
    if (cached()) note_dirty(place_of(row));
  }
  void heal(std::uint32_t row) {
    if (cached()) cache_->heal(place_of(row));
  }
  void check_row(std::uint32_t row) const { RNIC_CHECK_MSG(has(row), name_, ": no such row"); }
  void reset_readers();
  // kNone: the row is not on the chip.
  std::uint32_t place_of(std::uint32_t row) const { return cached() ? cache_->place_of(row) : row; }
  std::size_t places() const { return cached() ? cache_->places() : rows_; }
  // With a cache: the row there could not be fetched.
  bool is_bad(std::uint32_t place) const { return cache_->is_bad(place); }
  bool under_way(std::uint32_t place) const { return cache_->under_way(place); }
  // Of the rows on the chip.
  virtual void resize(std::size_t places) { dirty_.resize(places); }

 private:
  friend class TableReader;
  friend class RowCache;
  struct Bank {
    std::uint32_t asks = 0;           // readers, while grants are made
    unsigned last = kMaxReaders - 1;  // granted; the next one in turn comes first
    Cycle owned_at = kNever;
    std::vector<std::uint32_t> owned = {};  // rows, in that cycle
    bool owns(std::uint32_t row) const { return std::find(owned.begin(), owned.end(), row) != owned.end(); }
  };
  struct Write {
    std::uint32_t row;
    std::byte* to;
    std::size_t octets;
  };
  Bank& bank_of(std::uint32_t index) { return banks_[config_.banks == 1 ? 0 : index % config_.banks]; }
  const Bank& bank_of(std::uint32_t index) const { return const_cast<TableBase*>(this)->bank_of(index); }
  void note_dirty(std::uint32_t place) {
    if (dirty_.at(place)) return;
    dirty_[place] = true;
    if (cache_->writes_through()) note_through(place);
  }
  void note_through(std::uint32_t place);
  void pend(TableReader& reader);
  void commit_later();
  void count(unsigned accesses);
  void apply_writes();
  void grant();
  unsigned grant(Bank& bank);
  void grant_alone(TableReader& reader);
  void grant(TableReader& reader);
  std::uint32_t index_asked(const TableReader& reader) const;
  void call_holders(std::uint32_t row);
  unsigned row_cycles() const;
  void look_up(TableReader& reader);
  RowCache::Found find(TableReader& reader, const TableAsk& ask);
  void release();
  // Whether the row there was changed in place, up to now.
  bool takes_change(std::uint32_t place);
  void used_up(const TableReader& reader, std::uint32_t place);
  void try_again(std::uint32_t readers);
  void check_written_once(const std::byte* to, std::size_t octets) const;
  void check_owned(std::uint32_t row) const;

  const std::string name_;
  ClockDomain& clk_;
  const std::size_t rows_;
  const unsigned row_bits_;
  const TableConfig config_;
  const Stage* owner_ = nullptr;
  std::vector<TableReader*> readers_;
  bool shared_ = false;  // there are fewer ports than readers
  std::vector<Bank> banks_;
  std::uint32_t pending_ = 0;  // readers with asks that wait for a port
  bool registered_ = false;    // for commit()
  std::vector<Write> writes_;  // of this cycle
  std::vector<std::byte> values_;
  Cycle counted_at_ = kNever;
  unsigned in_cycle_ = 0;  // accesses in that one
  TableCounters counters_;
  std::vector<bool> used_;  // by row
  std::uint64_t rows_used_ = 0;

  const std::shared_ptr<RowCache> cache_;
  const bool cached_;
  std::vector<bool> dirty_;             // by place: the row there was changed in place
  std::vector<std::uint32_t> changed_;  // without write-back: places, in this cycle
  std::uint32_t blocked_ = 0;           // readers whose next read waits for the end of a fetch, or of a pin
  std::uint32_t holding_ = 0;           // readers with rows that are fetched, or wait behind one
};

// Asked for each use.
[[gnu::always_inline]] inline const TableAsk& TableReader::front() const {
  check_caller();
  RNIC_CHECK_MSG(link_->can_pop(), link_->name(), ": use before the row is there");
  return link_->front();
}
[[gnu::always_inline]] inline std::uint32_t TableReader::place() const {
  return table_->cached() ? places_.front() : front().index;
}
[[gnu::always_inline]] inline bool TableReader::ok() const {
  if (!table_->cached()) return table_->has(front().index);
  return places_.front() != Residency::kNone && !table_->is_bad(places_.front());
}

// `T` describes its fields as messages do (message.h).
template <class T>
class Table final : public TableBase {
 public:
  static_assert(kIsMessage<T>, "a row says what its fields are (message.h)");

  class Reader final : public TableReader {
   public:
    using TableReader::TableReader;
    // The memory's content at the end of the last cycle. It belongs to the table: for this cycle only.
    const T& row() const {
      RNIC_CHECK_MSG(ok(), name(), ": no row to use");
      return static_cast<const Table&>(table()).data_[place()];
    }
    const T& row_kept(std::size_t n) const {
      RNIC_CHECK_MSG(ok_kept(n), name(), ": no row to use");
      return static_cast<const Table&>(table()).data_[place_kept(n)];
    }
  };

  Table(std::string name, ClockDomain& clk, std::size_t rows, const TableConfig& config)
      : Table(std::move(name), clk, rows, config, std::shared_ptr<RowCache>()) {}
  // With a cache of its own.
  Table(std::string name, ClockDomain& clk, std::size_t rows, const TableConfig& config, const CacheConfig& cache)
      : Table(name, clk, rows, config, std::make_shared<RowCache>(name, clk, rows, cache)) {}
  // The rows of one index in all tables of the cache are one object.
  Table(std::string name, ClockDomain& clk, std::size_t rows, const TableConfig& config,
        std::shared_ptr<RowCache> cache)
      : TableBase(std::move(name), clk, rows, bits_of<T>(), config, std::move(cache)), data_(places()) {}

  // Before the first cycle, all of them.
  void bind(Reader& reader) { TableBase::bind(reader); }

  // Visible from the next cycle on, also to rows on their way. A column, and an element of one that is an array, is
  // written once in a cycle. A row that is not on the chip is not changed: its home is.
  template <class C>
  void write(std::uint32_t row, C T::*column, const C& value) {
    static_assert(std::is_trivially_copyable_v<C>);
    T* const place = find(row);
    note_used(row);
    if (place != nullptr) log(row, &(place->*column), &value, sizeof value);
  }
  template <class E, std::size_t N>
  void write(std::uint32_t row, std::array<E, N> T::*column, std::size_t element, const E& value) {
    static_assert(std::is_trivially_copyable_v<E>);
    T* const place = find(row);
    note_used(row);
    if (place != nullptr) log(row, &(place->*column).at(element), &value, sizeof value);
  }
  // The same of a row on the chip, whose home does not hear of it before it makes room.
  template <class C>
  void change(std::uint32_t row, C T::*column, const C& value) {
    write(row, column, value);
    note_change(row);
  }
  // The whole row, also of one that could not be fetched.
  void replace(std::uint32_t row, const T& value) {
    T* const place = find(row);
    RNIC_CHECK_MSG(place != nullptr, name(), ": a row that is not here");
    log(row, place, &value, sizeof value);
    note_change(row);
    heal(row);
  }
  // In place, by the owner, of a row that one of its readers has in front, keeps, or has dropped in this cycle; of as
  // many rows in each bank a cycle as it has ports. For columns that no other stage reads.
  template <class C>
  C& own(std::uint32_t row, C T::*column) {
    return own_in_row(row, column).column;
  }
  // The same, with the row's other columns, to be read.
  template <class C>
  struct Owned {
    C& column;
    const T& row;
  };
  template <class C>
  Owned<C> own_in_row(std::uint32_t row, C T::*column) {
    T* const place = find(row);
    RNIC_CHECK_MSG(place != nullptr, name(), ": a row that is not here");
    note_owned(row, static_cast<std::size_t>(place - data_.data()));
    return {place->*column, *place};
  }
  // Whether that may be done in this cycle.
  using TableBase::can_own;
  // The row that makes room for one that was missed, until that one comes.
  const T& leaving(const TableMiss& miss) const {
    cache().check_leaving(miss);
    return data_[miss.place];
  }
  // A row that was changed, when its octets leave.
  const T& changed(const RowChange& change) const { return data_[change.place]; }
  // The content of a row that was missed, before RowCache::arrived().
  void fill(const TableMiss& miss, const T& row) {
    static_assert(std::is_trivially_copyable_v<T>);
    log(miss.index, &data_[miss.place], &row, sizeof row);
  }
  // For observers, which are no hardware. nullptr: it is not on the chip, or could not be fetched.
  const T* peek(std::uint32_t row) const {
    return cached() && is_bad(place_of(row)) ? nullptr : const_cast<Table*>(this)->find(row);
  }

  // All rows are as in the beginning, and nothing is on its way.
  void reset() {
    reset_readers();
    for (T& row : data_) row = T{};
  }

 private:
  void resize(std::size_t places) override {
    TableBase::resize(places);
    data_.resize(places);
  }
  T* find(std::uint32_t row) {
    check_row(row);
    const std::uint32_t place = place_of(row);
    return place == Residency::kNone ? nullptr : &data_[place];
  }

  std::vector<T> data_;
};

}  // namespace rnic

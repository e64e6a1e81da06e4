// Which rows are on the chip, and the fetches of those that are not. See table.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/common/account.h"
#include "model/common/link.h"
#include "model/common/registered.h"
#include "model/common/residency.h"
#include "model/common/ring.h"
#include "model/common/trace_point.h"
#include "model/config/field.h"

namespace rnic {

class Description;
class Stage;
class TableBase;

// A row that is not on the chip, for the unit that fetches it from its home.
struct TableMiss {
  static constexpr unsigned kTables = 32;  // that may share a cache: one bit each in `dirty`
  std::uint32_t index = 0;
  std::uint32_t place = 0;    // where it comes to
  std::uint32_t leaving = 0;  // the row that makes room for it, if
  std::uint32_t dirty = 0;    // that one was changed in place: it has to go to its home. Bit n: in the n-th table
  bool begins = false;        // a use of a lost one begins: it is as in the beginning, whatever its home has
  static constexpr const char* kMessage = "table_miss";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("index", 32, m.index);
    v("place", 32, m.place);
    v("leaving", 32, m.leaving);
    v("dirty", kTables, m.dirty);
    v("begins", 1, m.begins);
  }
};

// A row of one of its tables was changed in place, and goes to its home at once.
struct RowChange {
  std::uint32_t index = 0;
  std::uint32_t place = 0;
  std::uint32_t table = 0;  // the n-th
  static constexpr const char* kMessage = "row_change";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("index", 32, m.index);
    v("place", 32, m.place);
    v("table", 5, m.table);
  }
};
// The same with what the stage has changed, as it was at the end of the cycle in which it left.
struct RowWrite {
  static constexpr std::size_t kMaxBytes = 256;
  RowChange change;
  std::uint64_t octet = 0;  // in the home,
  std::uint32_t bytes = 0;  // and how many
  std::array<std::uint8_t, kMaxBytes> octets{};
  static constexpr const char* kMessage = "row_write";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("change", m.change);
    v("octet", 64, m.octet);
    v("bytes", 9, m.bytes);
  }
};
class RowPacker {
 public:
  virtual void pack_change(RowWrite& write) = 0;  // `write.change` is given

 protected:
  ~RowPacker() = default;
};

struct CacheCounters {
  std::uint64_t hits = 0, misses = 0, joined = 0, waits = 0, evictions = 0, dirty = 0, failed = 0;
  std::uint64_t lookups() const { return hits + misses + joined; }
  template <class V>
  static void fields(V& v) {
    v("hits", &CacheCounters::hits, "reads", "reads of rows on the chip");
    v("misses", &CacheCounters::misses, "reads", "reads of rows that had to be fetched");
    v("joined", &CacheCounters::joined, "reads", "reads of rows that were on their way already");
    v("waits", &CacheCounters::waits, "reads",
      "reads that waited because of misses_in_flight, or for a place of their set");
    v("evictions", &CacheCounters::evictions, "rows", "rows that made room");
    v("dirty_evictions", &CacheCounters::dirty, "rows", "of these, rows that had been changed here");
    v("failed", &CacheCounters::failed, "rows", "rows that could not be fetched");
  }
};

// Of rows that are fetched before anybody asks for them.
struct PrefetchCounters {
  std::uint64_t rows = 0, used = 0, late = 0, unused = 0, dropped = 0;
  template <class V>
  static void fields(V& v) {
    v("rows", &PrefetchCounters::rows, "rows", "rows fetched before they were asked for");
    v("used", &PrefetchCounters::used, "rows", "of these, rows that were there when they were asked for");
    v("late", &PrefetchCounters::late, "rows", "of these, rows that were asked for while they were fetched");
    v("unused", &PrefetchCounters::unused, "rows", "of these, rows that made room before they were asked for");
    v("dropped", &PrefetchCounters::dropped, "rows",
      "rows that were not fetched: no fetch or no place of their set was free, or a further one came first");
  }
};

// Of a cache's accounts in files, and as bottlenecks.
struct CacheNames {
  const char *rows, *misses;
  const char *cache, *in_flight;
};

// Of one table, or of several whose rows of one index are one object: all of them are on the chip, or none. It commits
// its tables in their order, whatever the order of calls in the cycle.
class RowCache final : public Committed {
 public:
  // As many entries as rows, or more: all are on the chip.
  RowCache(std::string name, ClockDomain& clk, std::size_t rows, const CacheConfig& config);

  void add(TableBase& table);
  bool is_small() const { return tags_ != nullptr; }
  // In the order of the bits of TableMiss::dirty.
  bool is_of(const std::vector<const TableBase*>& tables) const {
    return std::equal(tables.begin(), tables.end(), tables_.begin(), tables_.end());
  }
  const CacheConfig& config() const { return config_; }
  unsigned misses_in_flight() const { return is_small() ? config_.misses_in_flight : 0; }
  const CacheCounters& counters() const { return counters_; }
  // Where rows that are not on the chip are asked for. Before the first cycle.
  void connect_home(PopPort<TableMiss>& misses);
  // Where changes go, if rows are not written back.
  void connect_home(PopPort<RowWrite>& writes, RowPacker& packer);
  std::vector<LinkBase*> links_of(const TableBase& table) const;  // those to the home are shown with the first one
  // `first` is row 0, as the owner of its events.
  void describe(const Description& d, const CacheNames& names, RequestId first);

  // A row that was missed is there from the next cycle on, or is known not to come. Called in a stage's cycle.
  void arrived(const TableMiss& miss, bool ok);
  // It is lost: it cannot be used until renew().
  void lose(const TableMiss& miss);
  void renew(std::uint32_t row);
  bool is_lost(std::uint32_t row) const { return is_small() && lost_[row]; }
  // A use of the row begins. Its last one has left it as in the beginning; if it is lost, it is made so. Called in a
  // stage's cycle, before anybody asks for the row again.
  void begin(std::uint32_t row);
  // Drops all rows at the end of this cycle: from then on each is fetched when it is asked for. Those that begin() is
  // for are lost. Called in a stage's cycle, when no fetch is under way.
  void forget();
  void check_leaving(const TableMiss& miss) const;

  // Fetches the row at the end of this cycle, after those that are asked for, if it is not here. Nobody waits for it:
  // it is dropped if there is no place for it, or a further one comes before it could be taken. Called by one stage, in
  // its cycle.
  void prefetch(std::uint32_t row);
  const PrefetchCounters& prefetches() const { return prefetches_; }

  // Without write-back. A row that was changed stays until written() of its last change.
  bool writes_through() const { return is_small() && !config_.write_back; }
  // Its write is on its way to the home, where no fetch passes it. Called in a stage's cycle.
  void written(const RowChange& change);
  bool has_changes() const { return unwritten_ != 0; }

  // Rows are also changed when `first` is committed, after expect_change() in the cycle. Until then none of them makes
  // room.
  void commits_behind(Committed& first) { behind_ = &first; }
  void expect_change() {
    if (!is_small()) return;
    expects_change_ = true;
    commit_later();
  }

  void commit() override;  // writes of all tables, then what arrived, then grants, then a prefetch

 private:
  friend class TableBase;
  enum class Found : std::uint8_t { kPlace, kNoPlace, kNextCycle };
  struct Arrival {
    TableMiss miss;
    bool ok, lost;
  };
  void commit_later();
  void take_changes();
  void send_change();
  std::size_t places() const { return tags_->places(); }
  // kNone: the row is not on the chip.
  std::uint32_t place_of(std::uint32_t row) const { return tags_->find(row); }
  void add_spare();
  Found look_up(const TableBase& table, const Stage& asker, std::uint32_t row, bool is_next, std::uint32_t& place);
  Found miss(const TableBase& table, const Stage& asker, std::uint32_t row, bool is_next, std::uint32_t& place);
  Found fetch(const char* asker, std::uint32_t row, bool is_next, std::uint32_t& place);
  RequestId object(std::uint32_t row) const;
  void record(const char* asker, const TableMiss& miss) const;
  void take_prefetch();
  bool under_way(std::uint32_t place) const;
  bool is_bad(std::uint32_t place) const { return place != Residency::kNone && bad_[place]; }
  void heal(std::uint32_t place);
  bool unpin(std::uint32_t place);
  void try_all_again();
  void settle();
  void drop_rows();
  void account();
  void reset();

  const std::string name_;
  ClockDomain& clk_;
  const CacheConfig config_;
  const std::size_t rows_;           // of each table
  std::unique_ptr<Residency> tags_;  // nullptr: all rows are on the chip
  std::unique_ptr<Link<TableMiss>> to_home_;
  std::vector<TableBase*> tables_;
  std::size_t first_ = 0;  // table whose readers are granted first: the one after that which missed a row last
  bool registered_ = false;
  std::vector<std::uint32_t> fetched_;  // places of rows that are fetched
  std::vector<bool> bad_;               // by place: the row there could not be fetched
  std::vector<bool> lost_;              // by row: it cannot be used until it is renewed, or a use of it begins
  std::vector<bool> begins_;            // by row: it was lost, a use of it has begun, and it was not here since
  bool has_uses_ = false;               // that begin
  std::vector<Arrival> arrivals_;       // of this cycle
  std::vector<std::uint32_t> healed_;   // places, in this cycle
  bool forgets_ = false;                // in this cycle
  std::uint32_t to_prefetch_ = Residency::kNone;
  std::vector<std::uint32_t> prefetched_;  // places of those that are fetched: each pins its own until then
  std::vector<bool> ahead_;                // by place: the row there was prefetched, and not asked for yet
  std::unique_ptr<Link<RowWrite>> changes_to_home_;
  RowPacker* packer_ = nullptr;
  Committed* behind_ = nullptr;
  bool expects_change_ = false;         // of that, in this cycle
  Ring<RowChange> changes_;             // each once, until its octets leave
  unsigned unwritten_ = 0;              // these, and those on their way to the home
  std::vector<std::uint32_t> written_;  // places, in this cycle
  bool has_credit_later_ = false;       // the home has taken one in this cycle
  Account rows_account_, misses_account_;
  CacheCounters counters_;
  PrefetchCounters prefetches_;
  TracePoint events_;
  RequestId first_object_;
};

}  // namespace rnic

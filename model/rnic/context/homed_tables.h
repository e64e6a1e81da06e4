// The objects that need not all be on the chip: where each is in the home, and how it is there. See context_home.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "model/abi/host_abi.h"
#include "model/rnic/context/cq_table.h"
#include "model/rnic/context/home_entry.h"
#include "model/rnic/context/home_image.h"
#include "model/rnic/context/home_layout.h"
#include "model/rnic/context/irrq_table.h"
#include "model/rnic/context/orq_table.h"
#include "model/rnic/context/page_table.h"
#include "model/rnic/context/ring_table.h"
#include "model/rnic/context/rx_table.h"
#include "model/rnic/context/sqc_table.h"
#include "model/rnic/context/stag_table.h"
#include "model/rnic/context/tx_table.h"
#include "model/rnic/messages/firmware.h"

namespace rnic {

class HomedObjects : public RowPacker {
 public:
  static constexpr std::uint32_t kMaxFetchBytes = QpHome::kUsedBytes;

  virtual ~HomedObjects() = default;
  HomedObjects(const HomedObjects&) = delete;
  HomedObjects& operator=(const HomedObjects&) = delete;

  abi::ContextKind kind() const { return kind_; }
  RowCache& cache() { return cache_; }
  // In the home.
  std::uint64_t octet_of(std::uint32_t index) const { return layout_.octet_of(index); }
  // What is fetched of it: all that the tables of this cache need.
  std::uint64_t fetched_octet(std::uint32_t index) const { return octet_of(index) + fetched_.at; }
  std::uint32_t fetched_bytes() const { return fetched_.bytes; }
  // DRAM on the board has neighbouring objects in neighbouring banks.
  std::uint32_t board_row(std::uint32_t index) const {
    return static_cast<std::uint32_t>(octet_of(index) / layout_.row_bytes);
  }

  // Gives the tables the rows that its octets are. False: they are not what was written there.
  virtual bool fill(const TableMiss& miss, const std::uint8_t* octets) = 0;
  // It cannot be read.
  virtual void fail(const TableMiss& miss) = 0;
  // A use of a lost one begins: all of it is as in the beginning, here as in the home.
  virtual void begin(const TableMiss&) { RNIC_CHECK_MSG(false, "uses of these objects do not begin"); }
  // A part of an object: how many octets, and where in the home.
  struct Part {
    std::uint64_t octet;
    std::uint32_t bytes;
  };
  // What a stage has changed in the row that makes room, in the n-th of the tables.
  virtual Part pack_dirty(const TableMiss& miss, unsigned table, std::uint8_t* to) = 0;
  // The same of a row that stays.
  virtual Part pack_changed(const RowChange& change, std::uint8_t* to) = 0;
  void pack_change(RowWrite& write) final {
    const Part part = pack_changed(write.change, write.octets.data());
    write.octet = part.octet;
    write.bytes = part.bytes;
  }
  // What the firmware writes.
  virtual Part pack_written(const HomeOp&, std::uint8_t*) {
    RNIC_CHECK_MSG(false, "the firmware writes these objects in another way");
    return {};
  }

 protected:
  struct Fetched {
    std::uint32_t at, bytes;
  };
  HomedObjects(RowCache& cache, abi::ContextKind kind, const HomeLayout& layout, const Fetched& fetched)
      : cache_(cache), kind_(kind), layout_(layout[kind]), fetched_(fetched) {}

 private:
  RowCache& cache_;
  const abi::ContextKind kind_;
  const HomeLayout::Part layout_;
  const Fetched fetched_;
};

// A row is four entries, each with its own check. Only the firmware changes them.
class HomedPages final : public HomedObjects {
 public:
  HomedPages(PageTable& table, const HomeLayout& layout);
  bool fill(const TableMiss& miss, const std::uint8_t* octets) override;
  void fail(const TableMiss& miss) override { cache().arrived(miss, false); }
  Part pack_dirty(const TableMiss& miss, unsigned table, std::uint8_t* to) override;
  Part pack_changed(const RowChange& change, std::uint8_t* to) override;

 private:
  PageTable& table_;
  PageRow row_;
};

// A row of one table in an object: the firmware's part and a stage's, each with its check.
template <class Home, class Row, auto kContext, auto kState>
class RowParts {
 public:
  static constexpr std::uint32_t kAt = std::min(Home::kContextAt, Home::kStateAt),
                                 kEnd = std::max(Home::kContextAt + Home::kContextBytes,
                                                 Home::kStateAt + Home::kStateBytes);

  RowParts(Table<Row>& table) : table_(table) {}
  // `octets`: of the object, from octet `from` on.
  bool unpack(const std::uint8_t* octets, std::uint32_t from, std::uint64_t object) {
    return part<typename Home::Context>(octets, from, object, Home::kContextAt, row_.*kContext) &&
           part<typename Home::State>(octets, from, object, Home::kStateAt, row_.*kState);
  }
  void fill(const TableMiss& miss) { table_.fill(miss, row_); }
  void begin(const TableMiss& miss) { table_.fill(miss, Row{}); }
  HomedObjects::Part pack_dirty(const TableMiss& miss, std::uint64_t object, std::uint8_t* to) const {
    return pack(table_.leaving(miss), object, to);
  }
  HomedObjects::Part pack_changed(const RowChange& change, std::uint64_t object, std::uint8_t* to) const {
    return pack(table_.changed(change), object, to);
  }

 private:
  static HomedObjects::Part pack(const Row& row, std::uint64_t object, std::uint8_t* to) {
    static_assert(Home::kStateBytes <= RowWrite::kMaxBytes);
    const std::uint64_t octet = object + Home::kStateAt;
    Home::State::pack(row.*kState, octet, to);
    return {octet, Home::kStateBytes};
  }
  template <class Image, class Part>
  bool part(const std::uint8_t* octets, std::uint32_t from, std::uint64_t object, std::uint32_t at, Part& to) const {
    return Image::unpack(octets + at - from, object + at, to);
  }
  Table<Row>& table_;
  Row row_;
};

// A row that the firmware alone changes: one part.
template <class Home, class Row>
class FirmwareRow {
 public:
  static constexpr std::uint32_t kAt = Home::kContextAt, kEnd = Home::kContextAt + Home::kContextBytes;

  FirmwareRow(Table<Row>& table) : table_(table) {}
  bool unpack(const std::uint8_t* octets, std::uint32_t from, std::uint64_t object) {
    return Home::Context::unpack(octets + Home::kContextAt - from, object + Home::kContextAt, row_);
  }
  void fill(const TableMiss& miss) { table_.fill(miss, row_); }
  void begin(const TableMiss& miss) { table_.fill(miss, Row{}); }
  HomedObjects::Part pack_dirty(const TableMiss&, std::uint64_t, std::uint8_t*) const {
    RNIC_CHECK_MSG(false, "no stage changes such a row");
    return {};
  }
  HomedObjects::Part pack_changed(const RowChange&, std::uint64_t, std::uint8_t* to) const {
    return pack_dirty({}, 0, to);
  }

 private:
  Table<Row>& table_;
  Row row_;
};

// The rows of the tables that share a cache, in the order of these tables. An object of which any part is lost stays
// lost until it is destroyed, or its number is used again.
template <class... Rows>
class HomedRows : public HomedObjects {
 public:
  template <class... Tables>
  HomedRows(abi::ContextKind kind, const HomeLayout& layout, Tables&... tables)
      : HomedObjects(cache_of(tables...), kind, layout, {kAt, std::max({Rows::kEnd...}) - kAt}), rows_(tables...) {}
  bool fill(const TableMiss& miss, const std::uint8_t* octets) final {
    const std::uint64_t object = octet_of(miss.index);
    return std::apply(
        [&](Rows&... rows) {
          if (!(rows.unpack(octets, kAt, object) && ...)) return cache().lose(miss), false;
          (rows.fill(miss), ...);
          return cache().arrived(miss, true), true;
        },
        rows_);
  }
  void fail(const TableMiss& miss) final { cache().lose(miss); }
  void begin(const TableMiss& miss) final {
    std::apply([&](Rows&... rows) { (rows.begin(miss), ...); }, rows_);
    cache().arrived(miss, true);
  }
  Part pack_dirty(const TableMiss& miss, unsigned table, std::uint8_t* to) final {
    return of_table(table, [&](const auto& rows) { return rows.pack_dirty(miss, octet_of(miss.leaving), to); });
  }
  Part pack_changed(const RowChange& change, std::uint8_t* to) final {
    return of_table(change.table,
                    [&](const auto& rows) { return rows.pack_changed(change, octet_of(change.index), to); });
  }

 private:
  template <class Pack>
  Part of_table(unsigned table, Pack pack) const {
    Part part{};
    unsigned n = 0;
    std::apply([&](const Rows&... rows) { ((n++ == table ? void(part = pack(rows)) : void()), ...); }, rows_);
    return part;
  }
  static constexpr std::uint32_t kAt = std::min({Rows::kAt...});
  template <class... Tables>
  static RowCache& cache_of(TableBase& first, Tables&... others) {
    RNIC_CHECK(first.cache().is_of({&first, &others...}));
    return first.cache();
  }
  std::tuple<Rows...> rows_;
};
using CqParts = RowParts<CqHome, CqRow, &CqRow::cq, &CqRow::state>;
using TxParts = RowParts<TxHome, TxRow, &TxRow::qp, &TxRow::state>;
using RxParts = RowParts<RxHome, RxRow, &RxRow::qp, &RxRow::state>;
using SqcParts = RowParts<SqcHome, SqcRow, &SqcRow::qp, &SqcRow::state>;
using SendRingRow = FirmwareRow<SendRingHome, RingRow>;
using ReceiveRingRow = FirmwareRow<ReceiveRingHome, RingRow>;
using SharedRingRow = FirmwareRow<SrqHome, RingRow>;
using IrrqParts = RowParts<IrrqHome, IrrqRow, &IrrqRow::qp, &IrrqRow::state>;
using OrqParts = RowParts<OrqHome, OrqRow, &OrqRow::qp, &OrqRow::state>;
using HomedCqs = HomedRows<CqParts>;
using HomedSrqs = HomedRows<SharedRingRow>;
using HomedTxQps = HomedRows<TxParts, SqcParts, SendRingRow, OrqParts>;
using HomedRxQps = HomedRows<RxParts, ReceiveRingRow, IrrqParts>;
using HomedQps = HomedRows<TxParts, RxParts, SqcParts, SendRingRow, ReceiveRingRow, IrrqParts, OrqParts>;

// Changed by stag_work alone, on the chip. An entry that is lost names nothing; it is fetched again at its next use.
class HomedStags final : public HomedObjects {
 public:
  HomedStags(StagTable& table, const HomeLayout& layout);
  bool fill(const TableMiss& miss, const std::uint8_t* octets) override;
  void fail(const TableMiss& miss) override { cache().arrived(miss, false); }
  Part pack_dirty(const TableMiss& miss, unsigned, std::uint8_t* to) override {
    return pack(table_.leaving(miss), miss.leaving, to);
  }
  Part pack_changed(const RowChange& change, std::uint8_t* to) override {
    return pack(table_.changed(change), change.index, to);
  }

 private:
  Part pack(const StagRow& row, std::uint32_t index, std::uint8_t* to) const;
  StagTable& table_;
};

}  // namespace rnic

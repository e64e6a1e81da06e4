// The tables whose rows need not all be on the chip: where each row is in the home, and how. See context_home.md.
#pragma once

#include <array>
#include <cstdint>

#include "model/abi/host_abi.h"
#include "model/rnic/context/cq_table.h"
#include "model/rnic/context/home_entry.h"
#include "model/rnic/context/home_image.h"
#include "model/rnic/context/home_layout.h"
#include "model/rnic/context/page_table.h"
#include "model/rnic/context/rx_table.h"
#include "model/rnic/context/stag_table.h"
#include "model/rnic/context/tx_table.h"

namespace rnic {

class HomedTable {
 public:
  static constexpr std::uint32_t kMaxFetchBytes = TxHome::kFetchBytes;

  virtual ~HomedTable() = default;
  HomedTable(const HomedTable&) = delete;
  HomedTable& operator=(const HomedTable&) = delete;

  abi::ContextKind kind() const { return kind_; }
  TableBase& table() { return table_; }
  // Of a row's object, in the home.
  std::uint64_t octet_of(std::uint32_t row) const { return layout_.octet_of(row); }
  // What is fetched of it: all that this table needs.
  std::uint64_t fetched_octet(std::uint32_t row) const { return octet_of(row) + fetched_.at; }
  std::uint32_t fetched_bytes() const { return fetched_.bytes; }
  // DRAM on the board has neighbouring objects in neighbouring banks.
  std::uint32_t board_row(std::uint32_t row) const {
    return static_cast<std::uint32_t>(octet_of(row) / layout_.row_bytes);
  }

  // Gives the table the row that its octets are. False: they are not what was written there.
  virtual bool fill(const TableMiss& miss, const std::uint8_t* octets) = 0;
  // The row cannot be read.
  virtual void fail(const TableMiss& miss) = 0;
  // The octets that a stage has changed in the row that makes room: how many, and where in the home.
  struct Dirty {
    std::uint64_t octet;
    std::uint32_t bytes;
  };
  virtual Dirty pack_dirty(const TableMiss& miss, std::uint8_t* to) = 0;

 protected:
  struct Fetched {
    std::uint32_t at, bytes;
  };
  HomedTable(TableBase& table, abi::ContextKind kind, const HomeLayout::Part& layout, const Fetched& fetched)
      : table_(table), kind_(kind), layout_(layout), fetched_(fetched) {}

 private:
  TableBase& table_;
  const abi::ContextKind kind_;
  const HomeLayout::Part layout_;
  const Fetched fetched_;
};

// A row is four entries, each with its own check. Only the firmware changes them.
class HomedPages final : public HomedTable {
 public:
  HomedPages(PageTable& table, const HomeLayout& layout);
  bool fill(const TableMiss& miss, const std::uint8_t* octets) override;
  void fail(const TableMiss& miss) override { table_.fill(miss, nullptr); }
  Dirty pack_dirty(const TableMiss& miss, std::uint8_t* to) override;

 private:
  PageTable& table_;
  PageRow row_;
};

// The firmware's part and a stage's, each with its check. An object of which either is lost stays lost until it is
// destroyed, or its number is used again.
template <class Home, class Row, auto kContext, auto kState>
class HomedParts final : public HomedTable {
 public:
  HomedParts(Table<Row>& table, abi::ContextKind kind, const HomeLayout& layout)
      : HomedTable(table, kind, layout[kind], {Home::kFetchAt, Home::kFetchBytes}), table_(table) {}
  bool fill(const TableMiss& miss, const std::uint8_t* octets) override {
    Row row;
    const bool whole = unpack<typename Home::Context>(octets, miss.index, Home::kContextAt, row.*kContext) &&
                       unpack<typename Home::State>(octets, miss.index, Home::kStateAt, row.*kState);
    if (whole) table_.fill(miss, &row);
    else table_.lose(miss);
    return whole;
  }
  void fail(const TableMiss& miss) override { table_.lose(miss); }
  Dirty pack_dirty(const TableMiss& miss, std::uint8_t* to) override {
    const std::uint64_t octet = octet_of(miss.leaving) + Home::kStateAt;
    Home::State::pack(table_.leaving(miss).*kState, octet, to);
    return {octet, Home::kStateBytes};
  }

 private:
  // `at`: of the part, in the object.
  template <class Image, class Part>
  bool unpack(const std::uint8_t* octets, std::uint32_t row, std::uint32_t at, Part& part) const {
    return Image::unpack(octets + at - Home::kFetchAt, octet_of(row) + at, part);
  }

  Table<Row>& table_;
};
using HomedCqs = HomedParts<CqHome, CqRow, &CqRow::cq, &CqRow::state>;
using HomedTxQps = HomedParts<TxHome, TxRow, &TxRow::qp, &TxRow::state>;
using HomedRxQps = HomedParts<RxHome, RxRow, &RxRow::qp, &RxRow::state>;

// Changed by stag_work alone, on the chip. An entry that is lost names nothing; it is fetched again at its next use.
class HomedStags final : public HomedTable {
 public:
  HomedStags(StagTable& table, const HomeLayout& layout);
  bool fill(const TableMiss& miss, const std::uint8_t* octets) override;
  void fail(const TableMiss& miss) override { table_.fill(miss, nullptr); }
  Dirty pack_dirty(const TableMiss& miss, std::uint8_t* to) override;

 private:
  StagTable& table_;
};

}  // namespace rnic

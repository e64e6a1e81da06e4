#include "model/rnic/context/homed_tables.h"

#include "model/common/bytes.h"

namespace rnic {

HomedPages::HomedPages(PageTable& table, const HomeLayout& layout)
    : HomedTable(table, abi::ContextKind::kPages, layout[abi::ContextKind::kPages]), table_(table) {}

// An entry that is not what was written there, or was never written, is no address.
bool HomedPages::fill(const TableMiss& miss, const std::uint8_t* octets) {
  bool whole = true;
  for (std::uint32_t i = 0; i < PageRow::kPages; ++i) {
    const std::uint64_t entry = load_le64(&octets[std::size_t{i} * HomeEntry::kBytes]);
    const bool good = HomeEntry::is_whole(entry, miss.index * PageRow::kPages + i);
    row_.page[i] = good ? HomeEntry::address(entry) : kNowhere;
    whole &= good || entry == 0;
  }
  table_.fill(miss, &row_);
  return whole;
}

HomedTable::Dirty HomedPages::pack_dirty(const TableMiss&, std::uint8_t*) {
  RNIC_CHECK_MSG(false, "no stage changes an entry of the page table");
  return {};
}

HomedCqs::HomedCqs(CqTable& table, const HomeLayout& layout)
    : HomedTable(table, abi::ContextKind::kCq, layout[abi::ContextKind::kCq]), table_(table) {}

bool HomedCqs::fill(const TableMiss& miss, const std::uint8_t* octets) {
  const std::uint64_t octet = octet_of(miss.index);
  CqRow row;
  const bool whole = CqHome::Context::unpack(octets, octet, row.cq) &&
                     CqHome::State::unpack(octets + CqHome::kPartBytes, octet + CqHome::kPartBytes, row.state);
  if (whole) table_.fill(miss, &row);
  else table_.lose(miss);
  return whole;
}

HomedTable::Dirty HomedCqs::pack_dirty(const TableMiss& miss, std::uint8_t* to) {
  const std::uint64_t octet = octet_of(miss.leaving) + CqHome::kPartBytes;
  CqHome::State::pack(table_.leaving(miss).state, octet, to);
  return {octet, CqHome::kPartBytes};
}

HomedStags::HomedStags(StagTable& table, const HomeLayout& layout)
    : HomedTable(table, abi::ContextKind::kStag, layout[abi::ContextKind::kStag]), table_(table) {}

bool HomedStags::fill(const TableMiss& miss, const std::uint8_t* octets) {
  StagRow row;
  const bool whole = StagHome::Row::unpack(octets, octet_of(miss.index), row);
  table_.fill(miss, whole ? &row : nullptr);
  return whole;
}

HomedTable::Dirty HomedStags::pack_dirty(const TableMiss& miss, std::uint8_t* to) {
  const std::uint64_t octet = octet_of(miss.leaving);
  StagHome::Row::pack(table_.leaving(miss), octet, to);
  return {octet, StagHome::kRowBytes};
}

HomedQps::HomedQps(TxTable& table, const HomeLayout& layout)
    : HomedTable(table, abi::ContextKind::kQp, layout[abi::ContextKind::kQp]), table_(table) {}

bool HomedQps::fill(const TableMiss& miss, const std::uint8_t* octets) {
  const std::uint64_t octet = octet_of(miss.index);
  TxRow row;
  const bool whole = TxHome::Context::unpack(octets, octet, row.qp) &&
                     TxHome::State::unpack(octets + TxHome::kStateAt, octet + TxHome::kStateAt, row.state);
  if (whole) table_.fill(miss, &row);
  else table_.lose(miss);
  return whole;
}

HomedTable::Dirty HomedQps::pack_dirty(const TableMiss& miss, std::uint8_t* to) {
  const std::uint64_t octet = octet_of(miss.leaving) + TxHome::kStateAt;
  TxHome::State::pack(table_.leaving(miss).state, octet, to);
  return {octet, TxHome::kStateBytes};
}

}  // namespace rnic

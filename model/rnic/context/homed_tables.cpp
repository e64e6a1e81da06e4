#include "model/rnic/context/homed_tables.h"

#include "model/common/bytes.h"

namespace rnic {

HomedPages::HomedPages(PageTable& table, const HomeLayout& layout)
    : HomedObjects(table.cache(), abi::ContextKind::kPages, layout, {0, PageHome::kRowBytes}), table_(table) {}

// An entry that is not what was written there, or was never written, is no address.
bool HomedPages::fill(const TableMiss& miss, const std::uint8_t* octets) {
  bool whole = true;
  for (std::uint32_t i = 0; i < PageRow::kPages; ++i) {
    const std::uint64_t entry = load_le64(&octets[std::size_t{i} * HomeEntry::kBytes]);
    const bool good = HomeEntry::is_whole(entry, miss.index * PageRow::kPages + i);
    row_.page[i] = good ? HomeEntry::address(entry) : kNowhere;
    whole &= good || entry == 0;
  }
  table_.fill(miss, row_);
  cache().arrived(miss, true);
  return whole;
}

HomedObjects::Part HomedPages::pack_dirty(const TableMiss&, unsigned, std::uint8_t*) {
  RNIC_CHECK_MSG(false, "no stage changes an entry of the page table");
  return {};
}
HomedObjects::Part HomedPages::pack_changed(const RowChange&, std::uint8_t* to) { return pack_dirty({}, 0, to); }

HomedStags::HomedStags(StagTable& table, const HomeLayout& layout)
    : HomedObjects(table.cache(), abi::ContextKind::kStag, layout, {0, StagHome::kRowBytes}), table_(table) {}

bool HomedStags::fill(const TableMiss& miss, const std::uint8_t* octets) {
  StagRow row;
  const bool whole = StagHome::Row::unpack(octets, octet_of(miss.index), row);
  if (whole) table_.fill(miss, row);
  cache().arrived(miss, whole);
  return whole;
}

HomedObjects::Part HomedStags::pack(const StagRow& row, std::uint32_t index, std::uint8_t* to) const {
  const std::uint64_t octet = octet_of(index);
  StagHome::Row::pack(row, octet, to);
  return {octet, StagHome::kRowBytes};
}

}  // namespace rnic

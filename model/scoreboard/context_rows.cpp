#include "model/scoreboard/context_rows.h"

#include <utility>

#include <fmt/format.h>

#include "model/golden/contexts.h"
#include "model/scoreboard/structure.h"

namespace rnic::scoreboard {
namespace {

template <class Row>
std::vector<std::uint8_t> image_of(Row row) {
  Structure<Row> structure;
  const auto* const from = static_cast<const std::uint8_t*>(structure.of(row));
  return {from, from + golden::layout<Row>().size};
}

}  // namespace

ContextRows::ContextRows(StageBoard& board, ContextStore& contexts, unsigned tables)
    : board_(board),
      contexts_(contexts),
      tables_(tables),
      qps_{"qp", image_of(golden::QpRow{}), {}},
      stags_{"stag", image_of(StagContext{}), {}},
      pages_{"page", image_of(golden::PageEntry{}), {}},
      srqs_{"srq", image_of(SrqContext{}), {}} {
  contexts.show_rows(*this);
  contexts.observe(*this);
}

void ContextRows::hand_over() {
  const Change& change = changes_.front();
  board_.row(change.table, change.index, change.row.data(), change.cycle);
  changes_.drop();
}

void ContextRows::wrote(Qpn n, const QpContext& c) {
  if ((tables_ & kQp) != 0) note(qps_, n.v, golden::QpRow{c});
}
void ContextRows::wrote(Srqn n, const SrqContext& c) {
  if ((tables_ & kSrq) != 0) note(srqs_, n.v, c);
}
void ContextRows::wrote_stag(std::uint32_t index, const StagContext& c) {
  if ((tables_ & kStags) != 0) note(stags_, index, c);
}
void ContextRows::wrote_page(std::uint32_t index, std::uint64_t bus_address) {
  if ((tables_ & kStags) != 0) note(pages_, index, golden::PageEntry{bus_address});
}

// Of the rows the predictor's reset leaves none.
void ContextRows::emptied() {
  board_.emptied(board_.stage().clock().now());
  changes_.clear();
  for (Table* table : {&qps_, &stags_, &pages_, &srqs_}) table->told.clear();
}

template <class Row>
void ContextRows::note(Table& table, std::uint32_t index, const Row& row) {
  Image image = image_of(row);
  Image& told = table.told.try_emplace(index, table.blank).first->second;
  if (told == image) return;
  told = image;
  changes_.push({board_.stage().clock().next(), table.name, index, std::move(image)});
  board_.moved();
}

// A QP's row may name a shared queue.
std::string context_settings(const ContextStore& contexts, unsigned tables) {
  const QpElements& of_qp = contexts.elements();
  std::string sizes = fmt::format(R"("qps": {}, "srqs": {}, "max_ird": {}, "max_ord": {})", contexts.qps(),
                                  contexts.srqs(), of_qp.ird, of_qp.ord);
  if ((tables & ContextRows::kStags) != 0)
    sizes += fmt::format(R"(, "stags": {}, "pages": {})", contexts.stags(), contexts.pages());
  return sizes;
}

}  // namespace rnic::scoreboard

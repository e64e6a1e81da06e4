#include "model/golden/contexts.h"

#include <fmt/format.h>

namespace rnic::golden {
namespace {

void check_index(const char* table, std::uint32_t index, std::size_t rows) {
  if (index >= rows) fail_index(table, index, rows);
}

// What the firmware checks of a list that the host gives (page_lists.md).
void check_pages(const StagContext& row) {
  constexpr std::uint32_t kMostPages = 1u << (PageList::kBits - PageList::kLogPageBits);
  if (row.log_page == 0) return;
  if (row.log_page < kMinLogPage || row.log_page > kMaxLogPage)
    fail_value(fmt::format("stag_context.log_page is {}: pages have 2^{} to 2^{} octets, and 0 is for no list",
                           row.log_page, kMinLogPage, kMaxLogPage));
  if (row.first_page >= kMostPages)
    fail_value(fmt::format("stag_context.first_page is {}: a page table has up to {}", row.first_page, kMostPages));
  if (row.valid && !fits_pages(row.bus, row.length, row.pages, row.log_page))
    fail_value(fmt::format("stag_context.length: {} octets from {} on do not fit {} pages of 2^{}", row.length, row.bus,
                           row.pages, row.log_page));
}

}  // namespace

ContextStore::Sizes Contexts::sizes(const ContextsConfig& config) {
  ContextStore::Sizes sizes{config.qps, 1, 1, config.stags, config.srqs, config.pages};
  sizes.elements.ird = config.max_ird;
  sizes.elements.ord = config.max_ord;
  sizes.elements.rqes = 1u << kMaxLogWq;  // a whole ring,
  sizes.elements.shared_rqes = ~0u;       // of each queue
  sizes.elements.wqes = 1u << kMaxLogWq;
  sizes.elements.shared_wqes = ~0u;
  return sizes;
}

void Contexts::write_qp(std::uint32_t index, const QpRow& row) {
  const QpContext& qp = row.qp;
  check_index("qp", index, config_.qps);
  if (qp.log_sq > kMaxLogWq || qp.log_rq > kMaxLogWq)
    fail_value(fmt::format("qp_row.log_sq, log_rq: a ring has up to 2^{} entries", kMaxLogWq));
  if (qp.ird > config_.max_ird) fail_value(fmt::format("qp_row.ird is {}, but max_ird {}", qp.ird, config_.max_ird));
  if (qp.ord > config_.max_ord) fail_value(fmt::format("qp_row.ord is {}, but max_ord {}", qp.ord, config_.max_ord));
  if (qp.shares_rq && qp.srq.v >= config_.srqs)
    fail_value(
        fmt::format("qp_row.srq: the stage has shared receive queues 0 to {}, and no {}", config_.srqs - 1, qp.srq.v));
  store.write(Qpn{index}, qp);
  store.commit();
}

void Contexts::write_stag(std::uint32_t index, const StagContext& row) {
  check_index("stag", index, config_.stags);
  if (row.kind > StagKind::kWindow2)
    fail_value("stag_context.kind is 3: there are regions and windows of types 1 and 2");
  check_pages(row);
  store.write(Stag{index << 8 | row.key}, row);
  store.commit();
}

void Contexts::write_page(std::uint32_t index, const PageEntry& row) {
  check_index("page", index, config_.pages);
  if (row.address % (std::uint64_t{1} << kMinLogPage) != 0)
    fail_value("page_entry.address: pages are aligned to 4096 octets");
  store.write_page(index, row.address);
  store.commit();
}

void Contexts::write_srq(std::uint32_t index, const SrqContext& row) {
  check_index("srq", index, config_.srqs);
  if (row.log_entries > kMaxLogWq) fail_value(fmt::format("srq_context.log_entries: a ring has up to 2^{}", kMaxLogWq));
  store.write(Srqn{index}, row);
  store.commit();
}

void Contexts::check_qp(const char* message, Qpn qpn) const {
  if (qpn.v < config_.qps) return;
  fail_value(fmt::format("{}.qpn: the stage has QPs 0 to {}, and no {}", message, config_.qps - 1, qpn.v));
}

void check_segment(const char* message, const FailedSegment& segment) {
  const unsigned ddp = segment.ddp_bytes, request = segment.request_bytes;
  if (ddp != 0 && ddp != wire::DdpTaggedHeader::kBytes && ddp != wire::DdpUntaggedHeader::kBytes) {
    fail_value(fmt::format("{}: its DDP header has {} octets; a tagged one has 14, an untagged one 18, and 0 is none",
                           message, ddp));
  }
  if (request != 0 && (request != wire::ReadRequest::kBytes || ddp == 0)) {
    fail_value(fmt::format("{}: its Read Request has {} octets after a DDP header of {}; it has 28, and 0 is none",
                           message, request, ddp));
  }
}

}  // namespace rnic::golden

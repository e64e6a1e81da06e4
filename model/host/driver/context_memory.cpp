// Context: memory regions, windows, and the device's page table.
#include <algorithm>
#include <utility>

#include "model/host/driver/context.h"
#include "model/host/driver/device_objects.h"

namespace rnic::host {

// Spread over the table, with random keys, so that a peer cannot derive one from another (RFC 5040 section 8.1.1). Each
// use of an index has another key than the one before, so that the STag of an earlier region stays invalid.
std::optional<Stag> Context::draw_stag() {
  mrs_.resize(attr_.max_mr);
  const std::size_t from = mrs_.empty() ? 0 : stags_.below(mrs_.size());
  for (std::size_t n = 0; n < mrs_.size(); ++n) {
    const std::size_t i = (from + n) % mrs_.size();
    if (mrs_[i] != nullptr && !mrs_[i]->gone(cpu_.running())) continue;
    const std::uint64_t key = mrs_[i] == nullptr ? stags_.below(256) : mrs_[i]->lkey() + 1 + stags_.below(255);
    return Stag{static_cast<std::uint32_t>(i + 1) << 8 | static_cast<std::uint8_t>(key)};
  }
  return {};
}

Mr* Context::make_mr(Pd pd, abi::CommandOp op, std::uint64_t address, std::uint64_t length, std::uint8_t flags,
                     PageRange pages, const PageList& list) {
  const std::optional<Stag> stag = draw_stag();
  if (!stag) return nullptr;
  std::unique_ptr<Mr>& mr = mrs_[(stag->v >> 8) - 1];
  if (mr != nullptr) give_back(mr->take_pages());
  mr = std::make_unique<Mr>(cpu_.running(), *stag, address, length, pages);
  abi::Command c = command_of(op, stag->v, flags);
  c.u.mr_pages = {address, length, pd.number.v, pages.first, pages.count, list.first_offset, list.log_page};
  commands_.submit(c, {}, *mr);
  return mr.get();
}

Mr* Context::reg_mr(Pd pd, const PageList& list, std::uint64_t address, std::uint64_t length, std::uint8_t access) {
  if (!list.aligned()) return nullptr;
  const std::optional<PageRange> range = take_pages(list.pages.size());
  if (!range) return nullptr;
  write_pages(range->first, list.pages, ignored_);
  Mr* mr = make_mr(pd, abi::CommandOp::kRegisterMrPages, address, length, access, *range, list);
  if (mr == nullptr) give_back(*range);
  return mr;
}

Mr* Context::alloc_mr(Pd pd, std::uint32_t max_pages) {
  const std::optional<PageRange> range = take_pages(max_pages);
  if (!range) return nullptr;
  Mr* mr = make_mr(pd, abi::CommandOp::kAllocMr, 0, 0, 0, *range);
  if (mr == nullptr) give_back(*range);
  return mr;
}

abi::Registration Context::map_mr(Mr& mr, const PageList& list, std::uint64_t address, std::uint64_t length,
                                  std::uint32_t access) {
  RNIC_CHECK(list.aligned() && list.pages.size() <= mr.pages().count);
  write_pages(mr.pages().first, list.pages, mr);
  abi::Registration r;
  r.address = address;
  r.length = length;
  r.access = access;
  r.log_page = list.log_page;
  r.pages = static_cast<std::uint32_t>(list.pages.size());
  r.first_offset = list.first_offset;
  return r;
}

void Context::write_pages(std::uint32_t first, const std::vector<std::uint64_t>& pages, CommandTarget& target) {
  submit_list(abi::CommandOp::kWritePages, first, pages, target);
}

// As many per command as its private data holds.
void Context::submit_list(abi::CommandOp op, std::uint32_t first, const std::vector<std::uint64_t>& pages,
                          CommandTarget& target) {
  constexpr std::size_t kPerCommand = abi::kPrivateDataBytes / 8;
  for (std::size_t done = 0; done < pages.size(); done += kPerCommand) {
    const std::size_t n = std::min(kPerCommand, pages.size() - done);
    std::array<std::uint8_t, abi::kPrivateDataBytes> octets;
    for (std::size_t i = 0; i < n; ++i) store_le64(&octets[8 * i], pages[done + i]);
    target.submitted();
    const auto at = first + static_cast<std::uint32_t>(done);
    commands_.submit(command_of(op, at), {octets.data(), 8 * n}, target);
  }
}

const Home* Context::give_home() {
  const bool given = home_ == nullptr || !home_->destroyed();
  if (!given) submit_home();
  return home_.get();
}

// In the order of commands, so before anything that needs it. After a reset the device gets the same pages again.
void Context::submit_home() {
  std::vector<std::uint64_t> pages = home_ != nullptr ? home_->pages() : std::vector<std::uint64_t>{};
  for (const std::uint64_t page : pages) {
    const MutableByteSpan octets = memory_.span(page, abi::kHomePageBytes);
    std::fill_n(octets.data(), octets.size(), std::uint8_t{0});
  }
  while (pages.size() < attr_.home_pages) pages.push_back(memory_.alloc(abi::kHomePageBytes, abi::kHomePageBytes));
  home_ = std::make_unique<Home>(core_, memory_, std::move(pages));
  submit_list(abi::CommandOp::kSetHome, 0, home_->pages(), *home_);
}

const Home* Context::release_home() {
  if (home_ != nullptr && !home_->destroyed())
    commands_.submit(command_of(abi::CommandOp::kReleaseHome, 0), {}, *home_);
  return home_.get();
}

// Those of regions that are gone are free again.
std::optional<PageRange> Context::take_pages(std::size_t pages) {
  for (const auto& mr : mrs_) {
    if (mr != nullptr && mr->destroyed()) give_back(mr->take_pages());
  }
  if (pages == 0) return PageRange{};
  if (pages > attr_.max_pages) return {};
  const auto count = static_cast<std::uint32_t>(pages);
  const auto first = page_table_.take(count);
  return first ? std::optional(PageRange{static_cast<std::uint32_t>(*first), count}) : std::nullopt;
}

void Context::give_back(PageRange range) { page_table_.give(range.first, range.count); }

void Context::dereg_mr(Mr& mr) { commands_.submit(command_of(abi::CommandOp::kDeregisterMr, mr.lkey()), {}, mr); }

}  // namespace rnic::host

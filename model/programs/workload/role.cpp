#include "model/programs/workload/role.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/abi/memory_piece.h"

namespace rnic::workload {

void Role::post(const host::SendWr* wrs, unsigned n) {
  core().work_on(transfer_.work);
  const int error = qp_->post_send(wrs, n);
  core().work_on(0);
  if (error != 0) transfer_.cut(fmt::format("post_send returns errno {}", error));
}

void Role::post(const host::RecvWr& wr) {
  core().work_on(transfer_.work);
  const int error = qp_->post_recv(wr);
  core().work_on(0);
  if (error != 0) transfer_.cut(fmt::format("post_recv returns errno {}", error));
}

void Role::sends(std::vector<RequestId>& by, std::uint32_t message, unsigned ahead) {
  const host::WorkObserver* const observer = context_->cpu().work_observer();
  if (observer == nullptr) return;
  by.resize(item_.count);
  by[message] = observer->owner(qp_->number(), false, qp_->sends() + ahead);
}

void Role::spoils(bool receive, unsigned ahead, const Spoiled& how) const {
  host::WorkObserver* const observer = context_->cpu().work_observer();
  if (how.what == nullptr || observer == nullptr) return;
  const std::uint64_t next = receive ? qp_->receives() : qp_->sends();
  observer->spoiled(observer->owner(qp_->number(), receive, next + ahead), how, core().time_ps());
}

namespace {

RequestId sender_of(const std::vector<RequestId>& by, std::uint32_t message) {
  return message < by.size() ? by[message] : RequestId{};
}

}  // namespace

void Role::seen(const std::vector<RequestId>& by, std::uint32_t message, std::uint64_t at_ps) const {
  host::WorkObserver* const observer = context_->cpu().work_observer();
  if (observer != nullptr) observer->seen(qp_->number(), sender_of(by, message), message, at_ps);
}

void Role::check(ByteSpan found, const std::vector<RequestId>& by, std::uint32_t message,
                 const PayloadGenerator& expected) {
  const auto d = transfer_.check(found, message, expected);
  host::WorkObserver* const observer = context_->cpu().work_observer();
  if (!d || observer == nullptr) return;
  observer->differs(qp_->number(), sender_of(by, message), message, {d->offset, d->expected, d->found},
                    core().time_ps());
}

bool LocalMemory::prepare(host::Context& context, host::Pd pd, std::uint64_t bytes, std::uint8_t access) {
  bytes = std::max<std::uint64_t>(bytes, 1);
  const std::uint64_t address = mr_ == nullptr ? context.memory().alloc(bytes, 4096) : address_;
  allocated_ = bytes;
  return prepare(context, pd, address, bytes, access);
}

bool LocalMemory::prepare(host::Context& context, host::Pd pd, std::uint64_t address, std::uint64_t bytes,
                          std::uint8_t access) {
  if (mr_ == nullptr) {
    address_ = address;
    mr_ = register_with(context, pd, bytes, access);
    if (mr_ == nullptr) {
      throw ConfigError(fmt::format("the device has too few STags{} for the memory regions of this scenario",
                                    pages_ == Pages::kNone ? "" : ", or page table entries (rnic.context.pages),"));
    }
  }
  if (mr_->failed()) throw ConfigError("the device refused to register a memory region of this scenario");
  return mr_->ready();
}

// Pages of a list are neighbours on the bus, which the device does not know.
host::Mr* LocalMemory::register_with(host::Context& context, host::Pd pd, std::uint64_t bytes,
                                     std::uint8_t access) const {
  if (pages_ == Pages::kNone) return context.reg_mr(pd, address_, bytes, access);
  constexpr std::uint64_t kAligned = std::uint64_t{1} << kMinLogPage;
  host::PageList list;
  list.log_page = static_cast<unsigned>(pages_);
  list.first_offset = static_cast<std::uint32_t>(address_ % kAligned);
  for (std::uint64_t page = address_ - list.first_offset; page < address_ + bytes;
       page += std::uint64_t{1} << list.log_page) {
    list.pages.push_back(page);
  }
  return context.reg_mr(pd, list, address_, bytes, access);
}

bool LocalMemory::release(host::Context& context) {
  if (mr_ == nullptr) return true;
  if (!releasing_) context.dereg_mr(*mr_);
  releasing_ = true;
  if (!mr_->destroyed()) return false;
  if (allocated_ != 0) context.memory().free(address_, allocated_);
  *this = LocalMemory(pages_);
  return true;
}

std::string completion_error(const host::Wc& wc, std::uint32_t message) {
  return fmt::format("message {} completed with '{}' (vendor error {:#x})", message, host::wc_status_str(wc.status),
                     wc.vendor_err);
}

}  // namespace rnic::workload

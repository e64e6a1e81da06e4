#include "model/programs/workload/churn.h"

#include <fmt/format.h>

#include "model/programs/workload/event_text.h"

namespace rnic::workload {

ChurnRole::ChurnRole(Transfer& transfer, std::uint8_t index, ChurnSide side)
    : Role(transfer, index), side_(std::move(side)) {}

void ChurnRole::completed(const host::Wc&, WrId, std::uint64_t) {
  RNIC_CHECK_MSG(false, "nothing is posted on the queue pair that stays");
}

bool ChurnRole::make(host::Context& context, host::Pd pd) {
  context_ = &context;
  pd_ = pd;
  if (cq_ == nullptr) {
    cq_ = context.create_cq(2 * slots(), side_.mode);  // one send and one receive per slot
    if (cq_ == nullptr) throw ConfigError("the device has no completion queue for " + transfer_.label);
  }
  if (cq_->failed()) throw ConfigError("the device refused a completion queue for " + transfer_.label);
  const bool ready = memory_.prepare(context, pd, std::uint64_t{slots()} * stride(), abi::kLocalWrite);
  if (!ready || !cq_->ready()) return false;
  if (side_.mode == host::CqMode::kNotified) cq_->req_notify_cq();
  return true;
}

host::Qp* ChurnRole::create_qp() {
  host::Qp* const qp = context_->create_qp({pd_, cq_, cq_, 1, 1});
  if (qp == nullptr) throw ConfigError(fmt::format("the device has too few queue pairs for {}", transfer_.label));
  return qp;
}

void ChurnRole::fail(std::uint32_t connection, const std::string& reason) {
  transfer_.fail(fmt::format("connection {}: {}", connection, reason));
}

void ChurnRole::fail(std::uint32_t connection, const host::CmEvent& event) { fail(connection, event_text(event)); }

std::vector<std::uint8_t> ChurnRole::number(std::uint32_t connection) {
  std::vector<std::uint8_t> octets(kNumberBytes);
  store_le32(octets.data(), connection);
  return octets;
}

bool ChurnRole::release() {
  if (released_) return true;
  if (!releasing_) context_->destroy_cq(*cq_);
  releasing_ = true;
  released_ = memory_.release(*context_) && cq_->destroyed();
  return released_;
}

}  // namespace rnic::workload

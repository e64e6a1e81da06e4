#include "model/host/session/session.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/common/check.h"

namespace rnic::host {

SendWr send_request(std::uint64_t id, WrOpcode opcode, const Sge& sge) {
  SendWr wr;
  wr.wr_id = id;
  wr.opcode = opcode;
  wr.send_flags = abi::kWqeSignaled;
  wr.num_sge = 1;
  wr.sg_list[0] = sge;
  return wr;
}

RecvWr receive_request(std::uint64_t id, const Sge& sge) { return {id, 1, {sge}}; }

Session::Session(Context& context, Core& core) : context_(context), events_(core) {
  if (!context.is_open()) context.when_open(core);
}

Pd Session::domain() {
  if (domain_.number.v == 0) domain_ = context_.alloc_pd();
  return domain_;
}

Mr& Session::made(Mr* mr) {
  if (mr == nullptr) throw ConfigError("the device has no STag left");
  pending_.push_back(mr);
  return *mr;
}

Mr& Session::region(std::uint64_t address, std::uint64_t bytes, std::uint8_t access) {
  return made(context_.reg_mr(domain(), address, bytes, access));
}

Mr& Session::memory(std::uint64_t bytes, std::uint8_t access, std::uint64_t alignment) {
  domain();
  return region(context_.memory().alloc(bytes, alignment), bytes, access);
}

void Session::make_cqs(std::uint32_t sends, std::uint32_t receives, CqMode mode) {
  domain();
  send_cq_ = context_.create_cq(sends, mode);
  recv_cq_ = context_.create_cq(receives, mode);
  if (send_cq_ == nullptr || recv_cq_ == nullptr) {
    throw ConfigError(fmt::format("the device has no completion queues for {} sends and {} receives", sends, receives));
  }
  pending_.insert(pending_.end(), {send_cq_, recv_cq_});
}

void Session::make_cq(std::uint32_t entries) {
  domain();
  send_cq_ = recv_cq_ = context_.create_cq(entries, CqMode::kPolled);
  if (send_cq_ == nullptr) throw ConfigError(fmt::format("the device has no completion queue of {} entries", entries));
  pending_.push_back(send_cq_);
}

Qp& Session::make_qp(std::uint32_t sends, std::uint32_t receives) {
  qp_ = context_.create_qp({domain(), send_cq_, recv_cq_, sends, receives});
  if (qp_ == nullptr) {
    throw ConfigError(
        fmt::format("the device has no queue pair for {} send and {} receive work requests", sends, receives));
  }
  pending_.push_back(qp_);
  return *qp_;
}

void Session::destroy_qp() {
  pending_.erase(std::remove(pending_.begin(), pending_.end(), qp_), pending_.end());
  context_.destroy_qp(*std::exchange(qp_, nullptr));
}

void Session::listen(std::uint16_t port, std::uint8_t cm_flags, Transport transport) {
  listener_ = &context_.listen(port, cm_flags, events_, abi::Personality::kDevice, 0, transport);
  pending_.push_back(listener_);
}

void Session::stop_listening() { context_.unlisten(*std::exchange(listener_, nullptr)); }

bool Session::ready() {
  const auto is_there = [this](const Resource* r) {
    if (!r->failed()) return r->ready();
    if (r != listener_) throw ConfigError("the device refused to create its objects");
    throw ConfigError(fmt::format("cannot listen on port {}: {}", listener_->port(), command_status_str(r->status())));
  };
  pending_.erase(std::remove_if(pending_.begin(), pending_.end(), is_there), pending_.end());
  return pending_.empty();
}

bool Session::next(CmEvent& event) {
  if (events_.empty()) return false;
  event = events_.get_cm_event();
  return true;
}

}  // namespace rnic::host

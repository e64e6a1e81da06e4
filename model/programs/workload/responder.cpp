#include "model/programs/workload/responder.h"

#include <algorithm>

#include <fmt/format.h>

namespace rnic::workload {

RingNeeds Responder::needs() const {
  if (item_.op == Op::kRead) return {0, 0};
  if (item_.op == Op::kWrite) return {0, 1};  // the final Send
  return {item_.count > receives_of(item_) ? kCreditSends : 0, receives_of(item_)};
}

bool Responder::prepare(host::Context& context, host::Qp& qp, host::Pd pd) {
  context_ = &context;
  qp_ = &qp;
  slots_ = needs().receives;
  if (item_.op == Op::kSend) {
    stride_ = (transfer_.max_size + 63) & ~63u;
    const std::uint64_t bytes = std::uint64_t{slots_} * stride_;
    if (!memory_.prepare(context, pd, bytes, abi::kLocalWrite)) return false;
    if (!other_regions_.prepare(context, transfer_, pd, memory_.address(), bytes)) return false;
  } else if (!prepare_region(pd)) {
    return false;
  }
  transfer_.receives = slots_;
  while (posted_ < slots_) post_receive(posted_);
  announced_ = posted_;
  return true;
}

bool Responder::prepare_region(host::Pd pd) {
  const std::uint8_t access = item_.op == Op::kRead ? abi::kRemoteRead : abi::kLocalWrite | abi::kRemoteWrite;
  const bool ready = memory_.prepare(*context_, pd, transfer_.region_bytes, access);
  if (item_.op == Op::kRead && !filled_) {
    for (std::uint32_t m = 0; m < item_.count; ++m) {
      transfer_.payload.fill(span(memory_.address() + transfer_.offsets[m], transfer_.sizes[m]),
                             transfer_.read_from(m));
    }
    filled_ = true;
  }
  transfer_.region = memory_.address();
  transfer_.region_rkey = memory_.key();
  return other_regions_.prepare(*context_, transfer_, pd, memory_.address(), transfer_.region_bytes) && ready;
}

// Only Sends need a buffer.
void Responder::post_receive(std::uint32_t message) {
  host::RecvWr wr;
  wr.wr_id = wr_id(item_.op == Op::kWrite ? Kind::kEnd : Kind::kMessage, message);
  if (item_.op == Op::kSend) {
    wr.num_sge = 1;
    wr.sg_list[0] = memory_.sge(message % slots_ * std::uint64_t{stride_}, stride_);
  }
  spoils(true, 0, spoil(transfer_, message, wr));
  if (is_posted(transfer_, message)) post(wr);
  ++posted_;
}

void Responder::completed(const host::Wc& wc, WrId id, std::uint64_t at_ps) {
  if (wc.status != abi::WcStatus::kSuccess) return transfer_.cut(completion_error(wc, id.message));
  switch (id.kind) {
    case Kind::kMessage:
      return received(wc, id.message, at_ps);
    case Kind::kCredit:
      --credits_outstanding_;
      return;
    case Kind::kEnd:
      ++received_;
      return check_region();
  }
}

void Responder::received(const host::Wc& wc, std::uint32_t message, std::uint64_t at_ps) {
  if (message != received_++) return transfer_.fail(fmt::format("message {} received out of order", message));
  transfer_.latencies.one_way.record(at_ps - transfer_.posted_ps[message]);
  seen(transfer_.sent_by, message, at_ps);
  item_.op == Op::kSend ? check_send(wc, message) : check_immediate(wc, message);
  if (posted_ < item_.count) post_receive(posted_);
}

void Responder::check_send(const host::Wc& wc, std::uint32_t message) {
  const std::uint32_t size = transfer_.sizes[message];
  if (wc.byte_len != size) {
    return transfer_.fail(fmt::format("message {} has {} octets instead of {}", message, wc.byte_len, size));
  }
  check(span(memory_.address() + message % slots_ * std::uint64_t{stride_}, size), transfer_.sent_by, message,
        transfer_.payload);
}

// Immediate Data shows that the Write before it is placed (RFC 7306 section 7).
void Responder::check_immediate(const host::Wc& wc, std::uint32_t message) {
  if (wc.opcode != abi::WcOpcode::kRecvRdmaWithImm || wc.imm_data != message) {
    return transfer_.fail(fmt::format("message {} has immediate data {:#x}", message, wc.imm_data));
  }
  check(span(memory_.address() + transfer_.offsets[message], transfer_.sizes[message]), transfer_.sent_by, message,
        transfer_.payload);
  if (received_ == item_.count) check_region();
}

void Responder::check_region() {
  std::uint64_t end = 0;
  const auto untouched_to = [&](std::uint64_t begin, std::uint32_t message) {
    for (const std::uint8_t octet : ByteSpan(span(memory_.address() + end, begin - end))) {
      if (octet != 0) return transfer_.fail(fmt::format("a Write has touched octets before message {}", message));
    }
  };
  for (const Placed& p : placed(transfer_)) {
    untouched_to(p.offset, p.message);
    check(span(memory_.address() + p.offset, transfer_.sizes[p.message]), transfer_.sent_by, p.message,
          transfer_.payload);
    end = p.offset + transfer_.sizes[p.message];
  }
  untouched_to(transfer_.region_bytes, item_.count);
}

// Announces a quarter of the receives at a time.
void Responder::advance() {
  if (!uses_receives(item_.op) || item_.count <= slots_) return;
  const bool due = posted_ - announced_ >= std::max(1u, slots_ / 4) || (posted_ == item_.count && announced_ < posted_);
  if (due && credits_outstanding_ < kCreditSends) post_credit();
}

// post_send copies inline data, so one word serves all credits.
void Responder::post_credit() {
  if (credit_word_ == 0) credit_word_ = context_->memory().alloc(8);
  store_le64(span(credit_word_, 8).data(), posted_);
  host::SendWr wr = host::send_request(wr_id(Kind::kCredit, 0), abi::WrOpcode::kRdmaWrite, {credit_word_, 8, 0});
  wr.send_flags |= abi::kWqeInline;
  wr.remote_addr = transfer_.credit + 8 * (credits_posted_++ % Transfer::kCreditWords);
  wr.rkey = transfer_.credit_rkey;
  post(&wr, 1);
  announced_ = posted_;
  ++credits_outstanding_;
}

bool Responder::done() const {
  if (uses_receives(item_.op)) return received_ == item_.count && credits_outstanding_ == 0;
  return item_.op == Op::kRead || received_ == 1;
}

std::string Responder::waiting_for() const {
  if (done()) return "";
  if (item_.op == Op::kWrite) return transfer_.label + ": arrival of the final Send";
  return received_ < item_.count ? fmt::format("{}: arrival of message {}", transfer_.label, received_)
                                 : transfer_.label + ": completion of its credits";
}

}  // namespace rnic::workload

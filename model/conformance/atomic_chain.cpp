#include "model/conformance/atomic_chain.h"

#include <array>

#include "model/abi/host_abi.h"
#include "model/common/bytes.h"
#include "model/common/check.h"
#include "model/golden/abi/rnic_golden_messages.h"

namespace rnic::conformance {
namespace {

constexpr std::uint32_t kQpn = 0, kStag = 0;
constexpr std::uint64_t kAddress = 4096;
using Word = std::array<std::uint8_t, abi::kAtomicBytes>;  // in host byte order

template <class M>
bool take(Predictor& from, std::uint32_t port, M& message) {
  message.size = sizeof message;
  return from.take(port, &message);
}

}  // namespace

AtomicChain::AtomicChain(const PredictorSource& source) : alu_(source.open("atomic_alu")) {}

void AtomicChain::open_memory() {
  rnic_qp_row qp{};
  qp.size = sizeof qp;
  qp.valid = 1;
  alu_->row("qp", kQpn, &qp);
  rnic_stag_context stag{};
  stag.size = sizeof stag;
  stag.valid = 1;
  stag.access = abi::kRemoteRead | abi::kRemoteWrite | abi::kRemoteAtomic;
  stag.address = stag.bus = kAddress;
  stag.length = abi::kAtomicBytes;
  alu_->row("stag", kStag, &stag);
}

// The word is `value` when the ALU reads it.
void AtomicChain::read(std::uint64_t value) {
  rnic_dma_read_request read{};
  RNIC_CHECK(take(*alu_, RNIC_ATOMIC_ALU_READ, read) && read.address == kAddress && read.bytes == abi::kAtomicBytes);
  Word word;
  store_le64(word.data(), value);
  rnic_dma_read_done done{};
  done.size = sizeof done;
  done.octets = word.data();
  done.octets_n = word.size();
  done.tag = read.tag;
  done.ok = 1;
  alu_->push(RNIC_ATOMIC_ALU_READ_DONE, &done);
}

// What the ALU makes of it; nothing where it does not swap.
std::optional<std::uint64_t> AtomicChain::written() {
  Word word;
  rnic_dma_write write{};
  write.octets = word.data();
  write.octets_room = word.size();
  if (!take(*alu_, RNIC_ATOMIC_ALU_WRITE, write)) return std::nullopt;
  RNIC_CHECK(write.address == kAddress && write.octets_n == word.size());
  rnic_dma_write_done done{};
  done.size = sizeof done;
  done.tag = write.tag;
  done.ok = 1;
  alu_->push(RNIC_ATOMIC_ALU_WRITTEN, &done);
  return load_le64(word.data());
}

AtomicChain::Result AtomicChain::execute(const wire::AtomicRequest& request, std::uint64_t original) {
  open_memory();
  rnic_queued_atomic queued{};
  queued.size = sizeof queued;
  queued.qpn = kQpn;
  queued.request_operation = static_cast<std::uint32_t>(request.operation);
  queued.request_request_id = request.request_id;
  queued.request_stag = kStag;
  queued.request_to = kAddress;
  queued.request_data = request.data;
  queued.request_data_mask = request.data_mask;
  queued.request_compare = request.compare;
  queued.request_compare_mask = request.compare_mask;
  alu_->push(RNIC_ATOMIC_ALU_IN, &queued);

  read(original);
  Result result;
  result.value = written().value_or(original);
  rnic_atomic_work response{};
  rnic_qp_event event{};
  RNIC_CHECK(take(*alu_, RNIC_ATOMIC_ALU_OUT, response) && response.response_request_id == request.request_id);
  RNIC_CHECK(!take(*alu_, RNIC_ATOMIC_ALU_OUT, response) && !take(*alu_, RNIC_ATOMIC_ALU_EVENT, event));
  result.returned = response.response_original;
  return result;
}

}  // namespace rnic::conformance

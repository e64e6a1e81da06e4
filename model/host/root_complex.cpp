#include "model/host/root_complex.h"

#include <algorithm>
#include <utility>

#include "model/abi/rnic_regs.h"
#include "model/common/bytes.h"
#include "model/common/description.h"

namespace rnic::host {

using pcie::CplStatus;
using pcie::FlowClass;
using pcie::Tlp;
using pcie::TlpType;

namespace {
constexpr std::uint32_t kAllOnes = 0xffffffff, kAllTags = 0xffffffff;
constexpr std::uint32_t kNobody = 0xffffffff;  // the cookie of an access whose answer nobody waits for

pcie::Purpose purpose_of_write(std::uint32_t offset) {
  switch (offset) {
    case regs::SqDoorbell::kOffset:
    case regs::RqDoorbell::kOffset:
    case regs::SrqDoorbell::kOffset:
    case regs::CqArm::kOffset:
    case regs::CmdqDoorbell::kOffset:
    case regs::EvqCi::kOffset:
      return pcie::Purpose::kDoorbell;
    default:
      return pcie::Purpose::kRegister;
  }
}
}  // namespace

RootComplex::RootComplex(sc_core::sc_module_name nm, ClockDomain& clk, const RootComplexConfig& config,
                         const pcie::PcieLinkConfig& link, HostMemory& memory)
    : Stage(nm, clk),
      port(*this, link, pcie::PcieSide::kHost),
      config_(config),
      link_(link),
      configured_(link),
      memory_(memory),
      snapshots_(link.max_payload_bytes),
      mmio_(*this),
      pending_reads_(config.pending_reads),
      answered_reads_(config.pending_reads) {
  if (std::uint64_t{config.mmio_ns} * 1000 < clk.period_ps()) {
    throw ConfigError("host.root_complex.mmio_ns: must be at least one cycle of the host's clock");
  }
}

void RootComplex::access(Access access, std::uint64_t at_ps) {
  last_mmio_ps_ = std::max(last_mmio_ps_, at_ps + std::uint64_t{config_.mmio_ns} * 1000);
  access.tlp.issued = clock().cycle_at_or_after(last_mmio_ps_);
  mmio_.deliver(std::move(access), last_mmio_ps_);
}

void RootComplex::mmio_write(std::uint32_t offset, std::uint32_t value, std::uint64_t at_ps) {
  Tlp tlp = Tlp::write32(configured_.bar0() + offset, value);
  tlp.purpose = purpose_of_write(offset);
  access({std::move(tlp), {}, {}}, at_ps);
}

void RootComplex::mmio_read(std::uint32_t offset, std::uint32_t cookie, std::uint64_t at_ps) {
  access({Tlp::read(configured_.bar0() + offset, 4, 0), {cookie, false}, {}}, at_ps);
}

void RootComplex::config_read(std::uint32_t offset, std::uint32_t cookie, std::uint64_t at_ps) {
  RNIC_CHECK(offset % 4 == 0 && offset < pcie::ConfigRegisters::kBytes);
  access({Tlp::config_read(offset), {cookie, true}, {}}, at_ps);
}

void RootComplex::config_write(std::uint32_t offset, std::uint32_t bytes, std::uint32_t value, std::uint32_t cookie,
                               std::uint64_t at_ps) {
  RNIC_CHECK((bytes == 1 || bytes == 2 || bytes == 4) && offset % bytes == 0);
  RNIC_CHECK(offset < pcie::ConfigRegisters::kBytes);
  const Tlp tlp = Tlp::config_write(offset, bytes, value);
  if (configured_.write(offset, bytes, tlp.data())) configured_.reset();
  access({tlp, {cookie, true}, {}}, at_ps);
}

// Of a function level reset, nobody waits for the answer.
void RootComplex::reset_device(ResetKind kind, std::uint64_t at_ps) {
  using R = pcie::ConfigRegisters;
  if (kind == ResetKind::kFlr) return config_write(R::kDeviceControl, 2, R::kFunctionReset, kNobody, at_ps);
  configured_.reset();
  resets_ = true;
  access({{}, {}, kind}, at_ps);
}

void RootComplex::answer(const Asked& asked, std::uint32_t value, bool ok) {
  if (events_ == nullptr || asked.cookie == kNobody) return;
  if (asked.config) events_->config_done(asked.cookie, value, ok, clock().now_ps());
  else events_->mmio_read_done(asked.cookie, value, ok, clock().now_ps());
}

// A reset of the link takes effect at its time, whatever waits for credits. Accesses to a link that is down have no
// device: a write is lost, and what is asked is all ones.
bool RootComplex::link_down() {
  while (mmio_.can_pop() && (mmio_.front().resets || port.down())) {
    const Access access = mmio_.pop();
    if (!access.resets) {
      ++counters_.lost_accesses;
      if (access.tlp.type != TlpType::kMWr) answer(access.asked, kAllOnes, false);
    } else if (!port.down()) {
      lose_link(*access.resets);
    }
  }
  if (mmio_.empty()) resets_ = port.down();
  return port.down();
}

void RootComplex::lose_link(ResetKind kind) {
  ++counters_.link_resets;
  port.reset_link(kind == ResetKind::kHot);
  reads_.clear();
  answered_ = 0;
  answered_reads_.set(now(), 0, false);
  completion_ = {};
  completion_ready_ = false;
  for (std::uint32_t lost = ~std::exchange(free_tags_, kAllTags); lost != 0; lost &= lost - 1) {
    answer(asked_[static_cast<unsigned>(__builtin_ctz(lost))], kAllOnes, false);
  }
}

// Reads and completions do not pass a posted write that arrived before them.
bool RootComplex::behind_a_write(FlowClass c) const {
  return port.can_pop(FlowClass::kPosted) && port.front_ps(FlowClass::kPosted) <= port.front_ps(c);
}

void RootComplex::take_write() {
  if (!port.can_pop(FlowClass::kPosted)) return;
  const Tlp tlp = port.pop(FlowClass::kPosted);
  if (tlp.poisoned) {
    ++counters_.poisoned_writes;
  } else if (tlp.address - kMsiAddress < kMsiBytes) {
    ++counters_.interrupts;
    if (events_ != nullptr) events_->msix(load_le32(tlp.data()), clock().now_ps());
  } else if (std::uint8_t* to = memory_.find(tlp.address, tlp.bytes)) {
    ++counters_.memory_writes;
    std::memcpy(to, tlp.data(), tlp.bytes);
    if (events_ != nullptr) events_->memory_written(tlp.address, tlp.bytes, clock().now_ps());
  } else {
    ++counters_.refused_writes;
  }
}

void RootComplex::take_read() {
  if (!port.can_pop(FlowClass::kNonPosted) || behind_a_write(FlowClass::kNonPosted)) return;
  if (reads_.size() == config_.pending_reads) return;
  const std::uint64_t due_ps = port.front_ps(FlowClass::kNonPosted) + std::uint64_t{config_.memory_read_ns} * 1000;
  ++counters_.memory_reads;
  reads_.push({port.pop(FlowClass::kNonPosted), std::max(now(), clock().cycle_at_or_after(due_ps)), 0});
}

void RootComplex::take_completion() {
  if (!port.can_pop(FlowClass::kCompletion) || behind_a_write(FlowClass::kCompletion)) return;
  const Tlp tlp = port.pop(FlowClass::kCompletion);
  const bool ours = tlp.tag < kTags && (free_tags_ >> tlp.tag & 1) == 0;
  RNIC_CHECK_MSG(ours, "completion for a tag that is not in use");
  free_tags_ |= 1u << tlp.tag;
  const bool ok = tlp.status == CplStatus::kSc && !tlp.poisoned;
  const std::uint32_t value = tlp.type == TlpType::kCplD ? load_le32(tlp.data()) : 0;
  answer(asked_[tlp.tag], ok ? value : kAllOnes, ok);
}

// The next piece of the oldest read that memory has answered. A piece ends at a multiple of RCB (section 2.3.1.1).
void RootComplex::prepare_completion() {
  if (completion_ready_ || reads_.empty() || reads_.front().due > now()) return;
  Read& read = reads_.front();
  const std::uint64_t address = read.request.address + read.sent;
  const std::uint64_t boundary = link_.read_completion_boundary_bytes;
  const std::uint64_t end = (address + link_.max_payload_bytes) & ~(boundary - 1);
  const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(read.request.bytes - read.sent, end - address));
  const std::uint8_t* from = memory_.find(read.request.address, read.request.bytes);
  if (from == nullptr) {
    ++counters_.refused_reads;
    completion_ = Tlp::answer(read.request, CplStatus::kUr);
    read.sent = read.request.bytes;
  } else {
    completion_ = Tlp::completion(read.request, address, n);
    std::uint8_t* to = completion_.near_data;
    if (n > Tlp::kInlineBytes) {
      completion_.hold = snapshots_.take();
      completion_.far_data = to = completion_.hold->bytes();
    }
    std::memcpy(to, from + read.sent, n);
    read.sent += n;
  }
  completion_.issued = read.due;
  completion_ready_ = true;
  if (read.sent != read.request.bytes) return;
  reads_.pop();
  answered_reads_.set(now(), static_cast<unsigned>(--answered_), false);
}

// Memory answers the reads in order, each at its time, whatever the link does. An answer counts from then on, though it
// is processed when the link is.
void RootComplex::settle(Cycle at) {
  for (; answered_ < reads_.size() && reads_.at(answered_).due < at; ++answered_) {
    answered_reads_.set(reads_.at(answered_).due, static_cast<unsigned>(answered_ + 1), false);
  }
}

// The CPU's next access, unless it is a read and all tags are in use.
const Tlp* RootComplex::mmio_head() const {
  if (!mmio_.can_pop()) return nullptr;
  const Tlp& tlp = mmio_.front().tlp;
  return tlp.type != TlpType::kMWr && free_tags_ == 0 ? nullptr : &tlp;
}

void RootComplex::transmit() {
  const Tlp* heads[] = {mmio_head(), completion_ready_ ? &completion_ : nullptr};
  if (heads[0] == nullptr && heads[1] == nullptr) return;
  const int chosen = port.choose(heads, 2);
  if (chosen < 0) return;
  if (chosen == 0) {
    Access access = mmio_.pop();
    const TlpType type = access.tlp.type;
    ++(type == TlpType::kMWr ? counters_.mmio_writes
                             : (type == TlpType::kMRd ? counters_.mmio_reads : counters_.config_accesses));
    if (type != TlpType::kMWr) {
      access.tlp.tag = static_cast<std::uint16_t>(__builtin_ctz(free_tags_));
      free_tags_ &= free_tags_ - 1;
      asked_[access.tlp.tag] = access.asked;
    }
    const Cycle ready = access.tlp.issued;
    port.send(std::move(access.tlp), ready);
  } else {
    completion_ready_ = false;
    const Cycle ready = completion_.issued;
    port.send(std::move(completion_), ready);
  }
  const bool served = !reads_.empty() && reads_.front().due <= now();
  if (mmio_head() != nullptr || completion_ready_ || served) port.wake_when_free();
}

Wake RootComplex::tick() {
  if (resets_ && link_down()) {
    pending_reads_.set(now(), 0, false);
    return Wake::on_traffic();
  }
  take_write();
  take_read();
  take_completion();
  settle(now() + 1);
  prepare_completion();
  transmit();
  const bool full = reads_.size() == config_.pending_reads;
  pending_reads_.set(now(), static_cast<unsigned>(reads_.size()), full && port.can_pop(FlowClass::kNonPosted));
  const bool reads = port.can_pop(FlowClass::kNonPosted) && !full;
  if (reads || port.can_pop(FlowClass::kPosted) || port.can_pop(FlowClass::kCompletion)) return Wake::next_cycle();
  const bool memory_works = !reads_.empty() && reads_.front().due > now();
  return memory_works ? Wake::at_cycle(reads_.front().due) : Wake::on_traffic();
}

std::string RootComplex::waiting_for() const {
  if (port.waits_for_credit()) return "credits of the device";
  if (port.down()) return "the device, which resets the link";
  if (free_tags_ != kAllTags) return "completions of register reads";
  return reads_.empty() ? "" : "memory";
}

void RootComplex::describe(const Description& d) {
  d.counters(counters_);
  d.account({"host.memory_reads", "slots", Reach::kHostMemory, "host memory", 220, AccountRole::kMemoryReads},
            pending_reads_);
  d.account({"host.answered_reads", "slots", Reach::kNobodyWaits, "", 230, AccountRole::kAnsweredReads},
            [this](Cycle at) -> Account& { return answered_reads(at); });
  d.probes().number("memory_reads", 16, "reads", [this] { return pending_reads_.taken(); });
  port.describe(d);
}

}  // namespace rnic::host

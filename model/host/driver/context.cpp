#include "model/host/driver/context.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "model/abi/host_abi_names.h"
#include "model/abi/rnic_regs.h"
#include "model/common/description.h"
#include "model/host/driver/device_objects.h"

namespace rnic::host {
namespace {

// The driver's first register reads, by cookie.
constexpr std::uint32_t kProbed[] = {
    regs::Id::kOffset,       regs::Version::kOffset,    regs::MaxQps::kOffset,          regs::MaxCqs::kOffset,
    regs::MaxStags::kOffset, regs::MaxFlows::kOffset,   regs::Features::kOffset,        regs::MaxSrqs::kOffset,
    regs::MaxPages::kOffset, regs::AbiVersion::kOffset, regs::FirmwareVersion::kOffset, regs::MaxConnections::kOffset};
constexpr std::uint32_t kStatusCookie = std::size(kProbed), kHomeCookie = kStatusCookie + 1;
// Of configuration space: the identity, and what a reset loses. The command word comes last: it enables the others.
constexpr std::uint32_t kIdWord = 0x00, kSavedWords[] = {0x10, 0x14, 0x80, 0x04};
constexpr std::uint32_t kFenceCookie = 0x100;
constexpr unsigned kEventVector = 0;

constexpr std::uint32_t low(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
constexpr std::uint32_t high(std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); }

}  // namespace

void Watch::written(std::uint64_t address, std::uint32_t bytes) {
  if (!fresh()) before_ = newest_;
  fresh_in_ = clk_.now();
  newest_ = load_le64(memory_.span(address_, 8).data());
  if (address + bytes > polled_from_) owner_.wake_poller();
}

void Fence::pass(std::uint64_t at_ps) {
  passed_in_ = clk_.now();
  owner_.wake_at(at_ps);
}

Context::Context(HostCpu& cpu, HostMemory& memory, std::uint64_t msi_address, const DriverConfig& config)
    : cpu_(cpu),
      memory_(memory),
      msi_address_(msi_address),
      config_(config),
      core_(cpu.add(*this)),
      commands_(cpu, memory, config.log_commands),
      log_(cpu, core_),
      events_(memory, cpu.clock(), config.log_events),
      probed_(kHomeCookie + 1),
      stags_(SipKey::of_seed(config.stag_seed)) {
  listen_on(events_, events_.ring.base(), events_.ring.bytes());
  core_.wake();
}

Context::~Context() = default;

void Context::step() {
  switch (state_) {
    case State::kReset:
      return probe();
    case State::kProbing:
      if (reads_pending_ == 0) start();
      return;
    case State::kStarting:
      if (reads_pending_ == 0) ask_status();
      return;
    case State::kOpen:
      log_.step();
      return take_events();
    case State::kFailed:
      return;
    case State::kResetting:
      if (reads_pending_ == 0) forget();
      return;
    case State::kSaving:
      if (reads_pending_ == 0) reset_saved();
      return;
    case State::kReturning:
      if (reads_pending_ == 0) read_failed_ ? find_device() : restore();
      return;
    case State::kRestoring:
      if (reads_pending_ == 0) forget();
      return;
  }
}

void Context::probe() {
  for (std::uint32_t i = 0; i < std::size(kProbed); ++i) cpu_.mmio_read(kProbed[i], i);
  reads_pending_ = std::size(kProbed);
  state_ = State::kProbing;
}

void Context::start() {
  if (read_failed_) return fail("the device does not answer");
  if (probed_[0] != regs::Id::kReset) return fail("this is not an rnicsim device");
  const std::uint32_t version = regs::Version::unpack(probed_[1]).major;
  const std::uint32_t ours = regs::Version::unpack(regs::Version::kReset).major;
  if (version != ours) {
    return fail("register interface version " + std::to_string(version) + ", and the driver knows " +
                std::to_string(ours));
  }
  if (probed_[9] != abi::kAbiVersion) {
    return fail("ABI version " + std::to_string(probed_[9]) + ", and the driver knows " +
                std::to_string(abi::kAbiVersion));
  }
  const auto features = regs::Features::unpack(probed_[6]);
  attr_ = {probed_[2],
           probed_[3],
           probed_[4] == 0 ? 0 : probed_[4] - 1,
           probed_[5],
           probed_[7],
           probed_[8],
           features.atomics,
           features.immediate,
           features.receive_markers,
           features.crc,
           static_cast<std::uint8_t>(features.version_1),
           features.version_0 && features.version_1};
  const auto firmware = regs::FirmwareVersion::unpack(probed_[10]);
  attr_.firmware_version = {firmware.major, firmware.minor, firmware.patch};
  attr_.max_connections = std::min(attr_.max_connections, probed_[11]);
  page_table_ = FreeRanges();
  page_table_.give(0, attr_.max_pages);

  const auto write = [this](std::uint32_t offset, std::uint32_t value) { cpu_.mmio_write(offset, value); };
  write(regs::CmdqBaseLo::kOffset, low(commands_.base()));
  write(regs::CmdqBaseHi::kOffset, high(commands_.base()));
  write(regs::CmdqLogSize::kOffset, regs::CmdqLogSize{commands_.log_entries()}.pack());
  write(regs::CmdqDataLo::kOffset, low(commands_.data_base()));
  write(regs::CmdqDataHi::kOffset, high(commands_.data_base()));
  write(regs::EvqBaseLo::kOffset, low(events_.ring.base()));
  write(regs::EvqBaseHi::kOffset, high(events_.ring.base()));
  write(regs::EvqLogSize::kOffset, regs::EvqLogSize{events_.ring.log_entries()}.pack());
  write(regs::EvqDataLo::kOffset, low(events_.data_base));
  write(regs::EvqDataHi::kOffset, high(events_.data_base));
  write(regs::MsixAddressLo::offset(kEventVector), low(msi_address_));
  write(regs::MsixAddressHi::offset(kEventVector), high(msi_address_));
  write(regs::MsixData::offset(kEventVector), kEventVector);
  write(regs::MsixControl::offset(kEventVector), regs::MsixControl{false}.pack());
  write(regs::Control::kOffset, regs::Control{true, false}.pack());
  state_ = State::kStarting;
  probed_[kHomeCookie] = 0;
  if (!features.home) return ask_status();
  cpu_.mmio_read(regs::HomePages::kOffset, kHomeCookie);
  reads_pending_ = 1;
}

// The first call sends the read; later ones find the answer, or the time to read again.
void Context::ask_status() {
  const auto status = regs::Status::unpack(std::exchange(probed_[kStatusCookie], 0));
  if (read_failed_ || status.fatal) return fail("the device reports a fatal error");
  if (status.ready) {
    error_.clear();
    attr_.home_pages = probed_[kHomeCookie];
    if (attr_.home_pages != 0) submit_home();
    return finish_opening(State::kOpen);
  }
  cpu_.mmio_read(regs::Status::kOffset, kStatusCookie);
  reads_pending_ = 1;
}

void Context::mmio_read_done(std::uint32_t cookie, std::uint32_t value, bool ok, std::uint64_t at_ps) {
  if (cookie >= FirmwareLog::kCookie) return log_.answered(cookie, value, at_ps);
  if (cookie >= kFenceCookie) return fences_.at(cookie - kFenceCookie).pass(at_ps);
  RNIC_CHECK(cookie < probed_.size() && reads_pending_ > 0);
  probed_[cookie] = value;
  read_failed_ |= !ok;
  if (--reads_pending_ != 0) return;
  const bool again = cookie == kStatusCookie && ok && (value & regs::Status{true, true}.pack()) == 0;
  core_.wake_at(again ? at_ps + std::uint64_t{config_.status_poll_us} * 1'000'000 : at_ps);
}

void Context::fail(std::string reason) {
  error_ = std::move(reason);
  finish_opening(State::kFailed);
}

void Context::finish_opening(State state) {
  state_ = state;
  for (Core* core : openers_) core->wake();
}

// False while the device is being opened.
bool Context::end_for_reset() {
  if (state_ != State::kOpen && state_ != State::kFailed) return false;
  const bool was_open = state_ == State::kOpen;
  fail("the device is being reset");
  if (was_open) end_everything();
  return true;
}

int Context::reset(ResetKind kind) {
  if (!end_for_reset()) return EBUSY;
  reset_kind_ = kind;
  read_failed_ = false;
  for (std::uint32_t i = 0; i < std::size(kSavedWords); ++i) cpu_.config_read(kSavedWords[i], i);
  reads_pending_ = std::size(kSavedWords);
  state_ = State::kSaving;
  return 0;
}

void Context::reset_saved() {
  if (read_failed_) return fail("the device does not answer");
  cpu_.reset_device(reset_kind_);
  find_device();
}

// Until the device answers. The answer comes after everything that it had written before.
void Context::find_device() {
  read_failed_ = false;
  cpu_.config_read(kIdWord, 0);
  reads_pending_ = 1;
  state_ = State::kReturning;
}

void Context::restore() {
  for (std::uint32_t i = 0; i < std::size(kSavedWords); ++i) cpu_.config_write(kSavedWords[i], saved_[i], i);
  reads_pending_ = std::size(kSavedWords);
  state_ = State::kRestoring;
}

void Context::config_done(std::uint32_t cookie, std::uint32_t value, bool ok, std::uint64_t at_ps) {
  RNIC_CHECK(reads_pending_ > 0);
  if (state_ == State::kSaving) saved_.at(cookie) = value;
  read_failed_ |= !ok;
  if (--reads_pending_ != 0) return;
  const bool again = state_ == State::kReturning && !ok;
  core_.wake_at(again ? at_ps + std::uint64_t{config_.status_poll_us} * 1'000'000 : at_ps);
}

int Context::reset() {
  if (!end_for_reset()) return EBUSY;
  cpu_.mmio_write(regs::Control::kOffset, regs::Control{false, true}.pack());
  // The answer comes after everything that the device had written before, which must not be taken for its successor's.
  cpu_.mmio_read(regs::Status::kOffset, kStatusCookie);
  reads_pending_ = 1;
  state_ = State::kResetting;
  return 0;
}

// The device is empty.
void Context::forget() {
  const auto destroy = [](const auto& objects, abi::CommandOp op) {
    for (const auto& object : objects) {
      if (object != nullptr && !object->destroyed()) object->command_done(op, abi::CommandStatus::kOk);
    }
  };
  using abi::CommandOp;
  destroy(qps_, CommandOp::kDestroyQp);
  destroy(cqs_, CommandOp::kDestroyCq);
  destroy(srqs_, CommandOp::kDestroySrq);
  destroy(mrs_, CommandOp::kDeregisterMr);
  destroy(listeners_, CommandOp::kUnlisten);
  for (const auto& mr : mrs_) {
    if (mr != nullptr) mr->take_pages();
  }
  first_qp_ = first_cq_ = first_srq_ = first_listener_ = 0;
  requests_.clear();
  doomed_.clear();
  commands_.restart();
  events_.ring.clear();
  log_.restart();
  read_failed_ = false;
  probe();
}

Cq* Context::create_cq(std::uint32_t cqe, CqMode mode, CqOverrun overrun) {
  if (cqe == 0 || log2_ceil(cqe) > Cq::kMaxLogEntries) return nullptr;
  const std::size_t i = free_number(cqs_, first_cq_, attr_.max_cq, cpu_.running());
  if (i == attr_.max_cq) return nullptr;
  const Cqn number{static_cast<std::uint32_t>(i)};
  if (cqs_[i] != nullptr) stop_listening(cqs_[i]->base());  // its memory is freed
  cqs_[i] = std::make_unique<Cq>(cpu_.running(), cpu_, memory_, number, log2_ceil(cqe), mode, overrun, qps_);
  listen_on(*cqs_[i], cqs_[i]->base(), cqs_[i]->bytes());
  abi::Command c = command_of(abi::CommandOp::kCreateCq, number.v);
  c.u.cq = {cqs_[i]->base(), cqs_[i]->log_entries()};
  commands_.submit(c, {}, *cqs_[i]);
  return cqs_[i].get();
}

int Context::modify_cq(Cq& cq, std::uint32_t count, std::uint32_t period_ns) {
  if (count > 0xffff || (count > 1 && period_ns == 0)) return EINVAL;
  abi::Command c = command_of(abi::CommandOp::kModifyCq, cq.number().v);
  c.u.moderation = {count, period_ns};
  commands_.submit(c, {}, cq);
  return 0;
}

void Context::destroy_cq(Cq& cq) {
  number_ends(cq, cq.number().v, first_cq_);
  commands_.submit(command_of(abi::CommandOp::kDestroyCq, cq.number().v), {}, cq);
}

Srq* Context::create_srq(const SrqInitAttr& attr) {
  if (attr.max_wr == 0 || log2_ceil(attr.max_wr) > WorkQueue::kMaxLogEntries) return nullptr;
  const std::size_t i = free_number(srqs_, first_srq_, attr_.max_srq, cpu_.running());
  if (i == attr_.max_srq) return nullptr;
  const Srqn number{static_cast<std::uint32_t>(i)};
  srqs_[i] = std::make_unique<Srq>(cpu_.running(), cpu_, memory_, number, attr);
  abi::Command c = command_of(abi::CommandOp::kCreateSrq, number.v);
  c.u.srq = {srqs_[i]->base(), srqs_[i]->log_entries(), attr.pd.number.v, 0};
  commands_.submit(c, {}, *srqs_[i]);
  return srqs_[i].get();
}

void Context::modify_srq(Srq& srq, std::uint32_t limit) {
  srq.submitted();
  abi::Command c = command_of(abi::CommandOp::kModifySrq, srq.number().v);
  c.u.srq.limit = limit;
  commands_.submit(c, {}, srq);
}

void Context::query_srq(Srq& srq) {
  srq.submitted();
  commands_.submit(command_of(abi::CommandOp::kQuerySrq, srq.number().v), {}, srq);
}

void Context::destroy_srq(Srq& srq) {
  number_ends(srq, srq.number().v, first_srq_);
  commands_.submit(command_of(abi::CommandOp::kDestroySrq, srq.number().v), {}, srq);
}

Qp* Context::create_qp(const QpInitAttr& attr) {
  const auto fits = [](std::uint32_t n) { return n != 0 && log2_ceil(n) <= WorkQueue::kMaxLogEntries; };
  if (!fits(attr.max_send_wr) || !fits(attr.max_recv_wr)) return nullptr;
  if (&attr.send_cq->owner() != &cpu_.running() || &attr.recv_cq->owner() != &cpu_.running()) return nullptr;
  const std::size_t i = free_number(qps_, first_qp_, attr_.max_qp, cpu_.running());
  if (i == attr_.max_qp) return nullptr;
  const std::uint32_t sends = 1u << log2_ceil(attr.max_send_wr), recvs = 1u << log2_ceil(attr.max_recv_wr);
  if (!attr.send_cq->reserve(sends)) return nullptr;
  if (attr.srq != nullptr ? !attr.srq->join(*attr.recv_cq) : !attr.recv_cq->reserve(recvs)) {
    attr.send_cq->unreserve(sends);
    return nullptr;
  }
  const Qpn number{static_cast<std::uint32_t>(i)};
  qps_[i] = std::make_unique<Qp>(cpu_.running(), cpu_, memory_, number, attr);
  abi::Command c = command_of(abi::CommandOp::kCreateQp, number.v,
                              attr.srq == nullptr ? std::uint8_t{0} : std::uint8_t{abi::kQpSharesRq});
  c.u.qp = {qps_[i]->sq().base(),
            qps_[i]->rq().base(),
            static_cast<std::uint8_t>(qps_[i]->sq().log_entries()),
            static_cast<std::uint8_t>(qps_[i]->rq().log_entries()),
            static_cast<std::uint16_t>(attr.pd.number.v),
            attr.send_cq->number().v,
            attr.recv_cq->number().v,
            attr.srq != nullptr ? attr.srq->number().v : 0,
            attr.stream};
  commands_.submit(c, {}, *qps_[i]);
  return qps_[i].get();
}

void Context::modify_qp(Qp& qp, const QpModifyAttr& attr) {
  qp.submitted();
  abi::Command c = command_of(abi::CommandOp::kModifyQp, qp.number().v);
  c.u.modify_qp = {attr.to, attr.stream};
  commands_.submit(c, {}, qp);
}

void Context::query_qp(Qp& qp) {
  qp.submitted();
  commands_.submit(command_of(abi::CommandOp::kQueryQp, qp.number().v), {}, qp);
}

Watch& Context::watch(std::uint64_t address, std::uint64_t bytes) {
  watches_.push_back(std::make_unique<Watch>(cpu_.running(), memory_, cpu_.clock(), address));
  listen_on(*watches_.back(), address, bytes);
  return *watches_.back();
}

const Fence& Context::fence() {
  const auto cookie = static_cast<std::uint32_t>(kFenceCookie + fences_.size());
  RNIC_CHECK(cookie < FirmwareLog::kCookie);
  cpu_.mmio_read(regs::Status::kOffset, cookie);
  return fences_.emplace_back(cpu_.running(), cpu_.clock());
}

void Context::describe(const Description& d) {
  const StatsGroup& group = d.stats();
  const auto add = [&](const char* key, const auto& objects, const char* unit, const char* text) {
    const auto alive = [&objects] {
      return static_cast<double>(std::count_if(objects.begin(), objects.end(), [](const auto& object) {
        return object != nullptr && !object->destroyed();
      }));
    };
    group.derived(key, alive, unit, text);
  };
  group.derived(
      "lost_contexts", [this] { return static_cast<double>(lost_contexts_); }, "rows",
      "rows of contexts that the device could not read from their home");
  add("qps", qps_, "QPs", "queue pairs of programs");
  add("cqs", cqs_, "CQs", "completion queues of programs");
  add("srqs", srqs_, "SRQs", "shared receive queues of programs");
  add("mrs", mrs_, "MRs", "memory regions and windows of programs");
  add("listeners", listeners_, "listeners", "ports that programs listen on");
  group.derived(
      "commands", [this] { return static_cast<double>(commands_.outstanding()); }, "commands",
      "commands that the device has not completed");
}

std::string Context::waiting_for() const {
  switch (state_) {
    case State::kReset:
    case State::kProbing:
      return "driver: the device's identification";
    case State::kStarting:
      return "driver: the device to become ready";
    case State::kOpen:
      return commands_.outstanding() == 0
                 ? ""
                 : "driver: the end of " + std::to_string(commands_.outstanding()) + " command(s)";
    case State::kResetting:
    case State::kSaving:
    case State::kReturning:
    case State::kRestoring:
      return "driver: the device to be reset";
    case State::kFailed:
      break;
  }
  return "";
}

}  // namespace rnic::host

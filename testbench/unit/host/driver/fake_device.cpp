#include "testbench/unit/host/driver/fake_device.h"

#include <cstring>

namespace rnic::test {

using abi::CommandOp;
using abi::EventType;
using abi::WcStatus;

namespace {
// The register map of registers.md, written out again on purpose.
enum : std::uint32_t {
  kControl = 0x10,
  kStatus = 0x14,
  kSq = 0x40,
  kRq = 0x44,
  kArm = 0x48,
  kCmdBase = 0x60,
  kCmdLog = 0x68,
  kCmdData = 0x6c,
  kCmdBell = 0x74,
  kEvBase = 0x80,
  kEvLog = 0x88,
  kEvData = 0x8c,
  kMsix0 = 0x1000
};
}  // namespace

void FakeDevice::at_ps(std::uint64_t ps, std::function<void()> run, std::uint64_t life) {
  const Cycle at = std::max(clock().cycle_at_or_after(ps), now() + 1);
  jobs_.push({at, sequence_++, life, std::move(run)});
  wake(at);
}

Wake FakeDevice::tick() {
  while (!jobs_.empty() && jobs_.top().at <= now()) {
    const Job job = jobs_.top();
    jobs_.pop();
    if (job.life == kAccess || job.life == life_) job.run();
  }
  return jobs_.empty() ? Wake::on_traffic() : Wake::at_cycle(jobs_.top().at);
}

void FakeDevice::mmio_write(std::uint32_t offset, std::uint32_t value, std::uint64_t at) {
  writes.push_back({offset, value, at});
  access(at + register_ns * 1000, [=] { write_register(offset, value); });
}

void FakeDevice::mmio_read(std::uint32_t offset, std::uint32_t cookie, std::uint64_t at) {
  access(at + (register_ns + kLatencyNs) * 1000, [=] {
    static const std::map<std::uint32_t, std::uint32_t> kFixed{{0x00, 0x50574952}, {0x04, 0x100}, {0x20, 64},
                                                               {0x24, 64},         {0x28, 256},   {0x2c, 64},
                                                               {0x30, 8},          {0x104, 2},    {0x108, 64}};
    std::uint32_t value = kFixed.count(offset) != 0 ? kFixed.at(offset) : 0;
    if (registers.count(offset) != 0) value = registers[offset];
    if (offset == kStatus && (registers[kControl] & 1) != 0) {
      if (status_reads_until_ready == 0) value |= 1;
      else --status_reads_until_ready;
    }
    events_->mmio_read_done(cookie, value, true, clock().now_ps());
  });
}

void FakeDevice::config_read(std::uint32_t offset, std::uint32_t cookie, std::uint64_t at) {
  access(at + (register_ns + kLatencyNs) * 1000, [=] {
    const bool ok = clock().now_ps() >= back_ps_;
    events_->config_done(cookie, ok ? config[offset] : ~0u, ok, clock().now_ps());
  });
}

void FakeDevice::config_write(std::uint32_t offset, std::uint32_t bytes, std::uint32_t value, std::uint32_t cookie,
                              std::uint64_t at) {
  access(at + (register_ns + kLatencyNs) * 1000, [=] {
    const std::uint32_t shift = 8 * (offset & 3), mask = (bytes == 4 ? ~0u : (1u << 8 * bytes) - 1) << shift;
    std::uint32_t& word = config[offset & ~3u];
    config_writes.push_back(offset);
    word = (word & ~mask) | (value << shift & mask);
    events_->config_done(cookie, 0, true, clock().now_ps());
  });
}

void FakeDevice::reset_device(host::ResetKind kind, std::uint64_t at) {
  access(at + register_ns * 1000, [this, kind] {
    resets.push_back(kind);
    ++life_;
    back_ps_ = clock().now_ps() + config_fails_us * 1'000'000ull;
    for (const auto& [offset, mask] :
         {std::pair{0x04u, 0xfff00000u}, std::pair{0x10u, 15u}, std::pair{0x14u, 0u}, std::pair{0x80u, 0x3fffffffu}}) {
      if (config.count(offset) != 0) config[offset] &= mask;
    }
    registers.clear();
    qps_.clear();
    cqs_.clear();
    regions_.clear();
    listeners_.clear();
    requests_.clear();
    command_consumer_ = event_producer_ = 0;
  });
}

std::vector<std::uint32_t> FakeDevice::values(std::uint32_t offset) const {
  std::vector<std::uint32_t> list;
  for (const MmioWrite& w : writes) {
    if (w.offset == offset) list.push_back(w.value);
  }
  return list;
}

void FakeDevice::write_memory(std::uint64_t address, const void* data, std::size_t bytes) {
  std::memcpy(memory_.span(address, bytes).data(), data, bytes);
  events_->memory_written(address, static_cast<std::uint32_t>(bytes), clock().now_ps());
}

void FakeDevice::write_register(std::uint32_t offset, std::uint32_t value) {
  registers[offset] = value;
  const std::uint32_t n = value & 0xfffff;
  if (offset == kSq && execute_sends) {
    Qp& qp = qps_.at(n);
    qp.sq_limit += ((value >> 20) - qp.sq_limit) & 0xfff;
    send_queue(n);
  } else if (offset == kRq) {
    Qp& qp = qps_.at(n);
    qp.rq_limit += ((value >> 20) - qp.rq_limit) & 0xfff;
  } else if (offset == kArm) {
    CqState& cq = cqs_.at(n);
    cq.armed = true;
    cq.solicited_only = (value >> 20 & 1) != 0;
    const std::uint32_t unseen = ((cq.solicited_only ? cq.solicited : cq.produced) - (value >> 21)) & 0x7ff;
    if (unseen != 0 && unseen <= (1u << cq.log)) {
      cq.armed = false;
      ++notifications;
      abi::Event e;
      e.type = EventType::kCqNotify;
      e.id = n;
      raise(e);
    }
  } else if (offset == kCmdBell) {
    take_commands(value);
  }
}

void FakeDevice::take_commands(std::uint32_t producer) {
  for (; (command_consumer_ & 0xffff) != producer; ++command_consumer_) {
    const std::uint64_t slot = command_consumer_ & ((1u << registers[kCmdLog]) - 1);
    abi::Command c;
    std::memcpy(static_cast<void*>(&c), memory_.span(base_of(kCmdBase) + 64 * slot, 64).data(), 64);
    const auto data = memory_.span(base_of(kCmdData) + 512 * slot, c.private_bytes);
    commands.push_back(c);
    execute(c, {data.data(), data.data() + data.size()});
  }
}

void FakeDevice::execute(const abi::Command& c, const std::vector<std::uint8_t>& private_data) {
  abi::Event done;
  done.type = EventType::kCommandDone;
  done.cookie = c.cookie;
  done.id = c.id;
  if (refuse) done.status = static_cast<std::uint8_t>(refuse(c));
  if (answer) answer(c, done);
  raise(done);
  if (done.status != 0) return;
  switch (c.op) {
    case CommandOp::kCreateCq:
      cqs_[c.id] = {c.u.cq.base, c.u.cq.log_entries};
      return;
    case CommandOp::kCreateQp:
      qps_[c.id] = {c.u.qp.sq_base, c.u.qp.rq_base, c.u.qp.log_sq, c.u.qp.log_rq, c.u.qp.send_cqn, c.u.qp.recv_cqn};
      return;
    case CommandOp::kRegisterMr:
      regions_[c.id] = {c.u.mr.address, c.u.mr.length, c.flags};
      return;
    case CommandOp::kDeregisterMr:
      regions_.erase(c.id);
      return;
    case CommandOp::kListen:
      listeners_[c.u.cm.local_port] = c.flags;
      return;
    case CommandOp::kUnlisten:
      listeners_.erase(c.u.cm.local_port);
      return;
    case CommandOp::kConnect:
    case CommandOp::kAccept:
    case CommandOp::kReject:
      later(kLatencyNs, [=] { connect(c, private_data); });
      return;
    case CommandOp::kDisconnect:
      later(kLatencyNs, [this, id = c.id] {
        peer_->close(qps_.at(id).peer, EventType::kDisconnected);
        close(id, EventType::kDisconnected);
      });
      return;
    default:
      return;
  }
}

void FakeDevice::connect(const abi::Command& c, const std::vector<std::uint8_t>& private_data) {
  abi::Event e;
  e.ird = e.peer_ird = c.u.cm.ird;
  e.ord = e.peer_ord = c.u.cm.ord;
  if (c.op == CommandOp::kConnect && closes_on_enhanced && (c.flags & abi::kCmEnhanced) != 0) {
    e = {};
    e.type = EventType::kConnectError;
    e.status = static_cast<std::uint8_t>(abi::ConnectStatus::kReset);
    e.id = c.qpn;
    return raise(e);
  }
  if (c.op == CommandOp::kConnect) {
    if (peer_->listeners_.count(c.u.cm.peer_port) == 0) {
      e.type = EventType::kConnectError;
      e.status = 1;
      e.id = c.qpn;
      return raise(e);
    }
    e.type = EventType::kConnectRequest;
    e.id = peer_->next_request_++;
    e.local_port = c.u.cm.peer_port;
    peer_->requests_[e.id] = {c.qpn, c.u.cm.ird, c.u.cm.ord};
    most_connecting = std::max(most_connecting, ++connecting);
    return peer_->raise(e, private_data);
  }
  const Request r = requests_.at(c.id);
  --peer_->connecting;
  if (c.op == CommandOp::kReject) {
    e.type = EventType::kRejected;
    e.id = r.peer_qpn;
    return peer_->raise(e, private_data);
  }
  qps_.at(c.qpn).peer = r.peer_qpn;
  qps_.at(c.qpn).connected = true;
  peer_->qps_.at(r.peer_qpn).peer = c.qpn;
  peer_->qps_.at(r.peer_qpn).connected = true;
  e.type = EventType::kEstablished;
  e.id = r.peer_qpn;
  peer_->raise(e, private_data);
  e.id = c.qpn;
  e.ird = r.ord;
  e.ord = r.ird;
  raise(e);
}

void FakeDevice::close(std::uint32_t qpn, EventType type) {
  qps_.at(qpn).connected = false;
  abi::Event e;
  e.type = type;
  e.id = qpn;
  raise(e);
}

void FakeDevice::raise(abi::Event event, const std::vector<std::uint8_t>& private_data) {
  const unsigned log = registers[kEvLog];
  const std::uint64_t slot = event_producer_ & ((1u << log) - 1);
  event.phase = (event_producer_ >> log & 1) == 0;
  event.private_bytes = static_cast<std::uint16_t>(private_data.size());
  ++event_producer_;
  if (!private_data.empty()) write_memory(base_of(kEvData) + 512 * slot, private_data.data(), private_data.size());
  write_memory(base_of(kEvBase) + 64 * slot, &event, 64);
  if ((registers[kMsix0 + 12] & 1) == 0)
    later(kLatencyNs, [this] { events_->msix(registers[kMsix0 + 8], clock().now_ps()); });
}

void FakeDevice::complete(std::uint32_t cqn, abi::Cqe cqe) {
  CqState& cq = cqs_.at(cqn);
  cqe.phase = (cq.produced >> cq.log & 1) == 0;
  write_memory(cq.base + 32 * (cq.produced & ((1u << cq.log) - 1)), &cqe, 32);
  ++cq.produced;
  const bool solicited = (cqe.flags & 1) != 0 || cqe.status != WcStatus::kSuccess;
  if (solicited) cq.solicited = cq.produced;
  if (!cq.armed || (cq.solicited_only && !solicited)) return;
  cq.armed = false;
  ++notifications;
  abi::Event e;
  e.type = EventType::kCqNotify;
  e.id = cqn;
  raise(e);
}

bool FakeDevice::allowed(std::uint32_t stag, std::uint64_t address, std::uint64_t bytes, std::uint8_t access) const {
  const auto r = regions_.find(stag);
  return r != regions_.end() && (r->second.access & access) == access && address >= r->second.address &&
         address + bytes <= r->second.address + r->second.length;
}

std::vector<std::uint8_t> FakeDevice::gather(const abi::Wqe& wqe) {
  if ((wqe.flags & abi::kWqeInline) != 0) {
    const auto* p = reinterpret_cast<const std::uint8_t*>(wqe.sge);
    return {p, p + wqe.inline_bytes};
  }
  std::vector<std::uint8_t> data;
  for (unsigned i = 0; i < wqe.num_sge; ++i) {
    RNIC_CHECK(allowed(wqe.sge[i].lkey, wqe.sge[i].address, wqe.sge[i].length, 0));
    const auto from = memory_.span(wqe.sge[i].address, wqe.sge[i].length);
    data.insert(data.end(), from.data(), from.data() + from.size());
  }
  return data;
}

void FakeDevice::place(std::uint64_t address, const std::vector<std::uint8_t>& data) {
  if (data.empty()) return;
  std::vector<std::uint8_t> copy = data;
  if (corrupt) corrupt(copy.data(), static_cast<std::uint32_t>(copy.size()));
  write_memory(address, copy.data(), copy.size());
}

WcStatus FakeDevice::scatter(const std::vector<std::uint8_t>& data, const abi::Sge* sge, unsigned n) {
  std::size_t done = 0;
  for (unsigned i = 0; i < n && done < data.size(); ++i) {
    const std::size_t piece = std::min<std::size_t>(sge[i].length, data.size() - done);
    if (!allowed(sge[i].lkey, sge[i].address, piece, abi::kLocalWrite)) return WcStatus::kLocProtErr;
    const auto from = data.begin() + static_cast<std::ptrdiff_t>(done);
    place(sge[i].address, {from, from + static_cast<std::ptrdiff_t>(piece)});
    done += piece;
  }
  return done < data.size() ? WcStatus::kLocLenErr : WcStatus::kSuccess;
}

void FakeDevice::receive(std::uint32_t qpn, const std::vector<std::uint8_t>& data, abi::Cqe cqe) {
  Qp& qp = qps_.at(qpn);
  if (qp.rq_next == qp.rq_limit) {
    ++sends_without_receive;
    return;
  }
  abi::Wqe wqe;
  const std::uint64_t slot = qp.rq_next++ & ((1u << qp.log_rq) - 1);
  std::memcpy(static_cast<void*>(&wqe), memory_.span(qp.rq + 128 * slot, 128).data(), 128);
  cqe.wr_id = wqe.wr_id;
  cqe.qpn = qpn;
  cqe.status = scatter(data, wqe.sge, wqe.num_sge);
  cqe.byte_len = static_cast<std::uint32_t>(data.size());
  complete(qp.recv_cqn, cqe);
}

void FakeDevice::send_queue(std::uint32_t qpn) {
  Qp& qp = qps_.at(qpn);
  for (; qp.sq_next != qp.sq_limit; ++qp.sq_next) {
    abi::Wqe wqe;
    const std::uint64_t slot = qp.sq_next & ((1u << qp.log_sq) - 1);
    std::memcpy(static_cast<void*>(&wqe), memory_.span(qp.sq + 128 * slot, 128).data(), 128);
    std::uint64_t bytes = (wqe.flags & abi::kWqeInline) != 0 ? wqe.inline_bytes : 0;
    for (unsigned i = 0; i < wqe.num_sge; ++i) bytes += wqe.sge[i].length;
    wire_free_ps_ = std::max(wire_free_ps_, clock().now_ps()) + (bytes + 100) * kPsPerByte;
    at_ps(
        wire_free_ps_, [=] { perform(qpn, wqe); }, life_);
  }
}

// Plain forms only.
void FakeDevice::atomic(const abi::Wqe& wqe, abi::Cqe& cqe) {
  const bool add = wqe.opcode == abi::WrOpcode::kFetchAdd;
  cqe.opcode = add ? abi::WcOpcode::kFetchAdd : abi::WcOpcode::kCompSwap;
  cqe.byte_len = 8;
  if (!peer_->allowed(wqe.rkey, wqe.remote_address, 8, abi::kRemoteRead | abi::kRemoteWrite | abi::kRemoteAtomic)) {
    cqe.status = WcStatus::kRemAccessErr;
    return;
  }
  std::uint64_t value, operands[4];
  std::memcpy(operands, static_cast<const void*>(&wqe.sge[1]), sizeof operands);
  std::memcpy(&value, peer_->memory_.span(wqe.remote_address, 8).data(), 8);
  write_memory(wqe.sge[0].address, &value, 8);
  if (!add && value != operands[2]) return;
  value = add ? value + operands[0] : operands[0];
  const auto change = [peer = peer_, to = wqe.remote_address, value] { peer->write_memory(to, &value, 8); };
  word_late_ns == 0 ? change() : peer_->later(word_late_ns, change);
}

void FakeDevice::write(const abi::Wqe& wqe, const std::vector<std::uint8_t>& data) {
  for (std::size_t at = 0; at < data.size(); at += piece_bytes) {
    const auto from = data.begin() + static_cast<std::ptrdiff_t>(at);
    const std::vector<std::uint8_t> piece(
        from, from + static_cast<std::ptrdiff_t>(std::min<std::size_t>(data.size() - at, piece_bytes)));
    const std::uint64_t late = late_ns ? late_ns(wqe, at) : 0;
    peer_->later(kLatencyNs + late, [this, to = wqe.remote_address + at, piece] { peer_->place(to, piece); });
  }
}

void FakeDevice::perform(std::uint32_t qpn, const abi::Wqe& wqe) {
  Qp& qp = qps_.at(qpn);
  abi::Cqe cqe;
  cqe.wr_id = wqe.wr_id;
  cqe.qpn = qpn;
  const WcStatus injected = inject_error ? inject_error(wqe) : WcStatus::kSuccess;
  if (!qp.connected || injected != WcStatus::kSuccess) {
    cqe.status = injected != WcStatus::kSuccess ? injected : WcStatus::kWrFlushErr;
  } else if (abi::is_read(wqe.opcode)) {
    cqe.opcode = abi::WcOpcode::kRdmaRead;
    for (unsigned i = 0; i < wqe.num_sge; ++i) cqe.byte_len += wqe.sge[i].length;
    if (peer_->allowed(wqe.rkey, wqe.remote_address, cqe.byte_len, abi::kRemoteRead)) {
      const auto from = peer_->memory_.span(wqe.remote_address, cqe.byte_len);
      cqe.status = scatter({from.data(), from.data() + from.size()}, wqe.sge, wqe.num_sge);
    } else {
      cqe.status = WcStatus::kRemAccessErr;
    }
  } else if (abi::is_atomic(wqe.opcode)) {
    atomic(wqe, cqe);
  } else {
    const std::vector<std::uint8_t> data = gather(wqe);
    if (wqe.opcode == abi::WrOpcode::kRdmaWrite) {
      cqe.opcode = abi::WcOpcode::kRdmaWrite;
      if (peer_->allowed(wqe.rkey, wqe.remote_address, data.size(), abi::kRemoteWrite)) {
        write(wqe, data);
      } else {
        cqe.status = WcStatus::kRemAccessErr;
      }
    } else {
      abi::Cqe received;
      received.flags = (wqe.flags & abi::kWqeSolicited) != 0 ? 1 : 0;
      received.opcode = abi::WcOpcode::kRecv;
      if (wqe.opcode == abi::WrOpcode::kImmediate) {
        cqe.opcode = abi::WcOpcode::kRdmaWrite;
        received.opcode = abi::WcOpcode::kRecvRdmaWithImm;
        received.immediate = wqe.remote_address;
      }
      peer_->later(kLatencyNs, [this, peer = qp.peer, data, received] { peer_->receive(peer, data, received); });
    }
  }
  if ((wqe.flags & abi::kWqeSignaled) == 0 && cqe.status == WcStatus::kSuccess) return;
  later(2 * kLatencyNs, [this, cqn = qp.send_cqn, cqe] { complete(cqn, cqe); });
}

}  // namespace rnic::test

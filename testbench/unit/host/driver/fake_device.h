// A device for tests of the driver and of programs: it executes work requests directly, from one host's memory to the
// other's, and shares no code with the chip. Every action takes kLatencyNs, and payload takes time on the wire.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <vector>

#include "model/abi/host_abi.h"
#include "model/host/driver/context.h"
#include "model/host/host_memory.h"

namespace rnic::test {

class FakeDevice final : public Stage, public host::HostPort {
 public:
  static constexpr std::uint64_t kLatencyNs = 400;
  static constexpr std::uint64_t kPsPerByte = 80;  // 100 Gb/s

  FakeDevice(sc_core::sc_module_name nm, ClockDomain& clk, host::HostMemory& memory)
      : Stage(nm, clk), memory_(memory) {}
  void attach(host::HostEvents& events) { events_ = &events; }
  static void join(FakeDevice& a, FakeDevice& b) { a.peer_ = &b, b.peer_ = &a; }

  void mmio_write(std::uint32_t offset, std::uint32_t value, std::uint64_t at_ps) override;
  void mmio_read(std::uint32_t offset, std::uint32_t cookie, std::uint64_t at_ps) override;
  void config_read(std::uint32_t offset, std::uint32_t cookie, std::uint64_t at_ps) override;
  void config_write(std::uint32_t offset, std::uint32_t bytes, std::uint32_t value, std::uint32_t cookie,
                    std::uint64_t at_ps) override;
  void reset_device(host::ResetKind kind, std::uint64_t at_ps) override;
  std::uint64_t lookahead_ps() const override { return kLatencyNs * 1000; }
  Wake tick() override;

  // For tests to change and read.
  std::map<std::uint32_t, std::uint32_t> registers;
  std::vector<host::ResetKind> resets;
  std::vector<std::uint32_t> config_writes;                                               // offsets
  unsigned config_fails_us = 0;                                                           // after a reset
  std::map<std::uint32_t, std::uint32_t> config{{0x00, 0x50401234}, {0x04, 0x00100006}};  // its configuration space
  unsigned status_reads_until_ready = 1;
  bool execute_sends = true;  // false: SQ doorbells are recorded but not executed
  std::function<void(std::uint8_t* payload, std::uint32_t bytes)> corrupt;
  // Its Writes are placed in pieces of this size, each late by a given time; likewise words that its atomics change.
  std::uint32_t piece_bytes = 1u << 31;
  std::function<std::uint64_t(const abi::Wqe&, std::size_t offset)> late_ns;
  std::uint64_t word_late_ns = 0;
  std::uint64_t register_ns = kLatencyNs;  // until a register access arrives
  std::function<abi::WcStatus(const abi::Wqe&)> inject_error;
  std::function<abi::CommandStatus(const abi::Command&)> refuse;
  bool closes_on_enhanced = false;                               // as if every peer supported only RFC 5044
  std::function<void(const abi::Command&, abi::Event&)> answer;  // adds to the command's kCommandDone
  struct MmioWrite {
    std::uint32_t offset, value;
    std::uint64_t at_ps;
  };
  std::vector<MmioWrite> writes;
  std::vector<abi::Command> commands;
  unsigned sends_without_receive = 0;
  unsigned notifications = 0;
  unsigned connecting = 0, most_connecting = 0;  // connections that this device has requested and that are unanswered

  std::vector<std::uint32_t> values(std::uint32_t offset) const;
  void raise(abi::Event event, const std::vector<std::uint8_t>& private_data = {});
  void complete(std::uint32_t cqn, abi::Cqe cqe);
  void close(std::uint32_t qpn, abi::EventType type);

 private:
  struct Qp {
    std::uint64_t sq = 0, rq = 0;
    unsigned log_sq = 0, log_rq = 0;
    std::uint32_t send_cqn = 0, recv_cqn = 0;
    std::uint32_t peer = 0;
    bool connected = false;
    std::uint32_t sq_next = 0, sq_limit = 0, rq_next = 0, rq_limit = 0;
  };
  struct CqState {
    std::uint64_t base = 0;
    unsigned log = 0;
    std::uint32_t produced = 0, solicited = 0;
    bool armed = false, solicited_only = false;
  };
  struct Region {
    std::uint64_t address = 0, length = 0;
    std::uint8_t access = 0;
  };
  struct Job {
    Cycle at;
    std::uint64_t sequence;
    std::uint64_t life;  // the job's; kAccess: an access of the host, which outlives a reset
    std::function<void()> run;
    bool operator>(const Job& o) const { return at != o.at ? at > o.at : sequence > o.sequence; }
  };
  static constexpr std::uint64_t kAccess = ~std::uint64_t{0};
  void at_ps(std::uint64_t ps, std::function<void()> run, std::uint64_t life);
  void access(std::uint64_t ps, std::function<void()> run) { at_ps(ps, std::move(run), kAccess); }
  void later(std::uint64_t ns, std::function<void()> run) {
    at_ps(clock().now_ps() + ns * 1000, std::move(run), life_);
  }
  void write_register(std::uint32_t offset, std::uint32_t value);
  void take_commands(std::uint32_t producer);
  void execute(const abi::Command& c, const std::vector<std::uint8_t>& private_data);
  void connect(const abi::Command& c, const std::vector<std::uint8_t>& private_data);
  void send_queue(std::uint32_t qpn);
  void perform(std::uint32_t qpn, const abi::Wqe& wqe);
  void write(const abi::Wqe& wqe, const std::vector<std::uint8_t>& data);
  void atomic(const abi::Wqe& wqe, abi::Cqe& cqe);
  std::vector<std::uint8_t> gather(const abi::Wqe& wqe);
  abi::WcStatus scatter(const std::vector<std::uint8_t>& data, const abi::Sge* sge, unsigned n);
  bool allowed(std::uint32_t stag, std::uint64_t address, std::uint64_t bytes, std::uint8_t access) const;
  void receive(std::uint32_t qpn, const std::vector<std::uint8_t>& data, abi::Cqe cqe);
  void place(std::uint64_t address, const std::vector<std::uint8_t>& data);
  void write_memory(std::uint64_t address, const void* data, std::size_t bytes);
  std::uint64_t base_of(std::uint32_t low_offset) {
    return std::uint64_t{registers[low_offset + 4]} << 32 | registers[low_offset];
  }

  host::HostMemory& memory_;
  host::HostEvents* events_ = nullptr;
  FakeDevice* peer_ = nullptr;
  std::priority_queue<Job, std::vector<Job>, std::greater<>> jobs_;
  std::uint64_t sequence_ = 0, life_ = 0, back_ps_ = 0;
  std::uint64_t wire_free_ps_ = 0;
  std::map<std::uint32_t, Qp> qps_;
  std::map<std::uint32_t, CqState> cqs_;
  std::map<std::uint32_t, Region> regions_;
  std::map<std::uint16_t, std::uint8_t> listeners_;
  struct Request {
    std::uint32_t peer_qpn;
    std::uint16_t ird, ord;
  };
  std::map<std::uint32_t, Request> requests_;
  std::uint32_t next_request_ = 100;
  std::uint32_t command_consumer_ = 0, event_producer_ = 0;
};

// A host with such a device.
struct FakeHost {
  explicit FakeHost(ClockDomain& clk, const char* name, std::uint64_t memory_mib = 256)
      : memory({0x100000000, memory_mib}),
        device((std::string(name) + "_device").c_str(), clk, memory),
        cpu((std::string(name) + "_cpu").c_str(), clk, {}, device),
        context(cpu, memory, kMsi) {
    device.attach(context);
  }
  static constexpr std::uint64_t kMsi = 0xfee00000;
  host::HostMemory memory;
  FakeDevice device;
  host::HostCpu cpu;
  host::Context context;
};

}  // namespace rnic::test

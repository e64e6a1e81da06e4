// A host and the chip's PCIe block at the two ends of a link, with scripted users of both.
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <tuple>
#include <vector>

#include "model/common/prng.h"
#include "model/host/root_complex.h"
#include "model/rnic/pcie/pcie.h"
#include "testbench/support/stage_test.h"
#include "testbench/unit/rnic/pcie/short_tlps.h"

namespace rnic::test {

// What the device did to the host, in order.
struct HostLog final : host::HostEvents {
  struct Entry {
    enum Kind { kWrite, kInterrupt, kRead, kConfig } kind;
    std::uint64_t what;   // address, vector, cookie
    std::uint64_t value;  // octets, -, value
    bool ok;
    std::uint64_t at_ps;
    friend bool operator==(const Entry& a, const Entry& b) {
      return std::tie(a.kind, a.what, a.value, a.ok, a.at_ps) == std::tie(b.kind, b.what, b.value, b.ok, b.at_ps);
    }
    friend std::ostream& operator<<(std::ostream& os, const Entry& e) {
      return os << "{" << e.kind << ", 0x" << std::hex << e.what << ", 0x" << e.value << std::dec << ", " << e.ok
                << ", " << e.at_ps << "}";
    }
  };
  std::vector<Entry> entries;
  void memory_written(std::uint64_t address, std::uint32_t bytes, std::uint64_t at_ps) override {
    entries.push_back({Entry::kWrite, address, bytes, true, at_ps});
  }
  void msix(unsigned vector, std::uint64_t at_ps) override {
    entries.push_back({Entry::kInterrupt, vector, 0, true, at_ps});
  }
  void mmio_read_done(std::uint32_t cookie, std::uint32_t value, bool ok, std::uint64_t at_ps) override {
    entries.push_back({Entry::kRead, cookie, value, ok, at_ps});
  }
  void config_done(std::uint32_t cookie, std::uint32_t value, bool ok, std::uint64_t at_ps) override {
    entries.push_back({Entry::kConfig, cookie, value, ok, at_ps});
    if (on_config) on_config(cookie, ok, at_ps);
  }
  std::function<void(std::uint32_t cookie, bool ok, std::uint64_t at_ps)> on_config;
};

// The chip's clock is 250 MHz, the host's 1 GHz. With `lookahead` they run ahead of the kernel.
struct PcieBench {
  pcie::PcieConfig config = with_short_tlps();
  host::RootComplexConfig host_config;
  unsigned readers = 1, writers = 1;
  Cycle chip_lookahead = 32, host_lookahead = 128;
  std::uint64_t shuffle = 0;
};

class PcieSystem final : public sc_core::sc_module {
 public:
  ClockDomain clk{"clk", {}};
  ClockDomain host_clk{"host_clk", {1000, 1}};
  BufferPool pool{65536};
  host::HostMemory memory{{0x100000000, 64}};
  host::RootComplex host;
  pcie::Pcie pcie;
  HostLog log;

  PcieSystem(sc_core::sc_module_name nm, const PcieBench& b)
      : sc_module(nm),
        host("host", host_clk, b.host_config, b.config.link, memory),
        pcie("pcie", clk, b.config, {b.readers, b.writers}) {
    clk.set_lookahead(b.chip_lookahead);
    host_clk.set_lookahead(b.host_lookahead);
    if (b.shuffle != 0) {
      clk.shuffle(b.shuffle);
      host_clk.shuffle(b.shuffle * 3);
    }
    host.attach(log);
    pcie.regs.on_reset([this] {
      for (Stage* stage : std::initializer_list<Stage*>{&pcie.mmio, &pcie.dma_read, &pcie.dma_write, &pcie.msix}) {
        clk.reset(*stage);
      }
    });
    host.port.out.bind(pcie.endpoint.port.in);
    pcie.endpoint.port.out.bind(host.port.in);
    for (unsigned i = 0; i < b.readers; ++i) {
      reads_.emplace_back(pcie.dma_read.request(i));
      read_answers_.emplace_back(pcie.dma_read.done(i));
    }
    for (unsigned i = 0; i < b.writers; ++i) {
      writes_.emplace_back(pcie.dma_write.request(i));
      write_answers_.emplace_back(pcie.dma_write.done(i));
    }
  }

  Source<DmaReadRequest>& reads(unsigned i = 0) { return reads_[i]; }
  Sink<DmaReadDone>& read_answers(unsigned i = 0) { return read_answers_[i]; }
  Source<DmaWriteRequest>& writes(unsigned i = 0) { return writes_[i]; }
  Sink<DmaWriteDone>& write_answers(unsigned i = 0) { return write_answers_[i]; }

  // Allocates host memory and fills it with octets that depend on the seed.
  std::uint64_t filled(std::uint32_t bytes, std::uint64_t seed, std::uint64_t align = 64) {
    const std::uint64_t address = memory.alloc(bytes, align);
    for (std::uint32_t i = 0; i < bytes; ++i) memory.find(address, bytes)[i] = octet(seed, i);
    return address;
  }
  DmaWriteRequest write_request(std::uint64_t to, std::uint32_t bytes, std::uint64_t seed, std::uint32_t offset = 0) {
    DmaWriteRequest r;
    r.address = to;
    r.bytes = bytes;
    r.src = pool.take();
    r.src_offset = offset;
    for (std::uint32_t i = 0; i < bytes; ++i) r.src->bytes()[offset + i] = octet(seed, i);
    return r;
  }
  bool holds(std::uint64_t address, std::uint32_t bytes, std::uint64_t seed) {
    return matches(memory.find(address, bytes), bytes, seed);
  }
  static bool matches(const std::uint8_t* data, std::uint32_t bytes, std::uint64_t seed) {
    for (std::uint32_t i = 0; i < bytes; ++i) {
      if (data[i] != octet(seed, i)) return false;
    }
    return true;
  }
  static std::uint8_t octet(std::uint64_t seed, std::uint32_t i) {
    return static_cast<std::uint8_t>(mix64(seed * 77 + i));
  }

 private:
  std::deque<Source<DmaReadRequest>> reads_;
  std::deque<Sink<DmaReadDone>> read_answers_;
  std::deque<Source<DmaWriteRequest>> writes_;
  std::deque<Sink<DmaWriteDone>> write_answers_;

 public:
  Sink<SqDoorbell> sq = collect(pcie.mmio.sq_doorbells);
  Sink<RqDoorbell> rq = collect(pcie.mmio.rq_doorbells);
  Sink<CqArm> arms = collect(pcie.mmio.cq_arms);
  Sink<CommandDoorbell> commands = collect(pcie.mmio.command_doorbells);
  Sink<EventsTaken> events = collect(pcie.mmio.events_taken);
  Source<MsixRequest> interrupts = drive(pcie.msix.vectors);
};

}  // namespace rnic::test

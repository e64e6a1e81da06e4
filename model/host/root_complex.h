// The host's end of the PCIe link: CPU accesses become TLPs, the device's TLPs become memory accesses and interrupts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "model/common/account.h"
#include "model/common/inbox.h"
#include "model/common/ring.h"
#include "model/host/host_memory.h"
#include "model/host/host_port.h"
#include "model/rnic/pcie/config_space.h"
#include "model/rnic/pcie/pcie_port.h"

namespace rnic::host {

struct RootComplexConfig {
  unsigned memory_read_ns = 250;
  unsigned mmio_ns = 20;
  unsigned pending_reads = 256;
  template <class V>
  static void fields(V& v) {
    v("memory_read_ns", &RootComplexConfig::memory_read_ns, "from a read request's arrival to its first completion",
      in_range(1, 100000), unit("ns"));
    v("mmio_ns", &RootComplexConfig::mmio_ns, "from the CPU's access to the root port", in_range(1, 100000),
      unit("ns"));
    v("pending_reads", &RootComplexConfig::pending_reads,
      "read requests waiting for memory; further ones stay in the receive buffer and keep their credits",
      in_range(1, 4096));
  }
};

struct RootComplexCounters {
  std::uint64_t memory_reads = 0, memory_writes = 0, interrupts = 0, mmio_reads = 0, mmio_writes = 0;
  std::uint64_t refused_reads = 0, refused_writes = 0, poisoned_writes = 0;
  std::uint64_t config_accesses = 0, link_resets = 0, lost_accesses = 0;
  template <class V>
  static void fields(V& v) {
    v("memory_reads", &RootComplexCounters::memory_reads, "TLPs", "reads of the device");
    v("memory_writes", &RootComplexCounters::memory_writes, "TLPs", "writes of the device");
    v("interrupts", &RootComplexCounters::interrupts, "messages", "interrupts of the device");
    v("mmio_reads", &RootComplexCounters::mmio_reads, "accesses", "reads of the device's registers");
    v("mmio_writes", &RootComplexCounters::mmio_writes, "accesses", "writes to the device's registers");
    v("refused_reads", &RootComplexCounters::refused_reads, "TLPs", "outside memory: answered with UR");
    v("refused_writes", &RootComplexCounters::refused_writes, "TLPs", "outside memory: dropped");
    v("poisoned_writes", &RootComplexCounters::poisoned_writes, "TLPs", "dropped: poisoned data");
    v("config_accesses", &RootComplexCounters::config_accesses, "accesses", "accesses to the device's configuration");
    v("link_resets", &RootComplexCounters::link_resets, "resets", "resets of the link, in band or by PERST#");
    v("lost_accesses", &RootComplexCounters::lost_accesses, "accesses", "accesses while the link was down");
  }
};

// Lives in the host's clock domain. Takes one TLP of each class and sends one TLP per cycle. Memory is written when a
// write arrives and read memory_read_ns after a request arrived, both in tick(): a stage that touches the same octets
// in the same cycle races with the device, as a CPU would.
class RootComplex final : public Stage, public HostPort {
 public:
  // Messages to this window are interrupts; the data is the vector.
  static constexpr std::uint64_t kMsiAddress = 0xfee00000;
  static constexpr std::uint64_t kMsiBytes = 0x100000;

  pcie::PciePort port;

  RootComplex(sc_core::sc_module_name nm, ClockDomain& clk, const RootComplexConfig& config,
              const pcie::PcieLinkConfig& link, HostMemory& memory);

  // The receiver of memory writes, interrupts and read results. Calls come from within tick().
  void attach(HostEvents& events) { events_ = &events; }

  // HostPort. A call whose at_ps is before that of an earlier call takes effect after it.
  void mmio_write(std::uint32_t offset, std::uint32_t value, std::uint64_t at_ps) override;
  void mmio_read(std::uint32_t offset, std::uint32_t cookie, std::uint64_t at_ps) override;
  void config_read(std::uint32_t offset, std::uint32_t cookie, std::uint64_t at_ps) override;
  void config_write(std::uint32_t offset, std::uint32_t bytes, std::uint32_t value, std::uint32_t cookie,
                    std::uint64_t at_ps) override;
  void reset_device(ResetKind kind, std::uint64_t at_ps) override;
  std::uint64_t lookahead_ps() const override { return std::uint64_t{link_.propagation_ns} * 1000; }

  Wake tick() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const RootComplexCounters& counters() const { return counters_; }
  Account& pending_reads() { return pending_reads_; }
  // Those of them that memory has answered until cycle `at`: on their way onto the link.
  Account& answered_reads(Cycle at) { return settle(at), answered_reads_; }

 private:
  static constexpr unsigned kTags = 32;
  struct Read {
    pcie::Tlp request;
    Cycle due = 0;
    std::uint32_t sent = 0;
  };
  // What a read, or an access to configuration space, is answered to.
  struct Asked {
    std::uint32_t cookie = 0;
    bool config = false;
  };
  struct Access {
    pcie::Tlp tlp;  // unless it resets the link
    Asked asked;
    std::optional<ResetKind> resets;
  };
  void access(Access access, std::uint64_t at_ps);
  bool link_down();
  void lose_link(ResetKind kind);
  void answer(const Asked& asked, std::uint32_t value, bool ok);
  void take_write();
  void take_read();
  void take_completion();
  void prepare_completion();
  void settle(Cycle at);
  const pcie::Tlp* mmio_head() const;
  void transmit();
  bool behind_a_write(pcie::FlowClass c) const;

  const RootComplexConfig config_;
  const pcie::PcieLinkConfig link_;
  pcie::ConfigRegisters configured_;  // what the device's registers are when the next access arrives
  HostMemory& memory_;
  HostEvents* events_ = nullptr;
  BufferPool snapshots_;  // read data on its way to the device
  Inbox<Access> mmio_;    // the CPU's accesses on their way to the root port
  std::uint64_t last_mmio_ps_ = 0;
  Ring<Read> reads_;          // in the order of arrival, which is the order of service
  std::size_t answered_ = 0;  // of reads_, in the account
  Account pending_reads_, answered_reads_;
  pcie::Tlp completion_;  // the next to send
  bool completion_ready_ = false;
  bool resets_ = false;  // a reset of the link is to come, or is not over
  std::uint32_t free_tags_ = ~std::uint32_t{0};
  std::array<Asked, kTags> asked_{};
  RootComplexCounters counters_;
};

}  // namespace rnic::host

// Executes Atomic Requests on host memory, atomically against each other (RFC 7306 sections 5.1 and 5.3).
// See atomic_alu.md.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "model/abi/host_abi.h"
#include "model/common/account.h"
#include "model/common/link.h"
#include "model/common/ring.h"
#include "model/config/field.h"
#include "model/rnic/context/tables.h"
#include "model/rnic/context/word_watch.h"
#include "model/rnic/messages/dma.h"
#include "model/rnic/messages/qp_events.h"
#include "model/rnic/messages/requests.h"

namespace rnic {

struct AtomicAluConfig {
  unsigned operations = 64;
  unsigned initiation_interval = 4;
  unsigned pipeline_cycles = 4;
  template <class V>
  static void fields(V& v) {
    v("operations", &AtomicAluConfig::operations, "atomics in flight over all QPs: covers the PCIe round trip",
      in_range(1, 1024), unit("operations"));
    v("initiation_interval", &AtomicAluConfig::initiation_interval, "from one atomic's start to the next one's",
      in_range(1, 64), unit("cycles"));
    v("pipeline_cycles", &AtomicAluConfig::pipeline_cycles, "from operands to result; the interval at one address",
      in_range(1, 64), unit("cycles"));
  }
};

struct AtomicAluCounters {
  std::uint64_t fetch_adds = 0, cmp_swaps = 0, forwarded = 0, held_up = 0, refused = 0, failed = 0;
  template <class V>
  static void fields(V& v) {
    v("fetch_adds", &AtomicAluCounters::fetch_adds, "requests", "FetchAdds executed");
    v("cmp_swaps", &AtomicAluCounters::cmp_swaps, "requests", "CmpSwaps executed, including those that did not match");
    v("forwarded", &AtomicAluCounters::forwarded, "requests",
      "atomics that took the forwarded result of an older one instead of reading memory");
    v("held_up", &AtomicAluCounters::held_up, "requests",
      "atomics that waited for an older one, as a Write had changed the word in between");
    v("refused", &AtomicAluCounters::refused, "requests", "Atomic Requests that failed validation");
    v("failed", &AtomicAluCounters::failed, "requests", "atomics whose memory could not be read");
  }
};

class AtomicAlu final : public Stage {
 public:
  PopPort<QueuedAtomic> in{*this, "in"};
  PushPort<DmaReadRequest> read{*this, "read"};
  PopPort<DmaReadDone> read_done{*this, "read_done"};
  PushPort<DmaWriteRequest> write{*this, "write"};
  PopPort<DmaWriteDone> written{*this, "written"};
  PushPort<AtomicWork> out{*this, "out"};
  PushPort<QpEvent> event{*this, "event"};
  // For the request in front; bound to the contexts' tables.
  NamedStag target{*this, "atomic_alu", "atomic_alu_region"};
  PageTable::Reader pages{*this, "atomic_alu"};

  AtomicAlu(sc_core::sc_module_name nm, ClockDomain& clk, ContextTables& contexts, const AtomicAluConfig& cfg);
  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  // Other writers to host memory in the chip's name report their writes here.
  WordWatch& words() { return words_; }
  void describe(const Description& d) override;
  AtomicAluCounters& counters() { return counters_; }  // its twin counts for it
  // Whether a DMA read may have this tag, and where it goes; the twin's as well.
  bool has(std::uint32_t tag) const { return tag < operations_.size(); }
  std::uint8_t* landing(std::uint32_t tag) { return operations_.at(tag).octets.data(); }

 private:
  static constexpr unsigned kNone = WordWatch::kNoEntry;
  struct Operation {
    QueuedAtomic request;
    std::uint64_t address = 0;                             // on the bus
    std::array<std::uint8_t, abi::kAtomicBytes> octets{};  // as read from host memory
    std::uint64_t original = 0, result = 0;
    unsigned next = kNone;  // the younger one that waits for the result
    bool newest = false;    // the youngest in flight at its address
    bool ok = true;         // host memory could be read
    bool writes = false;
    bool executed = false;
  };
  struct Execution {
    unsigned operation = 0;
    Cycle done = 0;
  };

  bool look_up(const QueuedAtomic& next);
  std::optional<wire::TerminateCause> check(const QueuedAtomic& r) const;
  MemoryPiece target_of(const wire::AtomicRequest& q) const;
  bool find(const MemoryPiece& piece);
  unsigned newest_at(std::uint64_t address) const;
  bool accept();
  bool accept_next();
  void start(const QueuedAtomic& r, unsigned older);
  bool take_operand();
  void forward(unsigned from, unsigned to);
  bool execute_one();
  bool finish();
  bool answer();

  ContextTables& contexts_;
  const AtomicAluConfig cfg_;
  WordWatch words_;  // of the operations
  WritesInAnyOrder in_progress_;
  std::vector<Operation> operations_;
  Ring<unsigned> free_;
  Ring<unsigned> ready_;       // operand there
  Ring<Execution> executing_;  // in the pipeline
  Ring<unsigned> unanswered_;  // in the order of execution; a write is in progress
  Cycle next_start_ = 0;
  bool held_up_ = false;       // the next request waits for an older one
  bool asked_stag_ = false;    // the entry of its STag is asked for
  bool asked_ = false;         // a row of the page table is asked for
  std::uint64_t address_ = 0;  // of the next request's target, on the bus
  Account slots_;
  BufferPool buffers_{abi::kAtomicBytes};
  AtomicAluCounters counters_;
};

}  // namespace rnic

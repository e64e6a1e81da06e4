// The home of contexts that are not on the chip: fetches rows that a table misses, and takes what the firmware writes.
// See context_home.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/common/buffer.h"
#include "model/common/link.h"
#include "model/common/ring.h"
#include "model/rnic/context/board_memory.h"
#include "model/rnic/context/context.h"
#include "model/rnic/messages/dma.h"
#include "model/rnic/messages/firmware.h"

namespace rnic {

enum class HomeKind : std::uint8_t { kHost, kBoard };
inline constexpr std::array<Named<HomeKind>, 2> kHomeKinds{{{HomeKind::kHost, "host"}, {HomeKind::kBoard, "board"}}};

struct ContextHomeConfig {
  HomeKind kind = HomeKind::kHost;
  unsigned flip_fetch = 0;
  BoardMemoryConfig board;
  template <class V>
  static void fields(V& v) {
    v("kind", &ContextHomeConfig::kind, "where rows are that are not on the chip: memory of the host, or on the board",
      one_of(kHomeKinds));
    v("flip_fetch", &ContextHomeConfig::flip_fetch, "injected: the fetch of this number brings a wrong bit; 0: none",
      in_range(0u, 1u << 31));
    v.group("board", &ContextHomeConfig::board);
  }
};

struct ContextHomeCounters {
  std::uint64_t fetches = 0, fetched_bytes = 0, fetch_cycles = 0, writes = 0, refetches = 0, failed = 0, corrupt = 0;
  template <class V>
  static void fields(V& v) {
    v("fetches", &ContextHomeCounters::fetches, "rows", "rows read from the home");
    v("fetched_bytes", &ContextHomeCounters::fetched_bytes, "octets", "octets of these rows");
    v("fetch_cycles", &ContextHomeCounters::fetch_cycles, "cycles", "from a miss to its row, added up");
    v("writes", &ContextHomeCounters::writes, "writes", "entries written to the home");
    v("refetches", &ContextHomeCounters::refetches, "rows", "fetches repeated because of a write meanwhile");
    v("failed", &ContextHomeCounters::failed, "rows", "rows that could not be read");
    v("corrupt", &ContextHomeCounters::corrupt, "rows", "rows with an entry that is not what was written");
  }
};

// One operation, one miss, one request and one answer a cycle.
class ContextHome final : public Stage {
 public:
  static constexpr unsigned kWrites = 8;   // entries on their way to the home
  static constexpr unsigned kReports = 8;  // lost rows that the firmware has not heard of; no further ones are kept

  PopPort<TableMiss> misses{*this, "misses"};
  PopPort<HomeOp> ops{*this, "ops"};
  PushPort<HomeEvent> events{*this, "events"};
  PushPort<DmaReadRequest> read{*this, "read"};
  PopPort<DmaReadDone> read_done{*this, "read_done"};
  PushPort<DmaWriteRequest> write{*this, "write"};
  PopPort<DmaWriteDone> write_done{*this, "write_done"};

  ContextHome(sc_core::sc_module_name nm, ClockDomain& clk, ContextStore& contexts, const ContextHomeConfig& config,
              unsigned misses_in_flight);

  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const ContextHomeCounters& counters() const { return counters_; }

 private:
  static constexpr std::uint32_t kRowBytes = PageRow::kPages * HomeEntry::kBytes;
  struct Fetch {
    TableMiss miss;
    std::array<std::uint8_t, kRowBytes> octets{};
    bool busy = false, stale = false, flip = false;
    Cycle done_at = kNever;  // of the board's memory
    Cycle since = 0;
  };
  bool take_write_done();
  bool take_op();
  bool write_entry(const HomeOp& op);
  bool take_miss();
  bool send();
  void send(unsigned number);
  bool take_answer();
  void finish(unsigned number, bool ok);
  void report(std::uint32_t row);
  bool tell();
  bool unpack(const Fetch& fetch);
  bool being_written(std::uint32_t row) const {
    return writes_.any([row](std::uint32_t written) { return written == row; });
  }
  std::uint64_t address_of(std::uint64_t octet) const;
  bool at_rest() const { return writes_.empty() && fetching_ == 0; }

  ContextStore& contexts_;
  const HomeKind kind_;
  const unsigned flip_fetch_;
  BufferPool entries_{HomeEntry::kBytes};
  BoardMemory board_;
  std::vector<std::uint64_t> home_;  // bus addresses of its pages
  std::vector<Fetch> fetches_;
  std::vector<unsigned> to_send_;  // fetches
  unsigned fetching_ = 0;
  Ring<std::uint32_t> writes_;   // rows, of entries on their way
  Ring<std::uint32_t> reports_;  // lost rows
  PageRow row_;                  // unpacked
  ContextHomeCounters counters_;
};

}  // namespace rnic

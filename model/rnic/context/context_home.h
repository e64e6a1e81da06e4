// The home of contexts that are not on the chip: fetches rows that a table misses, takes those that make room, and what
// the firmware writes. See context_home.md.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "model/common/buffer.h"
#include "model/common/link.h"
#include "model/common/ring.h"
#include "model/rnic/context/board_memory.h"
#include "model/rnic/context/context.h"
#include "model/rnic/context/homed_tables.h"
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
  std::uint64_t fetches = 0, fetched_bytes = 0, fetch_cycles = 0, writes = 0, write_backs = 0, refetches = 0,
                failed = 0, corrupt = 0, write_throughs = 0;
  template <class V>
  static void fields(V& v) {
    v("fetches", &ContextHomeCounters::fetches, "rows", "rows read from the home");
    v("fetched_bytes", &ContextHomeCounters::fetched_bytes, "octets", "octets of these rows");
    v("fetch_cycles", &ContextHomeCounters::fetch_cycles, "cycles", "from a miss to its row, added up");
    v("writes", &ContextHomeCounters::writes, "writes", "what the firmware wrote to the home");
    v("write_backs", &ContextHomeCounters::write_backs, "rows", "rows that made room and had been changed");
    v("write_throughs", &ContextHomeCounters::write_throughs, "writes",
      "changes of rows on the chip, without write-back");
    v("refetches", &ContextHomeCounters::refetches, "rows", "fetches repeated because of a write meanwhile");
    v("failed", &ContextHomeCounters::failed, "rows", "rows that could not be read");
    v("corrupt", &ContextHomeCounters::corrupt, "rows", "rows with octets that are not what was written");
  }
};

// One operation, one miss, one request and one answer a cycle.
class ContextHome final : public Stage {
 public:
  static constexpr unsigned kWrites = 16;  // on their way to the home
  static constexpr unsigned kReports = 8;  // lost rows that the firmware has not heard of; no further ones are kept

  PopPort<HomeOp> ops{*this, "ops"};
  PushPort<HomeEvent> events{*this, "events"};
  PushPort<DmaReadRequest> read{*this, "read"};
  PopPort<DmaReadDone> read_done{*this, "read_done"};
  PushPort<DmaWriteRequest> write{*this, "write"};
  PopPort<DmaWriteDone> write_done{*this, "write_done"};

  ContextHome(sc_core::sc_module_name nm, ClockDomain& clk, ContextStore& contexts, const ContextHomeConfig& config);

  // Those of a lower layer, before the first cycle, if they are not all on the chip.
  void keep_flows(std::unique_ptr<HomedObjects> flows) {
    flows_ = add("flow_misses", "flow_changes", std::move(flows));
  }

  Wake tick() override;
  void reset() override;
  std::string waiting_for() const override;
  void describe(const Description& d) override;
  const ContextHomeCounters& counters() const { return counters_; }

 private:
  struct Fetch {
    HomedObjects* from = nullptr;  // nullptr: free
    TableMiss miss;
    std::array<std::uint8_t, HomedObjects::kMaxFetchBytes> octets{};
    bool stale = false, flip = false;
    Cycle done_at = kNever;  // of the board's memory
    Cycle since = 0;
    std::uint64_t object() const { return from->octet_of(miss.index); }
  };
  struct Input {
    Input(ContextHome& home, const char* name, std::unique_ptr<HomedObjects> which)
        : misses(home, name), objects(std::move(which)) {}
    PopPort<TableMiss> misses;
    std::unique_ptr<PopPort<RowWrite>> changes;  // without write-back
    const std::unique_ptr<HomedObjects> objects;
    std::uint32_t written = 0;  // tables whose part of the row that makes room is on its way to the home
  };
  struct Lost {
    abi::ContextKind kind;
    std::uint32_t row;
  };
  void add_qps(const HomeLayout& layout);
  HomedObjects* add(const char* misses, const char* changes, std::unique_ptr<HomedObjects> objects);
  bool take_write_done();
  bool take_op();
  bool release();
  void write_entry(const HomeOp& op);
  void write_cq(const HomeOp& op);
  void write_qp(const HomeOp& op);
  void write_flow(const HomeOp& op);
  void write_srq(const HomeOp& op);
  void overtake(const HomedObjects& objects, std::uint32_t row);
  bool can_write();
  std::uint8_t* write_home(const HomedObjects& objects, std::uint32_t row, std::uint64_t octet, std::uint32_t bytes);
  void write_back(HomedObjects& objects, const TableMiss& miss, unsigned table);
  bool take_miss();
  bool take_miss(Input& input);
  bool take_change();
  bool begin(Input& input);
  bool send();
  void send(unsigned number);
  void drop(unsigned number);
  bool take_answer();
  void finish(unsigned number, bool ok);
  void report(Lost lost);
  bool tell();
  bool being_written(std::uint64_t object) const {
    return writes_.any([object](std::uint64_t written) { return written == object; });
  }
  std::uint64_t address_of(std::uint64_t octet) const;
  bool at_rest();

  ContextStore& contexts_;
  std::deque<Input> inputs_;  // one of each cache
  HomedObjects *pages_, *cqs_, *srqs_;
  HomedObjects *qps_, *rx_qps_;  // the same, if the two halves of a queue pair are fetched at once
  HomedObjects* flows_ = nullptr;
  const HomeKind kind_;
  const unsigned flip_fetch_;
  BufferPool images_{QpHome::kUsedBytes};
  BoardMemory board_;
  std::vector<std::uint64_t> home_;  // bus addresses of its pages
  std::vector<Fetch> fetches_;
  std::vector<unsigned> to_send_;  // fetches
  unsigned fetching_ = 0;
  unsigned turn_ = 0;           // input whose miss is taken first
  Ring<std::uint64_t> writes_;  // objects, by their octet, of what is on its way
  Ring<Lost> reports_;
  unsigned change_turn_ = 0;   // input whose change is taken first
  bool changes_first_ = true;  // a miss wrote last
  bool releasing_ = false;     // the home is to be given back
  ContextHomeCounters counters_;
};

}  // namespace rnic

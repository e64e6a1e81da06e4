// How the parts of a device describe themselves to all outputs: statistics, probes, accounts, busy time, series, drops,
// events. An output reads what it shows and knows no part by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/common/account.h"
#include "model/common/drops.h"
#include "model/common/firmware_view.h"
#include "model/common/flows.h"
#include "model/common/link.h"
#include "model/common/owners.h"
#include "model/common/part.h"
#include "model/common/probe.h"
#include "model/common/stage.h"
#include "model/common/trace_event.h"
#include "model/common/trace_point.h"
#include "model/stats/registry.h"

namespace rnic {

namespace pcie {
class AccessOwner;
class PciePort;
}  // namespace pcie

// How far a resource is from the programs: a holder of one level may, while waiting, hold all levels before it, but not
// the other way round. The rule of the bottleneck (model/system/accounting.md) names the last one.
enum class Reach : std::uint8_t {
  kNobodyWaits,
  kElse,            // limits if nothing else is exhausted
  kWorkQueue,       // entries on chip
  kRequests,        // what a QP may request from its peer
  kWindow,          // octets that may be sent, of requests and of responses
  kTransmitMemory,  // octets that are kept until they are acknowledged
  kFetch,           // reads of host memory, as the chip's stages see them
  kTags,            // as the PCIe link sees them
  kCredits,         // of the PCIe link
  kHostMemory,      // behind the link
  kProcessor,       // busy, not waited for
};

// The role of an account in the rule of the bottleneck, where the rule looks at more than one.
enum class AccountRole : std::uint8_t {
  kNone,
  kSendWindow,      // octets may not be sent: the peer's window, or the congestion window
  kUnacknowledged,  // octets sent
  kCongested,       // flows whose congestion window is the smaller one
  kInFlight,        // flows with octets in flight
  kReadTags,        // reads of host memory that are not answered
  kMemoryReads,     // those of them in host memory
  kAnsweredReads    // or answered, on their way back
};

// The position of an account, a use or a column of a series among those of its device; equal ones, and those without a
// position, come in the order of the walk.
inline constexpr unsigned kLast = std::numeric_limits<unsigned>::max();

struct AccountSpec {
  std::string name;  // in files
  const char* kind;  // what it counts
  Reach reach;
  std::string limit;  // its name as a bottleneck; "" if no one waits
  unsigned position = kLast;
  AccountRole role = AccountRole::kNone;
  bool reads_memory = false;  // a holder waits for host memory
};

// A carrier of octets that can be busy.
enum class UseKind : std::uint8_t { kWire, kLinkRate, kPcie, kTransmit, kReceive };

// What the parts of a device have declared.
struct Described {
  struct AccountOf {
    AccountSpec spec;
    const ClockDomain* clk;
    std::function<Account&(Cycle at)> account;
  };
  struct UseOf {
    UseKind kind;
    std::string name;  // "{node}" and "{peer}" are replaced by the names
    unsigned position;
    std::function<double()> busy_ps;  // since the start
  };
  struct ColumnOf {
    std::string name, unit;
    unsigned position;
    std::vector<const std::uint64_t*> counters;  // it shows their sum
    bool when_used = false;                      // it begins when that is no longer 0
  };
  struct DropsOf {
    const char* where;
    Drops* drops;
  };
  struct PointOf {
    const char* where;
    const ClockDomain* clk;
    TracePoint* point;
  };
  // The work requests whose fetch begins with a read: the first one, and the octets that the read asks for.
  struct Fetch {
    RequestId first;
    std::uint32_t octets;
  };
  struct FetchesOf {
    LinkBase* link;
    Fetch (*fetch)(const void* message);
    std::uint32_t entry_octets;
  };
  // Of a medium, from one of its ports to another.
  struct Way {
    unsigned from, to;
    const std::uint64_t* queue_drops;  // frames lost because a queue on it was full; null: it has none
    std::function<double()> busy_ps;   // of its slow stretch since the start; empty: it has none
  };
  using EventSink = std::function<void(const TraceEvent&)>;

  std::vector<AccountOf> accounts;
  std::vector<UseOf> uses;
  std::vector<ColumnOf> columns;
  std::vector<DropsOf> drops;
  std::vector<PointOf> points;
  std::vector<LinkBase*> links, taken;
  std::vector<FetchesOf> fetches;
  std::vector<std::function<void(EventSink)>> events;
  std::vector<Way> ways;
  // The port that sends TLPs in one direction of the link to the host.
  struct TlpsOf {
    pcie::PciePort* port;
    bool to_device;
  };
  using AccessOwners = std::function<std::unique_ptr<pcie::AccessOwner>()>;
  // A limit that was hit so often, and what to say of it.
  struct LimitOf {
    const std::uint64_t* times;
    std::string text;
  };
  std::vector<TlpsOf> tlps;
  AccessOwners access_owners;
  std::vector<LimitOf> limits;
  Cycle moved_ahead = 0;
  const FirmwareView* firmware = nullptr;
  const std::uint64_t* overflows = nullptr;
  const Owners* owners = nullptr;
  const Flows* flows = nullptr;
  const QueuePairs* queue_pairs = nullptr;
};

// A place in the tree, given to a part so that it can describe itself without knowing its position. Outputs that are
// not wanted are absent, and declarations to them cost next to nothing.
class Description {
 public:
  explicit Description(Described& into) : into_(&into) {}
  explicit Description(const StatsGroup& stats) : stats_(stats) {}
  explicit Description(const ProbeGroup& probes) : probes_(probes) {}

  // The place of an inner part.
  Description part(const std::string& name) const {
    Description d = *this;
    d.stats_ = stats_.group(name);
    return d;
  }
  Description of(const Stage& stage) const {
    Description d = part(stage.basename());
    d.clk_ = &stage.clock();
    d.where_ = stage.name();
    return d;
  }

  // For the accounts of a part that is no stage.
  Description in(const ClockDomain& clk) const {
    Description d = *this;
    d.clk_ = &clk;
    return d;
  }

  // Of a part that is no stage: where its events are. The name stays valid.
  Description at(const char* where) const {
    Description d = *this;
    d.where_ = where;
    return d;
  }

  // Figures and probes, each with its own tree.
  const StatsGroup& stats() const { return stats_; }
  const ProbeGroup& probes() const { return probes_; }
  bool shows_probes() const { return probes_.shown(); }
  template <class Counters>
  void counters(const Counters& c) const {
    stats_.counters(c);
  }

  void account(AccountSpec spec, Account& account) const {
    this->account(std::move(spec), [&account](Cycle) -> Account& { return account; });
  }
  // For one that must be brought up to date first.
  template <class Until, std::enable_if_t<std::is_invocable_r_v<Account&, Until, Cycle>, int> = 0>
  void account(AccountSpec spec, Until until) const {
    if (into_ != nullptr) into_->accounts.push_back({std::move(spec), clk_, std::move(until)});
  }
  // Uses with the same name add up.
  void use(UseKind kind, std::string name, unsigned position, std::function<double()> busy_ps) const {
    if (into_ != nullptr) into_->uses.push_back({kind, std::move(name), position, std::move(busy_ps)});
  }
  // A counter of `counters` as a column of the series; columns with the same name add up. `when_used`: the column
  // begins when it is no longer 0.
  template <class Counters>
  void series(const char* column, unsigned position, const Counters& counters, std::uint64_t Counters::*counter,
              bool when_used = false) const {
    if (into_ == nullptr) return;
    const char* unit = nullptr;
    const auto find = [&](const char*, auto member, const char* its_unit, const char*) {
      if constexpr (std::is_same_v<decltype(member), std::uint64_t Counters::*>) {
        if (member == counter) unit = its_unit;
      }
    };
    Counters::fields(find);
    add_column(column, position, unit, counters.*counter, when_used);
  }
  // Frames that were lost because the part's queue was full.
  void overflows(const std::uint64_t& frames) const {
    if (into_ != nullptr) into_->overflows = &frames;
  }
  void drops(Drops& drops) const {
    if (into_ != nullptr) into_->drops.push_back({where_, &drops});
  }
  void point(TracePoint& point) const {
    if (into_ != nullptr) into_->points.push_back({where_, clk_, &point});
  }
  void link(LinkBase& link) const {
    if (into_ != nullptr) into_->links.push_back(&link);
  }
  // Service begins when a message is taken from this port; the part has no event of its own for that.
  template <class T>
  void takes(PopPort<T>& in) const {
    static_assert(kHasEvent<T>);
    if (into_ != nullptr) into_->taken.push_back(&*in);
  }
  // With a read that is requested here, of that many octets per work request, the fetch of work requests begins.
  template <class T>
  void fetches(PushPort<T>& reads, std::uint32_t entry_octets) const {
    if (into_ == nullptr) return;
    const auto fetch = [](const void* message) -> Described::Fetch {
      const T& read = *static_cast<const T*>(message);
      return {read.owner, read.bytes};
    };
    into_->fetches.push_back({&*reads, fetch, entry_octets});
  }
  // `tell(sink)`: events that are not messages go to the sink from now on.
  void events(std::function<void(Described::EventSink)> tell) const {
    if (into_ != nullptr) into_->events.push_back(std::move(tell));
  }
  void tlps(pcie::PciePort& port, bool to_device) const {
    if (into_ != nullptr) into_->tlps.push_back({&port, to_device});
  }
  // Makes one for each observer of the TLPs.
  void access_owners(Described::AccessOwners make) const {
    if (into_ != nullptr) into_->access_owners = std::move(make);
  }
  // Where it was hit, it may be why a run did not end well: "3 " and the text.
  void limit(const std::uint64_t& times, std::string text) const {
    if (into_ != nullptr) into_->limits.push_back({&times, std::move(text)});
  }
  // Stages may have moved beats of that many future cycles, at the most.
  void moved_ahead(Cycle cycles) const {
    if (into_ != nullptr) into_->moved_ahead = cycles;
  }
  void firmware(const FirmwareView& firmware) const {
    if (into_ != nullptr) into_->firmware = &firmware;
  }
  void way(Described::Way way) const {
    if (into_ != nullptr) into_->ways.push_back(std::move(way));
  }
  void owners(const Owners& owners) const {
    if (into_ != nullptr) into_->owners = &owners;
  }
  void flows(const Flows& flows) const {
    if (into_ != nullptr) into_->flows = &flows;
  }
  void queue_pairs(const QueuePairs& pairs) const {
    if (into_ != nullptr) into_->queue_pairs = &pairs;
  }

 private:
  void add_column(const char* name, unsigned position, const char* unit, const std::uint64_t& counter,
                  bool when_used) const;

  Described* into_ = nullptr;
  StatsGroup stats_;
  ProbeGroup probes_;
  const ClockDomain* clk_ = nullptr;
  const char* where_ = "";
};

// In their order.
void sort_by_position(Described& described);

}  // namespace rnic

// A memory that many share, each for something that the peer has to answer: who gets room in it, and who is next when
// there is none. See shared_room.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/common/id_queue.h"
#include "model/common/ids.h"
#include "model/common/registered.h"
#include "model/stats/high_water.h"

namespace rnic {

struct SharedRoomCounters {
  HighWater octets_max, records_max;
  std::uint64_t waits = 0, wait_cycles = 0;
};

// A stage takes room for something when it begins it. What is given back is there from the next cycle on. Id: of a
// sharer, a flow, a queue pair or a ring.
template <class Id>
class SharedRoom : public Committed {
 public:
  struct Amount {
    std::uint32_t octets = 0, records = 0;
  };
  // Who has a part of it: those that are open, or those that hold something.
  enum class Sharers : bool { kOpen, kHolders };

  // For those from `first` on. `largest`: that somebody asks for at once, in octets. The counters are the owner's.
  SharedRoom(ClockDomain& clk, const Amount& whole, Id first, std::size_t ids, std::uint32_t largest, Sharers sharers,
             SharedRoomCounters& counters);

  // ---- For the stage that takes room. It is called when there may be some for one that waits.

  void serve(Stage& stage) { stage_ = &stage; }
  bool has(Id id) const { return id.v - first_ < held_.size(); }
  // Somebody waits, or would have to before half of the memory is taken.
  bool is_short() const { return is_short_; }
  // Room for a record, if that one is not to wait.
  bool admits(Id id, std::uint32_t octets) const { return !is_short_ || admits_when_short(id, octets); }
  void take(Id id, std::uint32_t octets) {
    cancel(id);
    add(held_[id.v - first_], octets, 1);
    if (!fits(largest_, half_)) is_short_ = true;
    if (used_.octets > counters_.octets_max || used_.records > counters_.records_max) show(used_);
  }

  // It waits for room for a record of its queue pair.
  void wait(Id id, Qpn qpn, std::uint32_t octets);
  struct Called {
    Id id;
    Qpn qpn;
  };
  bool somebody_waits() const { return waiting_ != 0; }
  // Whether call() may find somebody.
  bool may_call() const { return may_call_; }
  // The next of those that wait, if there is room. It has that room until it takes it, or until cancel().
  std::optional<Called> call();
  // Gives the room of one that was called, and takes none, to the others.
  void cancel(Id id) {
    if (called_ != 0) cancel_call(id);
  }

  // ---- For those that keep or drop records

  // One that may take room from now on, and one that may not any more: whose part there is.
  void open(Id id) { change({id.v - first_, 0, 0, 1}); }
  void close(Id id) { change({id.v - first_, 0, 0, -1}); }
  void give_back(Id id, std::uint32_t octets, std::uint32_t records) {
    change({id.v - first_, -static_cast<std::int32_t>(octets), -static_cast<std::int32_t>(records), 0});
  }
  // What does not wait for room.
  void keep(Id id, std::uint32_t octets, std::uint32_t records) {
    change({id.v - first_, static_cast<std::int32_t>(octets), static_cast<std::int32_t>(records), 0});
  }

  // ---- For all

  const Amount& whole() const { return whole_; }
  const Amount& used() const { return used_; }
  const Amount& held(Id id) const { return held_[id.v - first_]; }

  void reset();
  void commit() final;

 protected:
  ~SharedRoom() = default;

 private:
  enum class Place : std::uint8_t { kNone, kInShare, kBeyondShare, kCalled };
  struct Wait {
    Cycle since = 0;
    Qpn qpn{};
    std::uint32_t octets = 0;
    Place place = Place::kNone;
  };
  struct Change {
    std::uint32_t index;
    std::int32_t octets, records, sharers;
  };

  bool fits(std::uint32_t octets, const Amount& limit) const {
    return used_.records < limit.records && std::uint64_t{used_.octets} + octets <= limit.octets;
  }
  void cancel_call(Id id);
  bool admits_when_short(Id id, std::uint32_t octets) const;
  bool in_share(const Amount& held, std::uint32_t octets) const;
  void change(const Change& c) {
    changes_.push_back(c);
    clk_.commit_later(*this);
  }
  void add(Amount& held, std::uint32_t octets, std::uint32_t records) {
    if (shares_ == Sharers::kHolders) sharers_ += (held.records + records != 0) - (held.records != 0);
    held.octets += octets;
    held.records += records;
    used_.octets += octets;
    used_.records += records;
  }
  void update_short() { is_short_ = waiting_ != 0 || !fits(largest_, half_); }
  void show(const Amount& peak) {
    counters_.octets_max.level(peak.octets, used_.octets);
    counters_.records_max.level(peak.records, used_.records);
  }
  void move_to_share();

  ClockDomain& clk_;
  const Amount whole_, half_;
  const std::uint32_t first_, largest_;
  const Sharers shares_;
  Stage* stage_ = nullptr;
  Amount used_;
  std::vector<Amount> held_;
  std::uint32_t sharers_ = 0;
  std::vector<Wait> waits_;  // empty until the first one has to wait
  IdQueue<Id> in_share_, beyond_share_;
  std::uint32_t waiting_ = 0, waiting_in_share_ = 0, called_ = 0;
  bool is_short_ = false, may_call_ = false;
  std::vector<Change> changes_;  // of this cycle
  SharedRoomCounters& counters_;
};

}  // namespace rnic

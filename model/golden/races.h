// What a device may decide: the order in which a message and what races with it take effect. A board asks it, stage by
// stage, which of them its predictor gets first. See board.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "model/common/cycle.h"
#include "model/golden/bench.h"
#include "model/golden/record.h"

namespace rnic::golden {

// Of everything, where an item or an output belongs to no group of its own.
inline constexpr std::uint64_t kAllGroups = ~std::uint64_t{0};

class Order;

// A message or a row that the device has accepted, and the predictor has not got yet.
struct Item {
  const Table* table = nullptr;  // of a row
  std::uint32_t port = 0;        // of a message; of a row its index
  Record record;
  Cycle cycle = 0;
  std::uint64_t group = 0;
  bool is_message = true;    // whose outcome an output shows; otherwise it is a control message or a row
  std::uint64_t number = 0;  // in the order of acceptance
};

// What a control message or a row may do for a message that races with it.
enum class Role : std::uint8_t {
  kOpens,     // a row without which the message is nothing
  kGives,     // what the message is refused without: a receive request, a place below IRD
  kEnds,      // the message is refused after it
  kSilences,  // the message is ignored after it
  kFollows    // nothing, and it was accepted later
};

// What an output says of the oldest message of its group.
enum class Shown : std::uint8_t {
  kNothing,  // or nothing was given
  kWell,     // it was served
  kLacks,    // it was refused, as something had not come that may have come since
  kRefused,  // for another reason
  kIgnored,  // it was ignored, as those before it
  kPassed,   // nothing, but something of a later one: it was decided in the order of acceptance
  kControl   // it is of a control message
};

// Whether a control message of this role comes before the message beside it, by what is shown of that.
constexpr bool goes_first(Role role, Shown shown) {
  switch (role) {
    case Role::kOpens:
      return true;
    case Role::kGives:
      return shown != Shown::kLacks;
    case Role::kEnds:
      return shown == Shown::kRefused;
    case Role::kSilences:
      return shown == Shown::kNothing || shown == Shown::kIgnored;
    case Role::kFollows:
      return false;
  }
  return true;
}

// A member of messages by its name, looked up once for each of them.
class Field {
 public:
  explicit Field(std::string_view name) : name_(name) {}
  std::uint64_t of(const Record& record) const {
    if (shape_ != &record.shape()) {
      shape_ = &record.shape();
      member_ = find_member(record.shape(), name_);
    }
    return member_ == nullptr ? 0 : record.value(*member_);
  }
  bool is_in(const Record& record) const {
    of(record);
    return member_ != nullptr;
  }

 private:
  std::string_view name_;
  mutable const Shape* shape_ = nullptr;
  mutable const Member* member_ = nullptr;
};

// Of one kind of stage. It orders: whatever it says, all outputs are compared. It excuses nothing but the accesses to
// memory of an atomic whose queue pair ended during it.
class Races {
 public:
  explicit Races(Bench& predictor) : predictor_(predictor) {}
  Races(const Races&) = delete;
  Races& operator=(const Races&) = delete;
  virtual ~Races() = default;

  // Sets the item's group, and whether it is a message.
  virtual void classify(Item& item) const = 0;
  virtual Role role(const Item& control, const Item* message, const Order& waiting) const = 0;
  virtual Shown shown(std::uint32_t port, const Record& given) const = 0;
  // Whether a refusal may be that of this message: it is the oldest of its group, but others show nothing.
  virtual bool is_about(const Item&, const Record& /*given*/) const { return true; }
  virtual std::uint64_t group_of(std::uint32_t port, const Record& given, const Order& waiting) const = 0;
  // Whether a control message or a row has no effect on messages before it, beside those that it races with.
  virtual bool follows_messages(const Item&) const { return false; }
  // Whether the message's outcome may take any time, as something outside of the device has to come first.
  virtual bool is_patient(const Item&) const { return false; }

  // What the device accepts: true if the predictor does not get it as it is.
  virtual bool takes(std::uint32_t, const Record&, Cycle) { return false; }
  virtual void gives(std::uint32_t, const Record&, std::uint64_t /*number*/, Cycle) {}
  // An item that the predictor gets; `given` is what the device has shown of it, if anything.
  virtual void begins(const Item&, const Record* /*given*/) {}
  virtual void ends(const Item&) {}
  // What the predictor gives: true if the device need not give it.
  virtual bool keeps(std::uint32_t, const Record&) { return false; }
  // What was expected of a port is given: the numbers of both, each in its port's order.
  virtual void matched(std::uint32_t, std::uint64_t /*expected*/, std::uint64_t /*given*/) {}
  // Whether what a port gives may be explained later than in its cycle, by what waits.
  virtual bool may_wait(std::uint32_t) const { return true; }
  // Whether a port may give something before what it comes of is accepted.
  virtual bool may_precede(std::uint32_t) const { return false; }
  // Whether something waits that was accepted, beside what the board has in its order.
  virtual bool holds() const { return false; }
  // Whether host memory has not answered all accesses of the device: what it takes does not count for the device.
  virtual bool waits_for_memory() const { return false; }
  // Of what nothing explains: whether it may have come of an item that was silenced during its work.
  virtual bool excuses(std::uint32_t, const Record&, std::uint64_t /*number*/) { return false; }

 protected:
  Bench& predictor_;
};
using MakeRaces = std::unique_ptr<Races> (*)(Bench&);

std::unique_ptr<Races> irrq_races(Bench& predictor);
std::unique_ptr<Races> response_queue_races(Bench& predictor);
std::unique_ptr<Races> terminate_races(Bench& predictor);
std::unique_ptr<Races> placement_races(Bench& predictor);
std::unique_ptr<Races> atomic_races(Bench& predictor);

}  // namespace rnic::golden

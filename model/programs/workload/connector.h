// The side of an Op::kConnect item that opens and closes the connections.
#pragma once

#include "model/programs/workload/churn.h"

namespace rnic::workload {

class Connector final : public ChurnRole {
 public:
  Connector(Transfer& transfer, std::uint8_t index, ChurnSide side);

  bool prepare(host::Context& context, host::Qp&, host::Pd pd) override { return make(context, pd); }
  void advance() override;
  bool done() const override { return finished_; }
  std::string waiting_for() const override;

 private:
  // A connection in progress. kResting: the device had no room for it.
  enum class State : std::uint8_t { kNone, kCreating, kConnecting, kSending, kClosing, kDestroying, kResting };
  struct Slot {
    State state = State::kNone;
    bool again = false;  // the same connection, after a rest
    std::uint32_t connection = 0;
    std::uint64_t rested_ps = 0;
    host::Qp* qp = nullptr;
  };
  static constexpr std::uint64_t kRestPs = 10'000'000;

  void forget_destroyed();
  bool move(Slot& s);
  bool begin(Slot& s);
  void connect(const Slot& s);
  void take(const host::CmEvent& event);
  void established(Slot& s, const host::CmEvent& event);
  void not_made(Slot& s, const host::CmEvent& event);
  void sent(const host::Wc& wc);
  void destroy(Slot& s);
  unsigned index_of(const Slot& s) const { return static_cast<unsigned>(&s - slots_.data()); }

  std::vector<Slot> slots_;
  std::unique_ptr<host::EventChannel> channel_;
  std::uint32_t next_ = 0;
  std::uint64_t due_ps_ = 0;  // of the next connection, if there is an interval
  bool finished_ = false;
};

}  // namespace rnic::workload

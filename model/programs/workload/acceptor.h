// The side of an Op::kConnect item that listens.
#pragma once

#include <deque>

#include "model/programs/workload/churn.h"

namespace rnic::workload {

class Acceptor final : public ChurnRole {
 public:
  Acceptor(Transfer& transfer, std::uint8_t index, ChurnSide side);

  bool prepare(host::Context& context, host::Qp&, host::Pd pd) override;
  void requested(const host::CmEvent& event) override;
  void advance() override;
  bool done() const override { return finished_; }
  std::string waiting_for() const override;

 private:
  // A queue pair waits for its turn, then serves one connection.
  enum class State : std::uint8_t { kNone, kCreating, kReady, kServing, kDestroying };
  struct Slot {
    State state = State::kNone;
    bool established = false, received = false, closed = false;
    std::uint32_t connection = 0;
    host::Qp* qp = nullptr;
  };
  struct Request {
    std::uint32_t id, connection;
  };

  void answer_requests();
  bool accept(const Request& request);
  void forget_destroyed();
  bool move(Slot& s);
  void take(const host::CmEvent& event);
  void received(const host::Wc& wc);
  unsigned index_of(const Slot& s) const { return static_cast<unsigned>(&s - slots_.data()); }

  std::vector<Slot> slots_;
  std::vector<bool> seen_;        // by connection
  std::deque<Request> requests_;  // not answered yet
  std::unique_ptr<host::EventChannel> channel_;
  std::uint32_t to_create_ = 0, to_end_ = 0;  // queue pairs, connections
  bool finished_ = false;
};

}  // namespace rnic::workload

// The ends of a stage's links, observed for its board.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "model/common/link.h"
#include "model/common/ring.h"
#include "model/scoreboard/stage_board.h"
#include "model/scoreboard/structure.h"
#include "model/scoreboard/transactions_of.h"

namespace rnic::scoreboard {

template <class T>
class LinkPort : public StagePort, protected LinkObserver {
 public:
  using M = typename TransactionsOf<T>::Transaction;
  LinkPort(StageBoard& board, LinkBase& link, unsigned number, TransactionsOf<T> beats = {})
      : board_(board), link_(link), number_(number), beats_(std::move(beats)) {
    link.observe(*this);
  }
  ~LinkPort() override { link_.forget(*this); }
  LinkPort(const LinkPort&) = delete;
  LinkPort& operator=(const LinkPort&) = delete;

  Cycle oldest() const final { return moves_.empty() ? kNever : moves_.front().cycle; }
  void tell_stall(Cycle) override {}
  bool empty() const final { return link_.empty(); }

 protected:
  struct Move {
    M message;
    RequestId owner;
    Cycle cycle = 0;     // in which its last beat is taken by the stage, or given by it
    unsigned beats = 0;  // of one that still waits on the link
  };

  StageBoard& board_;
  LinkBase& link_;
  const unsigned number_;
  TransactionsOf<T> beats_;
  Ring<Move> moves_;
  Structure<M> structure_;
};

template <class T>
class InputPort : public LinkPort<T> {
 public:
  using LinkPort<T>::LinkPort;
  void hand_over() final {
    auto& move = this->moves_.front();
    this->board_.accepted(this->number_, this->structure_.of(move.message), move.cycle, move.owner);
    this->moves_.drop();
  }
};

// A transaction is accepted when the stage takes its last beat.
template <class T>
class InPort final : public InputPort<T> {
  using typename LinkPort<T>::Move;

 public:
  using InputPort<T>::InputPort;

 private:
  void reserved(Cycle, Cycle) override {}
  void filled(const void* beat, Cycle, Cycle) override {
    ++filled_;
    if (!this->beats_.join(*static_cast<const T*>(beat))) return;
    Move& move = on_link_.add();
    move.message = this->beats_.transaction;
    move.owner = this->beats_.owner;
    move.beats = std::exchange(filled_, 0);
  }
  void popped(Cycle now, Cycle) override {
    ++popped_;
    if (on_link_.empty() || popped_ != on_link_.front().beats) return;
    popped_ = 0;
    Move& move = this->moves_.add();
    move = on_link_.pop();
    move.cycle = now;
    this->board_.moved();
  }
  void emptied(Cycle now) override {
    this->board_.emptied(now);
    this->moves_.clear();
    on_link_.clear();
    filled_ = popped_ = 0;
  }

  Ring<Move> on_link_;
  unsigned filled_ = 0, popped_ = 0;  // beats of the message that is under way
};

// Octets of a stream are the stage's to look at once they are offered: an FPDU that is complete may leave before the
// beat that it ends in is taken, as the rest of that waits.
template <class T>
class StreamInPort final : public InputPort<T> {
  using typename LinkPort<T>::Move;

 public:
  using InputPort<T>::InputPort;

 private:
  void reserved(Cycle, Cycle) override {}
  void filled(const void* beat, Cycle, Cycle visible) override {
    this->beats_.join(*static_cast<const T*>(beat));
    Move& move = on_link_.add();
    move.message = this->beats_.transaction;
    move.owner = this->beats_.owner;
    move.cycle = visible;
    if (on_link_.size() == 1) offer();
  }
  void popped(Cycle now, Cycle) override {
    on_link_.drop();
    free_from_ = now + 1;
    if (!on_link_.empty()) offer();
  }
  void emptied(Cycle now) override {
    this->board_.emptied(now);
    this->moves_.clear();
    on_link_.clear();
  }
  // The oldest beat, from the cycle on in which the one before it is gone.
  void offer() {
    Move& move = this->moves_.add();
    move = std::move(on_link_.front());
    move.cycle = std::max(move.cycle, free_from_);
    this->board_.moved();
  }

  Ring<Move> on_link_;
  Cycle free_from_ = 0;
};

// When a transaction is given: as soon as its last beat is to be seen behind the stage, as a link may have the latency
// of its stage; or in the cycle after the one in which it is put on the link, where the order of several outputs
// counts.
enum class GivenWhen { kSeen, kPushed };

template <class T>
class OutPort final : public LinkPort<T> {
  using typename LinkPort<T>::Move;

 public:
  OutPort(StageBoard& board, LinkBase& link, unsigned number, GivenWhen when)
      : LinkPort<T>(board, link, number), when_(when) {}
  void hand_over() override {
    Move& move = this->moves_.front();
    this->board_.given(this->number_, this->structure_.of(move.message), move.cycle, move.owner);
    this->moves_.drop();
  }
  void tell_stall(Cycle until) override {
    for (; !stalls_.empty() && stalls_.front().to <= until; stalls_.drop()) {
      this->board_.stalled(this->number_, stalls_.front().from, stalls_.front().to);
    }
    if (no_room_from_ == kNever || until < no_room_from_ + kLong) return;
    this->board_.stalled(this->number_, no_room_from_, until);
    no_room_from_ = until;
  }

 private:
  void reserved(Cycle now, Cycle next_credit) override {
    if (next_credit == kNever) no_room_from_ = now + 1;
  }
  void popped(Cycle, Cycle credit) override {
    if (credit == kNever) return;
    if (no_room_from_ != kNever && credit >= no_room_from_ + kLong) stalls_.push({no_room_from_, credit});
    no_room_from_ = kNever;
  }
  void filled(const void* beat, Cycle now, Cycle visible) override {
    if (!this->beats_.join(*static_cast<const T*>(beat))) return;
    Move& move = this->moves_.add();
    move.message = this->beats_.transaction;
    move.owner = this->beats_.owner;
    move.cycle = when_ == GivenWhen::kSeen ? visible : now + 1;
    this->board_.moved();
  }
  void emptied(Cycle now) override {
    this->board_.emptied(now);
    this->moves_.clear();
    stalls_.clear();
    no_room_from_ = kNever;
  }

  struct Stall {
    Cycle from, to;
  };
  const GivenWhen when_;
  Ring<Stall> stalls_;                // that are over, but not told yet
  static constexpr Cycle kLong = 16;  // shorter ones do not matter beside the longest latency
  Cycle no_room_from_ = kNever;       // if it has none
};

}  // namespace rnic::scoreboard

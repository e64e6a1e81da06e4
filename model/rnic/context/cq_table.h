// The completion queues of a chip: a table with a port and a read latency. See cq_table.md.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/abi/context_types.h"
#include "model/common/table.h"

namespace rnic {

// What cqe_writer knows of a queue.
struct CqState {
  static constexpr std::uint32_t kMostDue = 0x10000;  // more than a notification can be moderated for

  std::uint32_t epoch = 0;  // of the context that the rest is about
  std::uint32_t produced = 0;
  std::uint32_t taken = 0;           // by the host, as far as it is known
  std::uint32_t last_solicited = 0;  // value of `produced` after the newest solicited entry
  bool armed = false, solicited_only = false;
  bool overrun = false;   // an entry was lost: nothing more is written
  std::uint32_t due = 0;  // entries that the notification under moderation is for; 0: there is none

  std::uint32_t unread() const { return produced - taken; }
  // The host's consumer index: values that are impossible are ignored.
  void take(std::uint32_t more) {
    if (more <= unread()) taken += more;
  }
  void owe(std::uint32_t entries) { due = std::min(due + entries, kMostDue); }

  static constexpr const char* kMessage = "cq_state";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("epoch", 32, m.epoch);
    v("produced", 32, m.produced);
    v("taken", 32, m.taken);
    v("last_solicited", 32, m.last_solicited);
    v("armed", 1, m.armed);
    v("solicited_only", 1, m.solicited_only);
    v("overrun", 1, m.overrun);
    v("due", 17, m.due);
  }
};

struct CqRow {
  CqContext cq;   // written by the firmware
  CqState state;  // cqe_writer's

  // Of the queue as it is now: what is known of an earlier use of its number does not count.
  CqState current() const { return state.epoch == cq.epoch ? state : CqState{cq.epoch}; }
  std::uint32_t entries() const { return 1u << cq.log_entries; }

  static constexpr const char* kMessage = "cq_row";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("cq", m.cq);
    v("state", m.state);
  }
};

using CqTable = Table<CqRow>;

}  // namespace rnic

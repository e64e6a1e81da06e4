// The queue pair of the segment that comes in at one input of ddp_placement: its row of the receive table. See
// ddp_placement.md.
#pragma once

#include "model/rnic/context/rx_table.h"

namespace rnic {

// One segment at a time.
class SegmentQp {
 public:
  SegmentQp(Stage& owner, const char* name) : row_(owner, name) {}
  void bind_to(RxTable& table) { table.bind(row_); }

  // The header of its segment is here.
  void begin(Qpn qpn) {
    qpn_ = qpn;
    asks_ = true;
  }
  void ask() {
    if (!asks_ || !row_.can_ask()) return;
    row_.ask(qpn_.v);
    asks_ = false;
  }
  bool there() const { return row_.can_use(); }
  Qpn qpn() const { return qpn_; }
  // Whether there is such a queue pair.
  bool ok() const { return row_.ok(); }
  const RxRow& row() const { return row_.row(); }
  // The segment is judged.
  void end() { row_.drop(); }
  void reset() { asks_ = false; }

  // For a twin, which asks itself.
  RxTable::Reader& rows() { return row_; }

 private:
  RxTable::Reader row_;
  Qpn qpn_;
  bool asks_ = false;
};

}  // namespace rnic

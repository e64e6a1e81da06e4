// What the calendar calls: blocks of the pipeline, with ports for their links.
#pragma once

#include <string>
#include <systemc>
#include <vector>

#include "model/common/check.h"
#include "model/common/clock_domain.h"
#include "model/common/part.h"

namespace rnic {

// A stage's end of a link (link.h). An unbound end at elaboration is a mistake.
class PortBase {
 public:
  virtual ~PortBase() = default;
  virtual bool bound() const = 0;
  const char* name() const { return name_; }

 protected:
  explicit PortBase(const char* name) : name_(name) {}

 private:
  const char* const name_;
};

// A block of the pipeline: an sc_module whose process is the domain's calendar. Clocked comes first, so that the
// calendar's calls need no adjustment of `this`.
class Stage : public Clocked, public Part, public sc_core::sc_module {
 public:
  Stage(sc_core::sc_module_name name, ClockDomain& clk) : sc_module(name), clk_(clk), index_(clk.add(*this)) {}

  // A stage that is not part of a chip need not implement it.
  void reset() override { RNIC_CHECK_MSG(false, std::string(name()) + " cannot be reset"); }

  // For the report of a hanging run: what the stage waits for, empty when it is at rest.
  virtual std::string waiting_for() const { return {}; }

  ClockDomain& clock() const { return clk_; }
  void wake(Cycle at) { clk_.wake(index_, at); }
  void add(const PortBase& port) { ports_.push_back(&port); }

  // From now on `other`, which outlives the simulation, is called instead of this stage: a Verilated twin. It uses the
  // stage's ports, cycle by cycle.
  void be_replaced(Clocked& other) {
    clk_.clocked_[index_] = &other;
    in_order_ = true;
  }
  // The stage moves no beats of future cycles, even if its class can.
  bool in_order() const { return in_order_; }

  // The last cycle in which a stage that runs ahead may move beats.
  Cycle horizon() const { return clk_.runs_ahead() && !in_order_ ? kNever - 1 : now(); }

 protected:
  Cycle now() const { return clk_.now(); }

 private:
  friend class ClockDomain;
  void end_of_elaboration() override;

  ClockDomain& clk_;
  const unsigned index_;
  bool in_order_ = false;
  std::vector<const PortBase*> ports_;
};

}  // namespace rnic

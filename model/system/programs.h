// The programs of a system: what is done, when it is done, and what is said of it. The driver of a run (run.h) moves
// every system through time and writes its outputs in the same way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/stats/registry.h"
#include "model/world/world.h"

namespace rnic {

namespace workload {
struct WorkResult;
}

enum class RunEnd { kDone, kFailed, kHung, kPeerGone, kTimeLimit, kInterrupted };

class Programs {
 public:
  virtual ~Programs() = default;
  Programs() = default;
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  // Time. The kernel is entered once per step: then waveforms, the share of busy time, and requests to stop the run are
  // checked. The state of the run is checked once per slice, of which a step is a part.
  struct Pace {
    std::uint64_t slice_ps = 50'000'000, step_ps = 1'000'000;
  };
  virtual Pace pace() const { return {}; }
  virtual void advance(World& world, std::uint64_t until_ps);
  virtual void end_slice() {}
  // Another run of it would be identical.
  virtual bool repeats() const { return true; }

  // Work.
  virtual bool done() const = 0;                       // nothing is left to do
  virtual bool lingers() const { return false; }       // it continues anyway
  virtual bool failed() const = 0;                     // continuing would gain nothing
  virtual bool peer_gone() const { return false; }     // a peer outside of the simulation has left
  virtual bool working() const = 0;                    // neither set-up nor teardown: what shares of busy time count
  virtual std::uint64_t progress() const = 0;          // changes with every piece of work done
  virtual std::uint64_t total() const { return 0; }    // of progress, or 0 if unknown
  virtual RunEnd conclude(RunEnd end) { return end; }  // the run is over
  virtual bool passed() const { return true; }         // all checks, after a run that is done

  // The current part of the work, while working(): what limits a run is found for each part.
  virtual unsigned phase() const { return 0; }
  virtual std::string phase_name(unsigned) const { return "work"; }

  // The work that a program's requests are for, as host::Core::work() numbers it; "" if unknown.
  virtual std::string work_name(std::uint32_t) const { return {}; }
  // Whether its latency is half a round trip.
  virtual bool is_ping_pong(std::uint32_t) const { return false; }

  // How programs are judged that made no progress for that long, or where no event is left that could bring any. By
  // default the run hangs after watchdog_ps without progress, unless that is 0.
  enum class Stall { kWait, kResolved, kHung };
  virtual Stall stall(std::uint64_t idle_ps, bool dead, std::uint64_t watchdog_ps);

  // Results count from now on.
  virtual void restart_results(std::uint64_t /*now_ps*/) {}

  // Reports.
  virtual std::vector<workload::WorkResult> results() const;  // of a workload; other programs have none
  virtual std::string notice() const { return {}; }           // for people, before the run
  virtual std::string table() const = 0;                      // what has been done, in lines
  virtual std::string verdicts() const { return {}; }         // checks, one line each
  virtual std::vector<std::string> errors() const = 0;
  virtual std::string waiting_for() const = 0;       // one line each
  virtual nlohmann::ordered_json about() const = 0;  // stats.json begins with it
  virtual void add_results(nlohmann::ordered_json& j) const = 0;
  virtual void register_stats(const StatsGroup&) const {}  // beside nodes and cable
};

}  // namespace rnic

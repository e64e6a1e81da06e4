// SystemVerilog twins in place of stages, or beside them. The chip does not know where they come from: the program
// brings them along (rtl-stubs), another project may bring its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/common/request_id.h"

namespace rnic {

class BufferPool;
class ContextTables;
class Rnic;
class Stage;
struct TerminateConfig;

enum class TwinMode {
  kReplace,  // the twin does the stage's work
  kLockstep  // both do, and the first difference between them ends the simulation by an exception
};

// A twin at work. It has to outlive the simulation.
class AttachedTwin {
 public:
  virtual ~AttachedTwin() = default;
  // For the report of a run that hangs, in a stage's place: what it waits for, empty when it is at rest. In lock-step
  // the stage says it.
  virtual std::string waiting_for() = 0;
  // What ended the simulation, for a reader: in lock-step, where stage and twin parted; always, what no RTL may do (a
  // failed assertion, a message without credit). Empty if nothing did.
  virtual std::string fault() const = 0;
  // Whose message it was; none where it was nobody's.
  virtual RequestId fault_of() const = 0;
  // In lock-step, a waveform of both sides in the cycles around it. False otherwise. ConfigError if the file cannot be
  // written.
  virtual bool write_window(const std::string& file) const = 0;
  // And of the twin's inside, where TwinSource::shows_inside() or its library was built so. False where not.
  virtual bool write_inside(const std::string& file) = 0;
  // Of the pins of a library's RTL. False for other twins.
  virtual bool write_pins(const std::string& file) const = 0;
};

// What twins use of the chip that their stages are in. nullptr where no twin that is asked for needs it.
struct TwinSurroundings {
  ContextTables* contexts = nullptr;
  BufferPool* frames = nullptr;
  const TerminateConfig* terminate = nullptr;
};

// A parameter of the module of a stage's twin, and its value in a chip with its settings.
struct TwinParameter {
  std::string name;     // as PipelineCycles
  std::string setting;  // as rnic.rx.crc_check.pipeline_cycles
  std::uint64_t value = 0;
  std::uint64_t set = 0;  // the setting's own value, which may be less than what the module has room for
};
using TwinParameters = std::vector<TwinParameter>;

// A stage, and the file of the library (rtl-stubs/loaded/rnic_rtl.h) that has RTL for it; without one, the project's
// twin.
struct TwinChoice {
  std::string stage, library;
};

// Makes twins by the names of their stages.
class TwinSource {
 public:
  using Handle = std::unique_ptr<AttachedTwin>;
  // False if twins come from libraries alone, which are built when a run needs them.
  virtual bool is_built_in() const = 0;
  virtual std::vector<std::string> names() const = 0;  // of the stages that it has twins for
  // `stage` is bound, and of the class that has this name in a chip.
  virtual Handle make(const std::string& name, Stage& stage, const TwinSurroundings& chip, TwinMode mode) const = 0;
  // The same by a library. ConfigError that names what does not fit: it is none, has other ports or other parameters.
  virtual Handle load(const TwinChoice& twin, const TwinParameters& parameters, Stage& stage,
                      const TwinSurroundings& chip, TwinMode mode) const = 0;
  // The file of a library of the project's twin with these parameters, built if need be. ConfigError where it cannot
  // be.
  virtual std::string library_of(const std::string& name, const TwinParameters& parameters) const = 0;
  // Twins in lock-step keep what their signals were in the last cycles, which makes them slower.
  virtual bool shows_inside() const = 0;

 protected:
  ~TwinSource() = default;
};

// The stages that a command line names: "all", or names separated by commas, each once; "-name" leaves one out of those
// before it, and "name=file" takes the RTL of this library. ConfigError for an unknown one.
std::vector<TwinChoice> twin_names(const std::string& list, const TwinSource& source);
// The same of `all`, without libraries; `what` they have: "a twin".
std::vector<std::string> stage_names(const std::string& list, const std::vector<std::string>& all, const char* what);

// For stages of one chip. Twins that are built in have the default widths and latencies; a chip with others gets them
// from libraries. ConfigError that names the setting where the RTL has no parameter for it.
std::vector<TwinSource::Handle> make_twins(Rnic& chip, const std::vector<TwinChoice>& twins, const TwinSource& source,
                                           TwinMode mode);

}  // namespace rnic

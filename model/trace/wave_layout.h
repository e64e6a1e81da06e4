// The initial layout of a waveform in a viewer: the variables that changed, in groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/wave_sink.h"

namespace rnic {

struct LaidOut {
  WaveVariable variable;
  bool moves = false;   // changes in the file
  bool is_set = false;  // is not zero at the end of the file
};

// Orders the variables of a file: first state and hosts, a group for each scope in use. Then the links on which beats
// move, grouped by part of the chip, with the fields that identify the message.
class WaveLayout {
 public:
  // A viewer shows the whole time, and a marker at `marked_ps`.
  WaveLayout(const std::vector<LaidOut>& variables, std::uint64_t from_ps, std::uint64_t to_ps,
             std::optional<std::uint64_t> marked_ps);

  // A save file for GTKWave, for the waveform of that name, and a command file for Surfer.
  std::string gtkwave(const std::string& wave_file) const;
  std::string surfer() const;

  // "w.fst" has the layouts "w.gtkw" and "w.sucl".
  static std::string gtkwave_name(const std::string& wave_file);
  static std::string surfer_name(const std::string& wave_file);

 private:
  struct Group {
    std::string name;
    bool open = true;
    std::vector<WaveVariable> variables;
  };
  void add(const std::string& name, bool open, const std::vector<const LaidOut*>& variables);

  const std::uint64_t from_ps_, to_ps_;
  const std::optional<std::uint64_t> marked_ps_;
  std::vector<Group> groups_;
};

}  // namespace rnic

// What a viewer shows of a waveform at first: where something moved in it, in groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/wave_sink.h"

namespace rnic {

struct LaidOut {
  WaveVariable variable;
  bool moves = false;   // it changes in the file
  bool is_set = false;  // and is not zero at its end
};

// The variables of a file in its order: state and hosts first, each scope in use a group; then the links on which beats
// move, by the part of the chip that they belong to, with those of their fields that say what moves.
class WaveLayout {
 public:
  // A viewer shows all of it, and a marker at `marked_ps`.
  WaveLayout(const std::vector<LaidOut>& variables, std::uint64_t from_ps, std::uint64_t to_ps,
             std::optional<std::uint64_t> marked_ps);

  // A save file of GTKWave, for the waveform of that name; and a command file of Surfer.
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

#include "rtl-stubs/verilated/window.h"

#include <algorithm>
#include <memory>

#include "model/trace/waves.h"

namespace rnic::rtl {
namespace {

// A variable of the wave file: one signal, or the octets of an array.
struct Variable {
  std::string scope, name;  // below the side's scope
  std::size_t first;        // index of the first signal
  std::size_t octets;       // 0: a number
  unsigned width;
};

bool is_element(const std::string& name) { return name.back() == ']'; }
std::string array_of(const std::string& element) { return element.substr(0, element.rfind('[')); }

std::vector<Variable> variables_of(const std::vector<Signal>& signals) {
  std::vector<Variable> variables;
  for (std::size_t i = 0; i < signals.size();) {
    std::string name = signals[i].name;
    std::size_t count = 1;
    const bool array = is_element(name);
    if (array) {
      name = array_of(name);
      while (i + count < signals.size() && is_element(signals[i + count].name) &&
             array_of(signals[i + count].name) == name) {
        ++count;
      }
    }
    const std::size_t dot = name.rfind('.');
    const std::string scope = dot == std::string::npos ? "" : "." + name.substr(0, dot);
    variables.push_back({scope, name.substr(dot + 1), i, array ? count : 0,
                         array ? static_cast<unsigned>(8 * count) : signals[i].width});
    i += count;
  }
  return variables;
}

// One side's variables.
class Drawing {
 public:
  Drawing(Waves& waves, const std::string& side, const std::vector<Variable>& variables)
      : waves_(waves), variables_(variables) {
    for (const Variable& v : variables) ids_.push_back(waves.declare(side + v.scope, v.name, v.width));
  }
  void draw(std::uint64_t ps, const std::vector<std::uint64_t>& values) const {
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      const Variable& v = variables_[i];
      if (v.octets == 0) {
        waves_.change(ids_[i], ps, values[v.first]);
        continue;
      }
      std::vector<std::uint8_t> octets(v.octets);  // the last one is the most significant
      for (std::size_t n = 0; n < v.octets; ++n) {
        octets[v.octets - 1 - n] = static_cast<std::uint8_t>(values[v.first + n]);
      }
      waves_.change(ids_[i], ps, octets);
    }
  }

 private:
  Waves& waves_;
  const std::vector<Variable>& variables_;
  std::vector<WaveId> ids_;
};

}  // namespace

void Window::record(const Sides& sides) {
  if (rows_.size() < kCycles) {
    rows_.push_back({sides.now(), sides.stage(), sides.twin()});
    return;
  }
  Row& row = rows_[oldest_];  // its memory is reused
  row.cycle = sides.now();
  row.stage = sides.stage();
  row.twin = sides.twin();
  oldest_ = (oldest_ + 1) % kCycles;
}

void Window::write(const Sides& sides, const std::string& file) const {
  const std::uint64_t period = sides.period_ps();
  const std::vector<Variable> variables = variables_of(sides.signals());
  Waves waves(open_wave_sink(file), {});
  const std::string top = sides.instance();
  const WaveId differs = waves.declare(top, "differs", 1);
  const WaveId cycle = waves.declare(top, "cycle", 64);
  const WaveId evaluated = waves.declare(top, "evaluated", 1);
  const Drawing stage(waves, top + ".stage", variables), twin(waves, top + ".twin", variables);
  waves.begin();
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[(oldest_ + i) % rows_.size()];
    const std::uint64_t ps = row.cycle * period;
    if (i != 0 && ps != end) waves.change(evaluated, end, 0);
    waves.change(differs, ps, row.stage != row.twin);
    waves.change(cycle, ps, row.cycle);
    waves.change(evaluated, ps, 1);
    stage.draw(ps, row.stage);
    twin.draw(ps, row.twin);
    end = ps + period;
  }
  waves.close(end);
}

}  // namespace rnic::rtl

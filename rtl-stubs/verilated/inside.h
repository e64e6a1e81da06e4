// The signals inside a Verilated block in its last cycles, in the program that is built to show them
// (rnicsim_rtl_trace).
#pragma once

#include <cstdint>
#include <string>

#include "model/trace/output_file.h"
#include "rtl-stubs/verilated/verilated_with_systemc.h"

#if VM_TRACE
#include <verilated_vcd_c.h>
#endif

namespace rnic::rtl {

#if VM_TRACE

inline constexpr bool kShowsInside = true;

// Verilator reports changes from cycle to cycle. So cycles can be dropped at the front only as a whole stretch that
// begins with all values. The last complete stretch is kept beside the growing one.
template <class Model>
class Inside {
 public:
  static constexpr unsigned kCycles = 256;  // of a stretch; at least this many are shown

  Inside(VerilatedContext& context, Model& model) {
    context.traceEverOn(true);
    context.timeunit(-12);
    context.timeprecision(-12);
    model.trace(&writer_, kAllLevels);
    writer_.open("");
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  // The values before the edge.
  void record(std::uint64_t ps) {
    if (cycles_++ == kCycles) {
      writer_.close();
      before_ = std::move(stretch_.text);
      stretch_.text.clear();
      writer_.open("");
      cycles_ = 1;
    }
    writer_.dump(static_cast<vluint64_t>(ps));
  }
  // Both stretches have the same declarations.
  bool write(const std::string& file) {
    constexpr std::string_view kEnd = "$enddefinitions $end\n";
    writer_.flush();
    const std::size_t body = stretch_.text.find(kEnd);
    write_file(file, before_.empty() ? stretch_.text : before_ + stretch_.text.substr(body + kEnd.size()));
    return true;
  }
  bool write_pins(const std::string&, const std::string&) const { return false; }

 private:
  static constexpr int kAllLevels = 99;
  struct Stretch final : VerilatedVcdFile {
    std::string text;
    bool open(const std::string&) override { return true; }
    void close() override {}
    ssize_t write(const char* octets, ssize_t bytes) override {
      text.append(octets, static_cast<std::size_t>(bytes));
      return bytes;
    }
  };
  Stretch stretch_;
  VerilatedVcdC writer_{&stretch_};
  std::string before_;
  unsigned cycles_ = 0;
};

#else

inline constexpr bool kShowsInside = false;

template <class Model>
class Inside {
 public:
  Inside(VerilatedContext&, Model&) {}
  void record(std::uint64_t) {}
  bool write(const std::string&) const { return false; }
  bool write_pins(const std::string&, const std::string&) const { return false; }
};

#endif

}  // namespace rnic::rtl

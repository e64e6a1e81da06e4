// Verilator's class behind the table of rnic_rtl.h. scripts/rtl_library.py compiles it with the ports of one block.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <memory>
#include <new>
#include <string>

#include <verilated.h>

#include "rnic_rtl.h"

#if VM_TRACE
#include <verilated_vcd_c.h>
#endif

namespace rnic_rtl_export {

// Text that comes while an instance is evaluated is its own.
inline thread_local std::string* said = nullptr;

template <class V>
class Instance {
 public:
  Instance() {
    context_.threads(1);
    context_.assertOn(true);
    context_.fatalOnError(false);  // failed() reports it
    context_.traceEverOn(VM_TRACE != 0);
    model_ = std::make_unique<V>(&context_, "");
#if VM_TRACE
    model_->trace(&writer_, 99);
    writer_.open("");
#endif
  }
  ~Instance() {
    Verilated::threadContextp(&context_);
    model_->final();
  }
  V& model() { return *model_; }
  void eval() {
    Verilated::threadContextp(&context_);
    said = &text_;
    model_->eval();
    said = nullptr;
  }
  const char* failed() {
    if (!context_.gotError()) return nullptr;
    if (text_.empty()) text_ = "an assertion of its RTL failed";
    return text_.c_str();
  }
  std::int32_t dump(std::uint64_t ps, const char* file);

 private:
  VerilatedContext context_;
  std::unique_ptr<V> model_;
  std::string text_;
#if VM_TRACE
  // A stretch begins with all values; the last complete one is kept beside the growing one.
  struct Stretch final : VerilatedVcdFile {
    std::string text;
    bool open(const std::string&) override { return true; }
    void close() override {}
    ssize_t write(const char* octets, ssize_t bytes) override {
      text.append(octets, static_cast<std::size_t>(bytes));
      return bytes;
    }
  };
  static constexpr unsigned kCycles = 256;
  Stretch stretch_;
  VerilatedVcdC writer_{&stretch_};
  std::string before_;
  unsigned cycles_ = 0;
#endif
};

#if VM_TRACE
template <class V>
std::int32_t Instance<V>::dump(std::uint64_t ps, const char* file) {
  if (file == nullptr) {
    if (cycles_++ == kCycles) {
      writer_.close();
      before_ = std::move(stretch_.text);
      stretch_.text.clear();
      writer_.open("");
      cycles_ = 1;
    }
    writer_.dump(ps);
    return 0;
  }
  writer_.flush();
  const std::string end = "$enddefinitions $end\n";
  const std::string all =
      before_.empty() ? stretch_.text : before_ + stretch_.text.substr(stretch_.text.find(end) + end.size());
  std::FILE* const out = std::fopen(file, "w");
  if (out == nullptr) return -1;
  const bool written = std::fwrite(all.data(), 1, all.size(), out) == all.size();
  return std::fclose(out) == 0 && written ? 0 : -1;
}
#else
template <class V>
std::int32_t Instance<V>::dump(std::uint64_t, const char*) {
  return -1;
}
#endif

// `AddressOf` gives the memory of the port with a number.
template <class V, void* (*AddressOf)(V&, std::uint32_t)>
constexpr rnic_rtl table(const char* block, const char* parameters, const rnic_rtl_port* ports, std::uint32_t count) {
  using I = Instance<V>;
  return {sizeof(rnic_rtl),
          RNIC_RTL_ABI,
          block,
          parameters,
          ports,
          count,
          []() -> void* { return new (std::nothrow) I; },
          [](void* i, std::uint32_t port) { return AddressOf(static_cast<I*>(i)->model(), port); },
          [](void* i) { static_cast<I*>(i)->eval(); },
          [](void* i) { return static_cast<I*>(i)->failed(); },
          VM_TRACE != 0
              ? +[](void* i, std::uint64_t ps, const char* file) { return static_cast<I*>(i)->dump(ps, file); }
              : nullptr,
          [](void* i) { delete static_cast<I*>(i); }};
}

}  // namespace rnic_rtl_export

// An error is kept, as "crc_check.sv:88: Assertion failed in …"; anything else that RTL displays goes to standard
// output.
int rnic_rtl_print(const char* format, ...) {
  char line[1024];
  std::va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  const std::string text = line;
  const std::size_t error = text.find("%Error: ");
  if (error == std::string::npos || rnic_rtl_export::said == nullptr) {
    if (text.compare(0, 6, "-Info:") != 0) std::fputs(line, stdout);
    return length;
  }
  std::string& said = *rnic_rtl_export::said;
  if (said.empty()) said = text.substr(error + 8, text.find('\n', error) - error - 8);
  return length;
}

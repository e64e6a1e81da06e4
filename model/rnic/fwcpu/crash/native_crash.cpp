#include "model/rnic/fwcpu/crash/native_crash.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <pthread.h>

#include "model/rnic/fwcpu/crash/own_code.h"

namespace rnic {
namespace {

constexpr const char* kAdvice = "--set rnic.fwcpu.target=rv32 runs it in a memory of its own, and has a full dump";

std::string name_of(int signal) { return fmt::format("SIG{}", sigabbrev_np(signal)); }

// Below the stack of this thread, where no memory is mapped.
bool is_below_stack(const void* address) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  void* begin = nullptr;
  std::size_t bytes = 0;
  const bool known = pthread_attr_getstack(&attributes, &begin, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  constexpr std::uintptr_t kGap = 1 << 20, kRounding = 64 << 10;
  const auto low = reinterpret_cast<std::uintptr_t>(begin), at = reinterpret_cast<std::uintptr_t>(address);
  return known && at + kGap >= low && at < low + kRounding;
}

}  // namespace

FirmwareFault abandoned_fault(int signal, const std::string& where) {
  return {abi::FaultCause::kWatchdog,
          fmt::format("a handler does not end, and {} has ended it{}", name_of(signal), where), kAdvice};
}

FirmwareFault fault_of(const NativeCrash& crash, std::string& places) {
  const std::vector<const void*> frames(crash.frames.begin(), crash.frames.begin() + crash.frame_count);
  const std::vector<CodeName> names = code_names(frames);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].text.rfind("rnic::NativeGuard::", 0) == 0) break;  // the model called the handler
    places += (i == 0 ? "at   " : "  ") + names[i].text + '\n';
  }
  // A library only did what the firmware asked of it.
  auto where = std::find_if(names.begin(), names.end(), [](const CodeName& n) { return n.own; });
  if (where == names.end()) where = names.begin();
  const std::string in = names.empty() ? "" : fmt::format(", in {}", where->text);
  const std::string signal = name_of(crash.signal);
  switch (crash.signal) {
    case SIGSEGV:
    case SIGBUS:
      places = fmt::format("fault address {}\n", fmt::ptr(crash.address)) + places;
      if (is_below_stack(crash.address)) {
        return {abi::FaultCause::kStackOverflow, fmt::format("its stack has overflowed ({}){}", signal, in), kAdvice};
      }
      return {abi::FaultCause::kBusFault, fmt::format("{} at {}{}", signal, fmt::ptr(crash.address), in), kAdvice};
    case SIGILL:
      return {abi::FaultCause::kIllegalInstruction, fmt::format("an illegal instruction ({}){}", signal, in), kAdvice};
    case SIGFPE:
      return {abi::FaultCause::kPanic, fmt::format("a division by zero ({}){}", signal, in), kAdvice};
    case SIGABRT:
      return {abi::FaultCause::kPanic,
              fmt::format("an assertion failed, or an exception had no way out ({}){}", signal, in), kAdvice};
    default:
      return abandoned_fault(crash.signal, in);
  }
}

}  // namespace rnic

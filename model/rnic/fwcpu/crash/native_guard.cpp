#include "model/rnic/fwcpu/crash/native_guard.h"

#include <csetjmp>
#include <csignal>
#include <cstring>

#include <execinfo.h>
#include <unistd.h>
#include <unwind.h>

namespace rnic {

struct NativeGuard::Frame {
  sigjmp_buf back;
  Handler handler;
  std::uint64_t number;
  Frame* before;
  NativeCrash crash;
};

thread_local NativeGuard::Frame* NativeGuard::frame_ = nullptr;
bool NativeGuard::catches_ = false;

namespace {

// Where the program was when a signal came. As little as possible, and nothing on the heap: the program may be
// crashing.
struct Unwinding {
  NativeCrash& crash;
  bool interrupted = false;     // the frames of the signal's own handler are behind it
  const void* stack = nullptr;  // its top at that time
};

_Unwind_Reason_Code keep_frame(_Unwind_Context* context, void* to) {
  auto& unwinding = *static_cast<Unwinding*>(to);
  NativeCrash& crash = unwinding.crash;
  int is_interrupted = 0;
  const auto* const at = reinterpret_cast<const void*>(_Unwind_GetIPInfo(context, &is_interrupted));
  if (is_interrupted != 0 && !unwinding.interrupted) {
    unwinding.interrupted = true;
    unwinding.stack = reinterpret_cast<const void*>(_Unwind_GetCFA(context));
  }
  if (!unwinding.interrupted) return _URC_NO_REASON;
  if (at == nullptr && crash.frame_count != 0) return _URC_END_OF_STACK;
  crash.frames[crash.frame_count++] = at;
  return crash.frame_count < crash.frames.size() ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// A call to an address without code leaves nothing to unwind, but its return address is on the top of the stack.
void keep_frames(NativeCrash& crash) {
  Unwinding unwinding{crash};
  _Unwind_Backtrace(keep_frame, &unwinding);
  if (crash.frame_count == 1 && unwinding.stack != nullptr) {
    std::memcpy(&crash.frames[crash.frame_count++], unwinding.stack, sizeof(void*));
  }
}

void say(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;  // there is no one else to inform
}

constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

}  // namespace

// The part of the guard that a signal handler can reach.
struct NativeGuard::Signals {
  static void handle(int signal, const siginfo_t& info) {
    const bool by_the_kernel = info.si_code > 0;
    const bool from_outside = info.si_code == SI_USER;  // kill
    if (!from_outside && frame_ != nullptr && inside_) leave(signal, by_the_kernel ? info.si_addr : nullptr);
    std::signal(signal, SIG_DFL);
    if (!from_outside) tell(signal);
    if (!from_outside && stranger_ != nullptr) _exit(1);
    if (!by_the_kernel) raise(signal);  // or the cause repeats it
  }

  static void tell(int signal) {
    say("rnicsim: SIG");
    say(sigabbrev_np(signal));
    if (frame_ == nullptr) {
      say(" in no handler of firmware");
    } else {
      say(" in what the firmware of ");
      say(frame_->handler.processor);
      say(" asked for in its handler of ");
      say(frame_->handler.event);
    }
    if (stranger_ != nullptr) {
      say(": the RTL of ");
      say(stranger_);
      say(" is in the process; its code, or what it gave to the chip, may be wrong");
    } else {
      say(": a bug of rnicsim");
    }
    say("; addr2line -Cfie names these places:\n");
    NativeCrash crash;
    keep_frames(crash);
    backtrace_symbols_fd(const_cast<void* const*>(crash.frames.data()), static_cast<int>(crash.frame_count),
                         STDERR_FILENO);
  }
};

namespace {

extern "C" void on_crash(int signal, siginfo_t* info, void*) { NativeGuard::Signals::handle(signal, *info); }

}  // namespace

void NativeGuard::catch_crashes() {
  struct sigaction action {};
  if (catches_ || sigaction(SIGSEGV, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return;
  // A stack that has overflowed has no room for a handler.
  alignas(16) static char stack[64 << 10];
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  if (sigaltstack(&other, nullptr) != 0) return;
  NativeCrash none;
  keep_frames(none);  // loads what it needs
  action = {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  catches_ = true;
  for (const int signal : kCrashes) catches_ = sigaction(signal, &action, nullptr) == 0 && catches_;
}

std::uint64_t NativeGuard::running() { return frame_ == nullptr ? 0 : frame_->number; }

bool NativeGuard::abandon(std::uint64_t handler, int signal) {
  if (frame_ == nullptr || frame_->number != handler) return false;
  if (inside_) leave(signal, nullptr);
  abandoned_ = signal;
  return true;
}

// A second time for one frame is a fault of the unwinder: there is no code, or the stack is damaged.
void NativeGuard::leave(int signal, const void* address) {
  NativeCrash& crash = frame_->crash;
  if (crash.signal == 0) {
    crash.signal = signal;
    crash.address = address;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    keep_frames(crash);
  } else if (crash.frame_count == 0) {
    crash.frames[crash.frame_count++] = crash.address;
  }
  siglongjmp(frame_->back, 1);
}

std::optional<NativeCrash> NativeGuard::run(const Handler& handler, void (*f)(void*), void* argument) {
  static std::atomic<std::uint64_t> count{0};
  Frame frame;
  frame.handler = handler;
  frame.number = count.fetch_add(1, std::memory_order_relaxed) + 1;
  frame.before = frame_;
  // Without the signal mask, which is a system call; no handler that leaves has its signal blocked.
  if (sigsetjmp(frame.back, 0) == 0) {
    enter(frame, f, argument);
    return std::nullopt;
  }
  left(frame);
  return frame.crash;
}

void NativeGuard::left(const Frame& frame) {
  inside_ = false;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  frame_ = frame.before;
}

// Apart from run(): what jumps back there must not jump over objects of its own.
void NativeGuard::enter(Frame& frame, void (*f)(void*), void* argument) {
  struct Inside {
    explicit Inside(Frame& f) : frame(f) {
      abandoned_ = 0;
      frame_ = &f;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      inside_ = true;
    }
    ~Inside() { left(frame); }
    Frame& frame;
  } inside(frame);
  f(argument);
}

}  // namespace rnic

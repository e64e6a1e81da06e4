// Native firmware runs in the process of the model, so its errors are signals of the process. This class ends the
// handler of its event instead, if the signal came from the firmware's own code. See crash.md.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace rnic {

// How a handler of native firmware was left.
struct NativeCrash {
  static constexpr std::size_t kMostFrames = 24;
  int signal = 0;
  const void* address = nullptr;  // of a signal about memory
  // Where it was, and return addresses of its callers, the innermost first.
  std::array<const void*, kMostFrames> frames{};
  std::size_t frame_count = 0;
};

class NativeGuard {
 public:
  // What runs: for the message of a crash that ends the program.
  struct Handler {
    const char* processor;
    const char* event;
  };

  // From now on a fault of native firmware ends its handler (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT). Anywhere else
  // it ends the program as before, with a message. Does nothing if SIGSEGV already has a handler, as with sanitizers.
  static void catch_crashes();
  static bool catches_crashes() { return catches_; }

  // Calls f(). Returns how it was left, if it did not return: then none of its destructors has run.
  template <class F>
  static std::optional<NativeCrash> run(const Handler& handler, F f) {
    return run(
        handler, [](void* function) { (*static_cast<F*>(function))(); }, &f);
  }

  // The firmware has called the model, which must not be left in the middle.
  class Outside {
   public:
    Outside() : was_inside_(inside_) { set(false); }
    ~Outside() { set(was_inside_); }
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

   private:
    static void set(bool inside) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
      inside_ = inside;
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    const bool was_inside_;
  };

  // For the handler of another signal, in the thread that runs the firmware: the number of the running firmware
  // handler, or 0. Each has its own number.
  static std::uint64_t running();
  // Ends this handler if it runs. If it is in the firmware's own code, the call does not return, so the signal must not
  // be blocked meanwhile (SA_NODEFER); if it has called the model, its next call throws. False if it does not run.
  static bool abandon(std::uint64_t handler, int signal);
  // The signal for which the running handler must end, or 0.
  static int abandoned() { return abandoned_; }

  // Code that is not the project's runs in this process from now on; `name` is used until another one, or null, is
  // given. A crash then ends the process with exit code 1.
  static void with_stranger(const char* name) { stranger_.store(name, std::memory_order_relaxed); }

  struct Signals;  // of its own source

 private:
  struct Frame;
  static std::optional<NativeCrash> run(const Handler& handler, void (*f)(void*), void* argument);
  [[gnu::noinline]] static void enter(Frame& frame, void (*f)(void*), void* argument);
  static void left(const Frame& frame);
  [[noreturn]] static void leave(int signal, const void* address);

  // A signal handler can only reach static data. Each thread has its own firmware.
  static inline thread_local volatile bool inside_ = false;
  static inline thread_local volatile int abandoned_ = 0;
  static thread_local Frame* frame_;
  static bool catches_;
  static inline std::atomic<const char*> stranger_ = nullptr;
};

}  // namespace rnic

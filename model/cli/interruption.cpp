#include "model/cli/interruption.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <iterator>

#include <unistd.h>

#include "model/rnic/fwcpu/crash/native_guard.h"

namespace rnic::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// A firmware handler takes less than a millisecond.
constexpr unsigned kPatienceS = 2;

// A signal handler can only reach static data.
volatile std::sig_atomic_t first_signal = 0, caught[std::size(kSignals)] = {};
std::atomic<std::uint64_t> seen_handler{0};  // of native firmware, at the last signal

extern "C" void keep_signal(int number) {
  if (first_signal == 0) {
    first_signal = number;
    seen_handler = NativeGuard::running();
    alarm(kPatienceS);
    return;
  }
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (caught[i]) std::signal(kSignals[i], SIG_DFL);
  }
  if (!NativeGuard::abandon(seen_handler, first_signal)) std::raise(number);
}

extern "C" void look_again(int) {
  alarm(kPatienceS);
  if (!NativeGuard::abandon(seen_handler, first_signal)) seen_handler = NativeGuard::running();
}

}  // namespace

void catch_interruptions() {
  std::signal(SIGXFSZ, SIG_IGN);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction action {};
    if (sigaction(kSignals[i], nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action.sa_handler = keep_signal;
    action.sa_flags = SA_NODEFER;  // no SA_RESTART: signals interrupt any system call
    sigemptyset(&action.sa_mask);
    caught[i] = sigaction(kSignals[i], &action, nullptr) == 0;
  }
  struct sigaction action {};
  action.sa_handler = look_again;
  action.sa_flags = SA_NODEFER | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGALRM, &action, nullptr);
}

int interruption() { return first_signal; }

const char* interruption_name() {
  switch (first_signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "no signal";
  }
}

}  // namespace rnic::cli

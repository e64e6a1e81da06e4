#include "model/cli/interruption.h"

#include <csignal>
#include <iterator>

namespace rnic::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// A signal handler reaches nothing but what is static.
volatile std::sig_atomic_t first_signal = 0, caught[std::size(kSignals)] = {};

extern "C" void keep_signal(int number) {
  first_signal = number;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (caught[i]) std::signal(kSignals[i], SIG_DFL);
  }
}

}  // namespace

void catch_interruptions() {
  std::signal(SIGXFSZ, SIG_IGN);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction action {};
    if (sigaction(kSignals[i], nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action.sa_handler = keep_signal;
    action.sa_flags = 0;  // whoever waits in the system is woken
    sigemptyset(&action.sa_mask);
    caught[i] = sigaction(kSignals[i], &action, nullptr) == 0;
  }
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

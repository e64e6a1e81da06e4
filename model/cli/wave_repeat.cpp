#include "model/cli/wave_repeat.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/common/check.h"

namespace rnic::cli {
namespace {

constexpr char kWritten = '+', kFailed = '-';  // first character of an answer; a reason follows kFailed

[[noreturn]] void fail() {
  throw OutputError(std::string("--wave-on, --wave-ring: no second process: ") + std::strerror(errno));
}

}  // namespace

WaveRepeat::WaveRepeat(const Repeat& repeat) {
  std::array<int, 2> orders, answers;
  if (pipe(orders.data()) != 0) fail();
  if (pipe(answers.data()) != 0) fail();
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  process_ = fork();
  if (process_ < 0) fail();
  if (process_ == 0) {
    close(orders[1]);
    close(answers[0]);
    serve(repeat, orders[0], answers[1]);
  }
  close(orders[0]);
  close(answers[1]);
  orders_ = orders[1];
  answers_ = answers[0];
}

// Terminal signals are for the first process, which ends this one explicitly or by its own death.
void WaveRepeat::serve(const Repeat& repeat, int orders, int answers) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  Moment moment{};
  ssize_t got;
  do {
    got = read(orders, &moment, sizeof moment);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof moment) _exit(0);
  std::string why;
  try {
    why = repeat(moment);
  } catch (const std::exception& error) {
    why = error.what();
  }
  const std::string answer = why.empty() ? std::string(1, kWritten) : kFailed + why;
  const bool told = write(answers, answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
  _exit(told ? 0 : 1);  // the first process closes what was open before
}

WaveRepeat::~WaveRepeat() { end(); }

void WaveRepeat::end() {
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
  close(orders_);
  close(answers_);
}

void WaveRepeat::begin(const Moment& moment) {
  RNIC_CHECK(!begun_);
  begun_ = true;
  const auto ignored = std::signal(SIGPIPE, SIG_IGN);  // finish() reports if the process has ended
  [[maybe_unused]] const ssize_t written = write(orders_, &moment, sizeof moment);
  std::signal(SIGPIPE, ignored);
}

std::string WaveRepeat::finish(const std::function<bool()>& stopped) {
  RNIC_CHECK(begun_);
  constexpr int kLookEveryMs = 100;
  std::string answer;
  for (;;) {
    if (stopped && stopped()) {
      end();
      return "stopped before it was written";
    }
    pollfd look{answers_, POLLIN, 0};
    if (poll(&look, 1, kLookEveryMs) <= 0) continue;
    std::array<char, 4096> piece;
    const ssize_t got = read(answers_, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    answer.append(piece.data(), static_cast<std::size_t>(got));
  }
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = -1;
  close(orders_);
  close(answers_);
  if (answer.empty()) {
    return WIFSIGNALED(status)
               ? fmt::format("the process that was to write it was ended by signal {}", WTERMSIG(status))
               : "the process that was to write it has ended";
  }
  return answer[0] == kWritten ? "" : answer.substr(1);
}

}  // namespace rnic::cli

// A bug of ours stops the run at once, in every build (exit code 4); user errors and peer errors are other types.
#pragma once

#include <stdexcept>
#include <string>

namespace rnic {

// Checks that cost too much otherwise, of rules that no result depends on.
#ifdef RNIC_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Thrown by RNIC_CHECK; only the program's main catches it.
struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

// A mistake in a scenario, a configuration or a command line; what() names the path and the reason (exit code 2).
struct ConfigError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// An output that could not be written, for example because the disk is full; what() names the file and the reason (exit
// code 5).
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Cold and out of line, so that a check costs its caller only a compare. A check in a hot path passes its detail in two
// parts: a text that the caller builds costs it a stack frame, even while nothing fails.
[[noreturn, gnu::cold, gnu::noinline]] inline void fail_check(const char* expr, const char* file, int line,
                                                              const std::string& detail) {
  std::string text = std::string("internal error: ") + expr + " does not hold at " + file + ":" + std::to_string(line);
  if (!detail.empty()) text += ": " + detail;
  throw InternalError(text);
}
[[noreturn, gnu::cold, gnu::noinline]] inline void fail_check(const char* expr, const char* file, int line,
                                                              const char* where = "", const char* what = "") {
  fail_check(expr, file, line, std::string(where) + what);
}
[[noreturn, gnu::cold, gnu::noinline]] inline void fail_check(const char* expr, const char* file, int line,
                                                              const std::string& where, const char* what) {
  fail_check(expr, file, line, where + what);
}

}  // namespace rnic

#define RNIC_CHECK(expr) ((expr) ? void() : ::rnic::fail_check(#expr, __FILE__, __LINE__))
#define RNIC_CHECK_MSG(expr, ...) ((expr) ? void() : ::rnic::fail_check(#expr, __FILE__, __LINE__, __VA_ARGS__))

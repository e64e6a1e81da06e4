#include "model/external/wall_clock.h"

#include <chrono>
#include <ctime>

#include <poll.h>

namespace rnic::external {
namespace {

class SteadyWallClock final : public WallClock {
 public:
  std::uint64_t now_ps() override {
    const auto since = std::chrono::steady_clock::now() - begin_;
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()) * 1000;
  }
  void wait(int descriptor, std::uint64_t ps) override {
    pollfd fd{descriptor, POLLIN, 0};
    const std::uint64_t ns = ps / 1000;
    const timespec timeout{static_cast<std::time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    ::ppoll(&fd, descriptor < 0 ? 0 : 1, &timeout, nullptr);
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

std::unique_ptr<WallClock> steady_wall_clock() { return std::make_unique<SteadyWallClock>(); }

}  // namespace rnic::external

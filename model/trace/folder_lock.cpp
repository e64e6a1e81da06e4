#include "model/trace/folder_lock.h"

#include <cerrno>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "model/common/check.h"

namespace rnic {
namespace {

constexpr std::chrono::milliseconds kMoment{1000}, kBetween{20};

bool is_taken(int descriptor, int how) {
  while (flock(descriptor, how | LOCK_NB) != 0) {
    if (errno != EINTR) return errno == EWOULDBLOCK;
  }
  return false;
}

}  // namespace

FolderLock::FolderLock(const std::string& folder, Kind kind)
    : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) return;  // whoever writes there says why that cannot be
  const int how = kind == Kind::kAlone ? LOCK_EX : LOCK_SH;
  const auto end = std::chrono::steady_clock::now() + kMoment;
  while (is_taken(descriptor_, how)) {
    if (std::chrono::steady_clock::now() >= end) {
      close(descriptor_);
      throw ConfigError(folder + ": another run writes into this folder");
    }
    std::this_thread::sleep_for(kBetween);
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace rnic

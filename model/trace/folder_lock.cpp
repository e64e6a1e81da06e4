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

void lock(int descriptor, int how, const std::string& refused) {
  if (descriptor < 0) return;  // the writer reports the reason
  const auto end = std::chrono::steady_clock::now() + kMoment;
  while (is_taken(descriptor, how)) {
    if (std::chrono::steady_clock::now() >= end) {
      close(descriptor);
      throw ConfigError(refused);
    }
    std::this_thread::sleep_for(kBetween);
  }
}

}  // namespace

FolderLock::FolderLock(const std::string& folder, Kind kind)
    : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  lock(descriptor_, kind == Kind::kAlone ? LOCK_EX : LOCK_SH, folder + ": another run writes into this folder");
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

FileLock::FileLock(const PendingFile& file)
    : descriptor_(file.is_renamed() ? open(file.name().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1) {
  lock(descriptor_, LOCK_EX, file.file() + ": another run writes this file");
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace rnic

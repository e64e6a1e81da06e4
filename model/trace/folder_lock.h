// Who writes into a folder, and into a file of its own outside of it.
#pragma once

#include <string>

#include "model/trace/pending_file.h"

namespace rnic {

// As long as it lives, nobody else writes into the folder: a run is there alone, the processes of a sweep share it. The
// lock is the system's, on the folder itself, and ends with the process; where the file system has none, there is none.
class FolderLock final {
 public:
  enum class Kind { kAlone, kShared };
  // ConfigError if somebody else has it. One who was killed may need a moment to end.
  FolderLock(const std::string& folder, Kind kind);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  const int descriptor_;
};

// The same for a file that two runs name, whatever their folders are. The lock is on what is written until the file is
// whole, which is created; nothing is locked of a pipe or a device.
class FileLock final {
 public:
  // ConfigError if somebody else has it. A file that cannot be created is left to who writes it.
  explicit FileLock(const PendingFile& file);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  const int descriptor_;
};

}  // namespace rnic

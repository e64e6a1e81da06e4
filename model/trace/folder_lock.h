// Locks on the output folder of a run, and on output files outside it.
#pragma once

#include <string>

#include "model/trace/pending_file.h"

namespace rnic {

// Keeps other writers out of the folder during its lifetime: a run has the folder alone, the processes of a sweep share
// it. It is a system lock on the folder and ends with the process; a file system without locks gives none.
class FolderLock final {
 public:
  enum class Kind { kAlone, kShared };
  // ConfigError if another process holds it. A killed process may take a moment to release it.
  FolderLock(const std::string& folder, Kind kind);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  const int descriptor_;
};

// The same for a file that runs in different folders may share. Creates and locks the ".part" file; does not lock a
// pipe or a device.
class FileLock final {
 public:
  // ConfigError if another process holds it. The writer reports a file that cannot be created.
  explicit FileLock(const PendingFile& file);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  const int descriptor_;
};

}  // namespace rnic

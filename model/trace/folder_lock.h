// Who writes into a folder.
#pragma once

#include <string>

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

}  // namespace rnic

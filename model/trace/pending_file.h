// The temporary name of a file until it is complete.
#pragma once

#include <string>

namespace rnic {

// A file is written as "<file>.part" in its folder and renamed when it is complete, so a file with its final name is
// complete. A pipe or a device is written in place.
class PendingFile {
 public:
  explicit PendingFile(std::string file);

  const std::string& file() const { return file_; }
  // Where to write.
  const std::string& name() const { return name_; }

  // False for a pipe or a device.
  bool is_renamed() const { return name_ != target_; }

  // Removes an earlier run's file.
  void remove_earlier() const noexcept;
  // The file is complete. Throws OutputError if it cannot be renamed.
  void commit() const;
  // The file stays incomplete: removes it and frees its disk space.
  void discard() const noexcept;

 private:
  const std::string file_;
  std::string target_;  // the file, or the target of a symbolic link
  std::string name_;
};

}  // namespace rnic

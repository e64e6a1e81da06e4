// The name that a file has until it is whole.
#pragma once

#include <string>

namespace rnic {

// A file is written as "<file>.part" beside where it belongs, and renamed when it is whole: what has its own name is
// complete. What is no regular file (a pipe, a device) is written in place.
class PendingFile {
 public:
  explicit PendingFile(std::string file);

  const std::string& file() const { return file_; }
  // Where to write.
  const std::string& name() const { return name_; }

  // Not a pipe or a device, which is written in place.
  bool is_renamed() const { return name_ != target_; }

  // Removes what an earlier run left under its name.
  void remove_earlier() const noexcept;
  // It is whole. Throws OutputError if it cannot be renamed.
  void commit() const;
  // It will never be: nothing is left, and its room on the disk is free again.
  void discard() const noexcept;

 private:
  const std::string file_;
  std::string target_;  // the file, or what it is a symbolic link to
  std::string name_;
};

}  // namespace rnic

#include "model/trace/pending_file.h"

#include <filesystem>

#include "model/common/check.h"

namespace rnic {

namespace fs = std::filesystem;

// The target of a symbolic link need not exist yet.
PendingFile::PendingFile(std::string file) : file_(std::move(file)), target_(file_), name_(file_) {
  std::error_code error;
  const fs::file_status there = fs::status(file_, error);
  if (fs::exists(there) && !fs::is_regular_file(there)) return;
  fs::path target = file_;
  constexpr unsigned kMostLinks = 40;
  for (unsigned n = 0; n < kMostLinks && fs::is_symlink(fs::symlink_status(target, error)); ++n) {
    target = target.parent_path() / fs::read_symlink(target, error);
  }
  target_ = target.string();
  name_ = target_ + ".part";
}

void PendingFile::remove_earlier() const noexcept {
  std::error_code none;
  if (is_renamed()) fs::remove(target_, none);
}

void PendingFile::commit() const {
  if (!is_renamed()) return;
  std::error_code error;
  fs::rename(name_, target_, error);
  if (!error) return;
  discard();
  throw OutputError(file_ + ": cannot be renamed from " + name_ + ": " + error.message());
}

void PendingFile::discard() const noexcept {
  std::error_code none;
  if (is_renamed()) fs::remove(name_, none);
}

}  // namespace rnic

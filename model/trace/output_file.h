// A file that is written in large pieces and does not lose errors.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "model/common/bytes.h"

namespace rnic {

class OutputFile {
 public:
  // Throws ConfigError if the file cannot be created.
  explicit OutputFile(std::string file);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // The first failure (disk full, for one) is kept for close(), which may throw where a simulation process must not.
  void write(ByteSpan bytes);
  void write(const std::string& text);

  // Throws ConfigError naming file and reason if anything could not be written. Without close() the file ends where
  // it ends, as after any other error.
  void close();

  const std::string& name() const { return name_; }

 private:
  void remember_failure();

  const std::string name_;
  const std::unique_ptr<char[]> buffer_;
  std::FILE* file_;
  int error_ = 0;  // errno of the first failure
};

}  // namespace rnic

// A file that is written in large pieces and does not lose errors.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "model/common/bytes.h"
#include "model/trace/pending_file.h"

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

  // Gives the file its name. If anything could not be written, removes it and throws OutputError naming file and
  // reason. Without close() what was written stays under the name of a PendingFile, as after any other error.
  void close();

  const std::string& name() const { return pending_.file(); }

 private:
  void remember_failure();

  const PendingFile pending_;
  const std::unique_ptr<char[]> buffer_;
  std::FILE* file_;
  int error_ = 0;  // errno of the first failure
};

// A whole file at once. Throws OutputError.
void write_file(const std::string& file, const std::string& text);

}  // namespace rnic

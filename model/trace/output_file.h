// A file that is written in large pieces and reports every error.
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

  // close() throws the first failure (disk full, for example), as a simulation process must not throw.
  void write(ByteSpan bytes);
  void write(const std::string& text);

  // Gives the file its final name. If anything could not be written, removes it and throws OutputError with file and
  // reason. Without close(), the data stays under the PendingFile's name, as after any other error.
  void close();

  const std::string& name() const { return pending_.file(); }

 private:
  void remember_failure();

  const PendingFile pending_;
  const std::unique_ptr<char[]> buffer_;
  std::FILE* file_;
  int error_ = 0;  // errno of the first failure
};

// Writes a file at once. Throws OutputError.
void write_file(const std::string& file, const std::string& text);

}  // namespace rnic

// The octets of a capture file, gzip-compressed or not.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/common/bytes.h"

struct gzFile_s;

namespace rnic::capture {

class CaptureOctets {
 public:
  // Throws ConfigError if the file cannot be opened.
  explicit CaptureOctets(const std::string& path);

  // Reads the next octets; fewer only at the end of the file or at damaged compressed data.
  std::size_t read(MutableByteSpan octets);
  // Why read() ended before the end of the file.
  std::string damage() const;
  // Offset of the next octet in the uncompressed data.
  std::uint64_t position() const { return position_; }

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };
  std::unique_ptr<gzFile_s, Close> file_;
  std::uint64_t position_ = 0;
};

}  // namespace rnic::capture

// A capture file from its first octet to its last, whether it is compressed by gzip or not.
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

  // The next ones; fewer only where the file ends, or where what is compressed is damaged.
  std::size_t read(MutableByteSpan octets);
  // read() came to an end that is not the file's: why.
  std::string damage() const;
  // Of the next octet, in what gzip makes of the file.
  std::uint64_t position() const { return position_; }

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };
  std::unique_ptr<gzFile_s, Close> file_;
  std::uint64_t position_ = 0;
};

}  // namespace rnic::capture

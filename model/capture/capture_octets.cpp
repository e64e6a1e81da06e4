#include "model/capture/capture_octets.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <zlib.h>

#include "model/common/check.h"

namespace rnic::capture {

void CaptureOctets::Close::operator()(gzFile_s* file) const { gzclose(file); }

// zlib reads an uncompressed file as it is.
CaptureOctets::CaptureOctets(const std::string& path) : file_(gzopen(path.c_str(), "rb")) {
  constexpr unsigned kBuffer = 1 << 17;
  if (!file_) throw ConfigError(path + ": cannot be opened: " + std::strerror(errno));
  gzbuffer(file_.get(), kBuffer);
}

std::size_t CaptureOctets::read(MutableByteSpan octets) {
  constexpr std::size_t kMost = 1 << 30;
  std::size_t done = 0;
  while (done < octets.size()) {
    const auto wanted = static_cast<unsigned>(std::min(octets.size() - done, kMost));
    const int got = gzread(file_.get(), octets.data() + done, wanted);
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  position_ += done;
  return done;
}

std::string CaptureOctets::damage() const {
  int error = Z_OK;
  gzerror(file_.get(), &error);
  if (error == Z_OK || error == Z_STREAM_END) return "";
  return error == Z_BUF_ERROR ? "truncated where it is compressed" : "it cannot be read, or not uncompressed";
}

}  // namespace rnic::capture

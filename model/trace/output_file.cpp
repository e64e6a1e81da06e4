#include "model/trace/output_file.h"

#include <cerrno>
#include <cstring>

#include "model/common/check.h"

namespace rnic {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

}  // namespace

OutputFile::OutputFile(std::string file)
    : pending_(std::move(file)), buffer_(new char[kBufferBytes]), file_(std::fopen(pending_.name().c_str(), "wb")) {
  if (file_ == nullptr) throw ConfigError(name() + ": cannot be created: " + std::strerror(errno));
  std::setvbuf(file_, buffer_.get(), _IOFBF, kBufferBytes);
}

OutputFile::~OutputFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void OutputFile::remember_failure() {
  if (error_ == 0) error_ = errno;
}

void OutputFile::write(ByteSpan bytes) {
  if (error_ != 0 || bytes.empty()) return;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) remember_failure();
}

void OutputFile::write(const std::string& text) {
  write(ByteSpan(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

void OutputFile::close() {
  if (file_ == nullptr) return;
  if (std::fflush(file_) != 0) remember_failure();
  if (std::fclose(file_) != 0) remember_failure();
  file_ = nullptr;
  if (error_ == 0) return pending_.commit();
  pending_.discard();
  throw OutputError(name() + ": cannot be written: " + std::strerror(error_));
}

void write_file(const std::string& file, const std::string& text) try {
  OutputFile out(file);
  out.write(text);
  out.close();
} catch (const ConfigError& error) {  // it cannot be created
  throw OutputError(error.what());
}

}  // namespace rnic

// Value change dump (IEEE 1364-2005 clause 18), in picoseconds.
#pragma once

#include "model/trace/output_file.h"
#include "model/trace/wave_sink.h"

namespace rnic {

class VcdSink final : public WaveSink {
 public:
  explicit VcdSink(const std::string& file) : out_(file) {}
  void declare(const std::vector<WaveVariable>& variables) override;
  void time(std::uint64_t ps) override;
  void value(std::size_t variable, std::string_view bits) override;
  void text(std::size_t variable, std::string_view text) override;
  void close() override { out_.close(); }

 private:
  OutputFile out_;
};

}  // namespace rnic

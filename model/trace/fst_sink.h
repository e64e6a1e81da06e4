// GTKWave's compressed waveform format, written by its library (fstapi), in picoseconds.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "model/trace/pending_file.h"
#include "model/trace/wave_sink.h"

namespace rnic {

class FstSink final : public WaveSink {
 public:
  explicit FstSink(const std::string& file);
  ~FstSink() override;
  FstSink(const FstSink&) = delete;
  FstSink& operator=(const FstSink&) = delete;

  void declare(const std::vector<WaveVariable>& variables) override;
  void time(std::uint64_t ps) override;
  void value(std::size_t variable, std::string_view bits) override;
  void text(std::size_t variable, std::string_view text) override;
  void close() override;

 private:
  std::uint32_t enumeration(const WaveVariable& variable);

  const PendingFile pending_;
  void* writer_;                                                                  // fstapi's context
  std::vector<std::uint32_t> handles_;                                            // fstapi's, by variable
  std::map<std::pair<const ValueWords*, unsigned>, std::uint32_t> enumerations_;  // by words and width
  std::uint64_t last_ps_ = 0;
};

}  // namespace rnic

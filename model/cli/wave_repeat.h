// The waveform of a moment that is not known in advance, without recording anything for it. A second process, created
// before the first picosecond, waits. Once the moment is known, it repeats the run identically and writes the waveform
// of that window.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <sys/types.h>

namespace rnic::cli {

class WaveRepeat final {
 public:
  struct Moment {
    std::uint64_t from_ps, to_ps;
    std::uint64_t marked_ps;  // the moment of interest
  };
  // The second process's work: repeats the run until `to_ps` or its end. Returns why there is no waveform, or an empty
  // text.
  using Repeat = std::function<std::string(const Moment& moment)>;
  // Call it before there are threads or open outputs. OutputError if there can be no second process.
  explicit WaveRepeat(const Repeat& repeat);
  // Ends the second process if it is not done.
  ~WaveRepeat();
  WaveRepeat(const WaveRepeat&) = delete;
  WaveRepeat& operator=(const WaveRepeat&) = delete;

  // Call it once. The second process then runs beside this one.
  void begin(const Moment& moment);
  bool begun() const { return begun_; }
  // Waits for it, or ends it when `stopped` returns true. Returns why there is no waveform, or an empty text.
  std::string finish(const std::function<bool()>& stopped);

 private:
  [[noreturn]] static void serve(const Repeat& repeat, int orders, int answers);
  void end();

  pid_t process_ = -1;
  int orders_ = -1, answers_ = -1;  // ends of pipes
  bool begun_ = false;
};

}  // namespace rnic::cli

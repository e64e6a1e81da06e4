// The waveform of a moment that is known only when it has come: nothing is recorded for it. A second process, made
// before the first picosecond, waits; when the moment is known it repeats the run, which is the same, and writes the
// waveform of that window.
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
    std::uint64_t marked_ps;  // what it is shown for
  };
  // What the second process does: repeats the run until `to_ps` or its end. Returns why there is no waveform, or
  // nothing.
  using Repeat = std::function<std::string(const Moment& moment)>;
  // To be called before anything has threads or open outputs. OutputError if there can be no second process.
  explicit WaveRepeat(const Repeat& repeat);
  // Ends the second process if it is not done.
  ~WaveRepeat();
  WaveRepeat(const WaveRepeat&) = delete;
  WaveRepeat& operator=(const WaveRepeat&) = delete;

  // Once. It works beside this process from now on.
  void begin(const Moment& moment);
  bool begun() const { return begun_; }
  // Waits for it. Returns why there is no waveform, or nothing; when `stopped` becomes true, it is ended.
  std::string finish(const std::function<bool()>& stopped);

 private:
  [[noreturn]] static void serve(const Repeat& repeat, int orders, int answers);
  void end();

  pid_t process_ = -1;
  int orders_ = -1, answers_ = -1;  // ends of pipes
  bool begun_ = false;
};

}  // namespace rnic::cli

// Every trace event as a line, in the order of time: what happened to whom, for a reader, a spreadsheet or a script.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/trace/event.h"
#include "model/trace/output_file.h"

namespace rnic {

// Columns are separated by tabs; the first line names them. Events of one picosecond are in an order of their own, so
// that two runs in which the same things happened leave the same file.
class TransactionLog final : public TraceSink {
 public:
  // `words` says what an event's values mean, in the last column; it may say nothing. `nodes` are those of a RequestId.
  // ConfigError if there can be no such file.
  using Words = std::function<std::string(const TraceEvent&)>;
  TransactionLog(const std::string& file, Words words, std::vector<std::string> nodes);

  void event(const TraceDomain& domain, const TraceEvent& event) override;
  // No event before this time will come any more; one that does is a bug.
  void advance(std::uint64_t ps);
  // OutputError if not all could be written.
  void close();

 private:
  struct Line {
    std::uint64_t ps;
    const TraceDomain* domain;
    TraceEvent event;
  };
  static bool before(const Line& a, const Line& b);
  void write(const Line& line);

  OutputFile file_;
  const Words words_;
  const std::vector<std::string> nodes_;
  std::vector<Line> waiting_;
  std::uint64_t written_until_ = 0;
};

}  // namespace rnic

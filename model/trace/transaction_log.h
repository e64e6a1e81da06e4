// Writes every trace event as a line, in time order, for a reader, a spreadsheet or a script.
#pragma once

#include <string>
#include <vector>

#include "model/trace/event_stream.h"
#include "model/trace/output_file.h"

namespace rnic {

// What `words` of a TLP's event are: "tag 3 address 0x1000".
std::string tlp_words(const TraceEvent& event);

// Columns are separated by tabs; the first line names them. A TLP's tag and address are in `words`.
class TransactionLog final : public EventReader {
 public:
  // ConfigError if the file cannot be created.
  TransactionLog(const std::string& file, std::vector<std::string> nodes, EventWords words);

  void events(const std::vector<TimedEvent>& batch) override;
  // OutputError if anything could not be written.
  void close() { file_.close(); }

 private:
  OutputFile file_;
  const std::vector<std::string> nodes_;
  const EventWords words_;
  std::vector<char> text_;  // of a batch
};

}  // namespace rnic

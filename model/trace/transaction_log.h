// Every trace event as a line, in the order of time: what happened to whom, for a reader, a spreadsheet or a script.
#pragma once

#include <string>
#include <vector>

#include "model/trace/event_stream.h"
#include "model/trace/output_file.h"

namespace rnic {

// Columns are separated by tabs; the first line names them. Tag and address of a TLP are words.
class TransactionLog final : public EventReader {
 public:
  // ConfigError if there can be no such file.
  TransactionLog(const std::string& file, std::vector<std::string> nodes, EventWords words);

  void events(const std::vector<TimedEvent>& batch) override;
  // OutputError if not all could be written.
  void close() { file_.close(); }

 private:
  OutputFile file_;
  const std::vector<std::string> nodes_;
  const EventWords words_;
  std::vector<char> text_;  // of a batch
};

}  // namespace rnic

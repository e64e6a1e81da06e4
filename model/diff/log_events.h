// Events of a transaction log, as `rnicsim run --trace` writes it (model/trace/transaction_log.h).
#pragma once

#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/diff/events.h"

namespace rnic::diff {

class LogEvents final : public Events {
 public:
  // `run` is 0 or 1. Reads the log once for its sources. ConfigError for a log of another version, or one that was cut.
  LogEvents(const std::string& file, Vocabulary& vocabulary, unsigned run);

  bool has_offsets() const override { return true; }
  void use_offsets(bool use) override { uses_offsets_ = use; }
  void rewind() override;
  bool next(Row& row) override;
  Told tell(const Row& row) override;
  std::optional<Frame> frame(const std::string&, std::uint64_t) override { return std::nullopt; }

 private:
  enum Column { kTime, kNode, kWhere, kKind, kBytes, kRequest, kReceive, kOffset, kWords, kColumns };
  static constexpr std::size_t kNone = SIZE_MAX, kBlock = 1 << 20;

  [[noreturn]] void fail(const std::string& why) const;
  void read_head();
  bool read_line();  // into line_; false at the end
  void split();
  std::string_view field(Column column) const { return fields_[columns_[column]]; }
  std::uint64_t natural(Column column) const;
  std::uint32_t source_of_line(Vocabulary* vocabulary, unsigned run);

  const std::string file_;
  bool uses_offsets_ = true;
  std::ifstream in_;
  std::string block_;                    // what was read and is not yet a line
  std::size_t used_ = 0;                 // of block_
  std::uint64_t offset_ = 0, next_ = 0;  // of the current line in the file, and of the next
  std::uint64_t number_ = 0;             // of the current line, from 1 on
  std::uint64_t last_ps_ = 0;
  std::string_view line_;
  std::vector<std::string_view> fields_;
  std::size_t in_line_ = 0;  // fields that the head names
  std::array<std::size_t, kColumns> columns_{};
  std::unordered_map<std::string, std::uint32_t> sources_;  // by "node\twhere\tkind"; looked up, never iterated
};

}  // namespace rnic::diff

// Events of a run's database (model/trace/database.md).
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/diff/events.h"

namespace rnic {
class Sqlite;
class SqliteStatement;
}  // namespace rnic

namespace rnic::diff {

// A row of the table `run`.
struct Fact {
  std::string node;  // empty: of the run
  std::string name, value;
};

class DatabaseEvents final : public Events {
 public:
  // `run` is 0 or 1. ConfigError if there is no such file, or it is not a database of this version of rnicsim.
  DatabaseEvents(const std::string& file, Vocabulary& vocabulary, unsigned run);
  ~DatabaseEvents() override;

  bool has_offsets() const override { return has_offsets_; }
  void use_offsets(bool use) override { uses_offsets_ = use; }
  void rewind() override;
  bool next(Row& row) override;
  Told tell(const Row& row) override;
  std::optional<Frame> frame(const std::string& sender, std::uint64_t serial) override;

  const std::vector<Fact>& facts() const { return facts_; }

 private:
  template <class Read>
  auto reading(Read read) const -> decltype(read());
  void read_sources(Vocabulary& vocabulary, unsigned run);
  void read_words();
  void read_owners();
  Owner owner_in(const SqliteStatement& row, int column) const;

  const std::string file_;
  std::unique_ptr<Sqlite> database_;
  std::unique_ptr<SqliteStatement> rows_;
  bool has_offsets_ = false, uses_offsets_ = false;
  std::uint64_t last_ps_ = 0;
  std::vector<Fact> facts_;
  std::vector<std::uint32_t> sources_;                   // by id
  std::vector<std::uint64_t> words_;                     // hashes by id, of the text without a time
  std::vector<std::uint64_t> nodes_;                     // hashes of their names by number, 0: of no request
  std::unordered_map<std::uint64_t, Owner> far_owners_;  // of nodes whose ids do not pack; looked up, never iterated
};

}  // namespace rnic::diff

#include "model/trace/run_database.h"

#include <filesystem>

#include "model/common/check.h"
#include "model/trace/database.h"

namespace rnic {

Sqlite open_run_database(const std::string& file) try {
  if (std::error_code none; !std::filesystem::is_regular_file(file, none)) {
    throw ConfigError(file + ": there is no such file; rnicsim run … --db " + file + " writes one");
  }
  Sqlite database(file, SQLITE_OPEN_READONLY);
  SqliteStatement version = database.prepare("PRAGMA user_version");
  if (version.step() && version.number(0) == Database::kVersion) return database;
  throw ConfigError(file + ": is no database of a run of this version of rnicsim; rnicsim run … --db " + file +
                    " writes one");
} catch (const SqliteError& error) {
  throw ConfigError(file + ": " + error.what());
}

std::uint64_t time_of(const SqliteStatement& row, int column) {
  const std::uint64_t ps = row.number(column);
  if (ps > INT64_MAX) throw SqliteError("a time before the run began");
  return ps;
}

}  // namespace rnic

// The database of a run, to be read.
#pragma once

#include <string>

#include "model/trace/sqlite.h"

namespace rnic {

// ConfigError if there is no such file, or it is not a run's database of this version: the text says which option
// writes one.
Sqlite open_run_database(const std::string& file);

// A time in ps; SQLite's integers are signed. SqliteError if it is negative.
std::uint64_t time_of(const SqliteStatement& row, int column);

}  // namespace rnic

// SQLite's C interface for C++: statements end with their scope, and failures are exceptions.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sqlite3.h>

namespace rnic {

struct SqliteError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A statement with its parameters, counted from 1, and the columns of its current row, counted from 0.
class SqliteStatement final {
 public:
  SqliteStatement(sqlite3* database, std::string_view sql) : database_(database) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement, nullptr));
    statement_.reset(statement);
  }

  void bind(int parameter, std::uint64_t value) {
    sqlite3_bind_int64(statement_.get(), parameter, static_cast<sqlite3_int64>(value));
  }
  // The text must live until the next step.
  void bind(int parameter, std::string_view text) {
    sqlite3_bind_text(statement_.get(), parameter, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }
  void bind_null(int parameter) { sqlite3_bind_null(statement_.get(), parameter); }
  // A parameter without a value is null.
  void unbind_all() { sqlite3_clear_bindings(statement_.get()); }

  // True if there is a row.
  bool step() {
    const int result = sqlite3_step(statement_.get());
    if (result != SQLITE_ROW && result != SQLITE_DONE) check(result);
    return result == SQLITE_ROW;
  }
  // For a statement without rows; it may run again with other parameters.
  void run() {
    step();
    sqlite3_reset(statement_.get());
  }

  bool is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
  // SqliteError if the value has another type: in SQLite a value's type may differ from its column's.
  std::uint64_t number(int column) const {
    expect(column, SQLITE_INTEGER, "an integer");
    return static_cast<std::uint64_t>(sqlite3_column_int64(statement_.get(), column));
  }
  // Empty for null.
  std::string text(int column) const {
    if (!is_null(column)) expect(column, SQLITE_TEXT, "text");
    return shown(column);
  }
  // A value of any type, formatted by SQLite.
  std::string shown(int column) const {
    const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    return text == nullptr ? "" : text;
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void check(int result) const {
    if (result != SQLITE_OK) throw SqliteError(sqlite3_errmsg(database_));
  }
  void expect(int column, int type, const char* what) const {
    if (sqlite3_column_type(statement_.get(), column) == type) return;
    throw SqliteError(std::string(sqlite3_column_name(statement_.get(), column)) + ": must be " + what);
  }

  sqlite3* const database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Sqlite final {
 public:
  // `flags` as sqlite3_open_v2 takes them.
  Sqlite(const std::string& file, int flags) {
    sqlite3* database = nullptr;
    const int result = sqlite3_open_v2(file.c_str(), &database, flags, nullptr);
    database_.reset(database);  // there is one even if it could not be opened
    if (result != SQLITE_OK) throw SqliteError(sqlite3_errmsg(database));
  }

  // Statements without rows, separated by semicolons.
  void execute(const std::string& sql) {
    if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw SqliteError(sqlite3_errmsg(database_.get()));
    }
  }
  SqliteStatement prepare(std::string_view sql) const { return {database_.get(), sql}; }
  sqlite3* get() const { return database_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace rnic

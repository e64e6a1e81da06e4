#include "model/why/rows.h"

#include <filesystem>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/trace/database.h"

namespace rnic::why {

std::string quoted(const std::string& text) {
  std::string sql = "'";
  for (const char c : text) sql += c == '\'' ? std::string("''") : std::string(1, c);
  return sql + "'";
}

namespace {

// SQLite's integers are signed.
std::uint64_t time_of(const SqliteStatement& row, int column) {
  const std::uint64_t ps = row.number(column);
  if (ps > INT64_MAX) throw SqliteError("a time before the run began");
  return ps;
}

}  // namespace

template <class Read>
auto Rows::reading(Read read) const -> decltype(read()) try {
  return read();
} catch (const SqliteError& error) {
  throw ConfigError(file_ + ": " + error.what());
}

Rows::Rows(const std::string& file) : file_(file), database_(open(file)) { read_frames(); }

Sqlite Rows::open(const std::string& file) try {
  if (std::error_code none; !std::filesystem::is_regular_file(file, none)) {
    throw ConfigError(file + ": there is no such file; rnicsim run … --db " + file + " writes one");
  }
  Sqlite database(file, SQLITE_OPEN_READONLY);
  SqliteStatement version = database.prepare("PRAGMA user_version");
  if (!version.step() || version.number(0) != Database::kVersion) {
    throw ConfigError(file + ": is no database of a run of this version of rnicsim");
  }
  return database;
} catch (const SqliteError& error) {
  throw ConfigError(file + ": " + error.what());
}

std::string Rows::fact(const std::string& name) const {
  return reading([&] {
    SqliteStatement row = database_.prepare("SELECT value FROM run WHERE node IS NULL AND name = ?");
    row.bind(1, name);
    return row.step() ? row.shown(0) : std::string();
  });
}

std::string Rows::setting(const std::string& node, const std::string& name) const {
  return reading([&] {
    SqliteStatement row = database_.prepare("SELECT value FROM run WHERE node = ? AND name = ?");
    row.bind(1, node);
    row.bind(2, name);
    return row.step() ? row.shown(0) : std::string();
  });
}

std::string Rows::text_of(std::uint64_t request) const {
  return reading([&] {
    SqliteStatement row = database_.prepare("SELECT text FROM requests WHERE id = ?");
    row.bind(1, request);
    return row.step() ? row.text(0) : std::string();
  });
}

std::vector<FrameRow> Rows::frames_of(SqliteStatement& rows) const {
  std::vector<FrameRow> frames;
  while (rows.step()) {
    frames.push_back({rows.number(0), time_of(rows, 1), rows.is_null(2) ? 0 : rows.number(2), rows.text(3)});
  }
  return frames;
}

// At once: a rule asks for those of many segments, and there is no index.
void Rows::read_frames() {
  reading([&] {
    SqliteStatement row = database_.prepare(
        "SELECT number, time_ps, serial, swallowed, sender, request, offset FROM frames WHERE request IS NOT NULL AND "
        "serial IS NOT NULL AND sender IS NOT NULL ORDER BY serial, number");
    while (row.step()) {
      const auto offset = row.is_null(6) ? std::nullopt : std::optional(row.number(6));
      parts_[{row.text(4), row.number(5), offset}].push_back(
          {row.number(0), row.number(1), row.number(2), row.text(3)});
    }
  });
}

const std::vector<FrameRow>& Rows::frames(const std::string& sender, std::uint64_t request,
                                          std::optional<std::uint64_t> offset) const {
  static const std::vector<FrameRow> kNone;
  const auto found = parts_.find({sender, request, offset});
  return found != parts_.end() ? found->second : kNone;
}

std::optional<std::uint64_t> Rows::number(const std::string& sender, std::uint64_t serial) const {
  return reading([&]() -> std::optional<std::uint64_t> {
    SqliteStatement row = database_.prepare("SELECT min(number) FROM frames WHERE sender = ? AND serial = ?");
    row.bind(1, sender);
    row.bind(2, serial);
    return row.step() && !row.is_null(0) ? std::optional(row.number(0)) : std::nullopt;
  });
}

std::vector<TcpRow> Rows::tcp_without_messages() const {
  return reading([&] {
    SqliteStatement row = database_.prepare(
        "SELECT number, time_ps, serial, swallowed, sender, request, seq, ack, flags, payload FROM frames WHERE seq IS "
        "NOT NULL AND sender IS NOT NULL AND request IS NOT NULL AND offset IS NULL AND (flags & 2 OR payload > 0) "
        "ORDER BY number");
    std::vector<TcpRow> frames;
    while (row.step()) {
      const FrameRow frame{row.number(0), time_of(row, 1), row.is_null(2) ? 0 : row.number(2), row.text(3)};
      frames.push_back({frame, row.text(4), row.number(5), row.number(6), row.number(7), row.number(8), row.number(9)});
    }
    return frames;
  });
}

std::vector<FrameRow> Rows::swallowed(const std::string& to, std::uint64_t from_ps, std::uint64_t to_ps) const {
  return reading([&] {
    SqliteStatement rows = database_.prepare(
        "SELECT number, time_ps, serial, swallowed FROM frames WHERE swallowed IS NOT NULL AND sender <> ? AND time_ps "
        "BETWEEN ? AND ? ORDER BY number");
    rows.bind(1, to);
    rows.bind(2, from_ps);
    rows.bind(3, to_ps);
    return frames_of(rows);
  });
}

std::optional<FrameRow> Rows::of_router(std::uint64_t before_ps) const {
  return reading([&]() -> std::optional<FrameRow> {
    SqliteStatement rows = database_.prepare(
        "SELECT number, time_ps, serial, swallowed FROM frames WHERE serial IS NULL AND time_ps <= ? ORDER BY number "
        "LIMIT 1");
    rows.bind(1, before_ps);
    const auto frames = frames_of(rows);
    return frames.empty() ? std::nullopt : std::optional(frames.front());
  });
}

std::vector<EventRow> Rows::cable(const std::string& sender, std::uint64_t serial) const {
  return events(fmt::format("place GLOB 'cable.*' AND node = {} AND words GLOB 'frame {},*'", quoted(sender), serial));
}

std::vector<CauseRow> Rows::causes() const {
  return reading([&] {
    SqliteStatement row = database_.prepare(
        "SELECT event, time_ps, node, symptom, kind, code, culprit, request, operation, frame, cause, refusal FROM "
        "causes ORDER BY event");
    std::vector<CauseRow> found;
    const auto maybe = [&row](int column) {
      return row.is_null(column) ? std::nullopt : std::optional(row.number(column));
    };
    while (row.step()) {
      found.push_back({row.number(0), time_of(row, 1), row.text(2), row.text(3), row.text(4), row.text(5), row.text(6),
                       row.text(7), row.text(8), maybe(9), maybe(10), maybe(11)});
    }
    return found;
  });
}

std::vector<RequestRow> Rows::requests() const {
  return reading([&] {
    SqliteStatement row = database_.prepare(
        "SELECT id, text, posted_ps, polled_ps FROM requests WHERE posted_ps IS NOT NULL AND polled_ps IS NOT NULL AND "
        "(id >> 54 & 15) = 0 ORDER BY id");
    std::vector<RequestRow> found;
    while (row.step()) {
      found.push_back({row.number(0), row.text(1), time_of(row, 2), time_of(row, 3)});
      if (found.back().posted_ps > found.back().polled_ps) {
        throw SqliteError("request " + found.back().text + ": ends before it begins");
      }
    }
    return found;
  });
}

std::vector<EventRow> Rows::events(const std::string& condition) const {
  return reading([&] {
    SqliteStatement row =
        database_.prepare("SELECT id, time_ps, node, place, kind, words, request, offset, qpn FROM events WHERE " +
                          condition + " ORDER BY id");
    std::vector<EventRow> found;
    while (row.step()) {
      EventRow e{row.number(0), time_of(row, 1), row.text(2), row.text(3), row.text(4), row.text(5), {}, {}, {}};
      if (!row.is_null(6)) e.request = row.number(6);
      if (!row.is_null(7)) e.offset = row.number(7);
      if (!row.is_null(8)) e.qpn = row.number(8);
      found.push_back(std::move(e));
    }
    return found;
  });
}

}  // namespace rnic::why

#include "model/trace/database.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "model/common/check.h"
#include "model/trace/sqlite.h"

namespace rnic {
namespace {

// A file that is renamed when it is whole needs no journal. One transaction holds the whole run. Indexes that are there
// from the beginning take longer in all than later ones, but the simulation does not wait for them at its end.
constexpr const char* kBegin = R"(
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA page_size = 16384;
PRAGMA cache_size = -65536;
BEGIN;
CREATE TABLE run (node TEXT, name TEXT NOT NULL, value);
CREATE TABLE nodes (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE places (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE kinds (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE event (id INTEGER PRIMARY KEY, time_ps INTEGER NOT NULL, node INTEGER NOT NULL, place INTEGER NOT NULL,
  kind INTEGER NOT NULL, flow INTEGER, qpn INTEGER, bytes INTEGER, request INTEGER, receive INTEGER, address INTEGER,
  tag INTEGER, words TEXT);
CREATE TABLE frames (number INTEGER PRIMARY KEY, time_ps INTEGER NOT NULL, sender TEXT, bytes INTEGER NOT NULL,
  request INTEGER, seq INTEGER, ack INTEGER, flags INTEGER, payload INTEGER);
CREATE TABLE requests (id INTEGER PRIMARY KEY, text TEXT NOT NULL, first_ps INTEGER NOT NULL, last_ps INTEGER NOT NULL,
  events INTEGER NOT NULL, posted_ps INTEGER, polled_ps INTEGER);
CREATE INDEX event_of_request ON event (request, time_ps) WHERE request IS NOT NULL;
CREATE INDEX frame_of_request ON frames (request) WHERE request IS NOT NULL;
)";

constexpr const char* kEnd = R"(
CREATE INDEX request_by_text ON requests (text);
CREATE VIEW events AS SELECT event.id, time_ps, nodes.name AS node, places.name AS place, kinds.name AS kind, flow, qpn,
    bytes, request, receive, address, tag, words
  FROM event JOIN nodes ON nodes.id = event.node JOIN places ON places.id = event.place
  JOIN kinds ON kinds.id = event.kind;
CREATE VIEW tlps AS SELECT event.id, time_ps, nodes.name AS node, places.name AS place, substr(kinds.name, 5) AS type,
    tag, address, bytes, request
  FROM event JOIN nodes ON nodes.id = event.node JOIN places ON places.id = event.place
  JOIN kinds ON kinds.id = event.kind WHERE kinds.name GLOB 'tlp_*';
COMMIT;
)";

// Rows that one statement inserts: what it costs to begin one is shared.
constexpr int kRows = 64, kColumns = 12;

std::string insert_events(int rows) {
  std::string sql = "INSERT INTO event VALUES ";
  for (int i = 0; i < rows; ++i) sql += i == 0 ? "(NULL,?,?,?,?,?,?,?,?,?,?,?,?)" : ",(NULL,?,?,?,?,?,?,?,?,?,?,?,?)";
  return sql;
}

// A new file, so that SQLite finds no journal of an earlier one either, with the tables of events and frames.
Sqlite created(const std::string& file) {
  std::error_code none;
  std::filesystem::remove(file, none);
  Sqlite database(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
  database.execute(kBegin);
  database.execute("PRAGMA user_version = " + std::to_string(Database::kVersion));
  return database;
}

}  // namespace

struct Database::Statements {
  explicit Statements(const std::string& file) : database(created(file)) {}
  void add_name(const char* table, std::uint64_t id, const std::string& name) {
    SqliteStatement add = database.prepare(std::string("INSERT INTO ") + table + " VALUES (?, ?)");
    add.bind(1, id);
    add.bind(2, name);
    add.run();
  }

  Sqlite database;
  SqliteStatement event = database.prepare(insert_events(1)), events = database.prepare(insert_events(kRows));
  SqliteStatement frame = database.prepare("INSERT INTO frames VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  std::unordered_map<const char*, std::uint64_t> place_by_pointer;  // looked up, never iterated
  std::unordered_map<std::string, std::uint64_t> place_by_name;     // likewise
};

Database::Database(const std::string& file, const std::vector<std::string>& nodes, EventWords words) try
    : pending_(file), nodes_(nodes), words_(std::move(words)) {
  if (pending_.name() == pending_.file()) throw ConfigError(file + ": a database is a regular file");
  statements_ = std::make_unique<Statements>(pending_.name());
  for (std::size_t node = 0; node < nodes.size(); ++node) statements_->add_name("nodes", node, nodes[node]);
  for (unsigned kind = 0; kind < kTraceKinds; ++kind) {
    const auto k = static_cast<TraceKind>(kind);
    statements_->add_name("kinds", kind, to_string(k));
    if (to_string(k) == std::string("posted")) posted_ = k;
    if (to_string(k) == std::string("polled")) polled_ = k;
  }
} catch (const SqliteError& error) {
  throw ConfigError(file + ": cannot be created: " + error.what());
}

Database::~Database() = default;

template <class Write>
void Database::attempt(Write write) {
  if (!failure_.empty()) return;
  try {
    write();
  } catch (const SqliteError& error) {
    failure_ = error.what();
  }
}

// Names with one text may lie at several places in memory.
std::uint64_t Database::place_of(const char* where) {
  const auto [known, is_new] = statements_->place_by_pointer.try_emplace(where, 0);
  if (!is_new) return known->second;
  const auto [named, first] = statements_->place_by_name.try_emplace(where, statements_->place_by_name.size());
  if (first) statements_->add_name("places", named->second, where);
  return known->second = named->second;
}

// A column has what its name says, or nothing. `row` is that of the statement, from 0 on, where all is nothing before.
void Database::bind(SqliteStatement& to, int row, const TimedEvent& t, std::string& words) {
  const TraceEvent& e = t.event;
  int parameter = row * kColumns;
  const auto put = [&](bool is_known, std::uint64_t value) {
    ++parameter;
    if (is_known) to.bind(parameter, value);
  };
  const bool tlp = is_tlp(e.kind);
  put(true, t.ps);
  put(true, t.node);
  put(true, place_of(e.where));
  put(true, static_cast<std::uint64_t>(e.kind));
  put(e.flow != kNoFlow, e.flow.v);
  put(e.qpn != TraceEvent::kNone, e.qpn);
  put(e.bytes != TraceEvent::kNone, e.bytes);
  put(bool(e.request), e.request.v);
  put(bool(e.receive), e.receive.v);
  put(e.has_address(), e.address);
  put(e.has_tag(), e.tag);
  words = tlp ? std::string() : words_(e);
  if (!words.empty()) to.bind(++parameter, words);
}

void Database::note(const TimedEvent& t) {
  const auto [index, is_new] = request_index_.try_emplace(t.event.request.v, requests_.size());
  if (is_new) requests_.push_back({t.event.request, t.ps, t.ps, 0, {}, {}});
  Request& r = requests_[index->second];
  r.last_ps = t.ps;
  ++r.events;
  if (t.event.kind == posted_ && !r.posted_ps) r.posted_ps = t.ps;
  if (t.event.kind == polled_) r.polled_ps = t.ps;
}

void Database::write_events(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& t : events) {
    if (t.event.request) note(t);
  }
  std::string words[kRows];  // live until the statement has run
  std::size_t i = 0;
  for (; i + kRows <= events.size(); i += kRows) {
    statements_->events.unbind_all();
    for (int row = 0; row < kRows; ++row) bind(statements_->events, row, events[i + row], words[row]);
    statements_->events.run();
  }
  for (; i < events.size(); ++i) {
    statements_->event.unbind_all();
    bind(statements_->event, 0, events[i], words[0]);
    statements_->event.run();
  }
}

void Database::write_frame(const FrameRecord& frame) {
  SqliteStatement& row = statements_->frame;
  row.unbind_all();
  row.bind(1, frame.number);
  row.bind(2, frame.ps);
  if (frame.sender) row.bind(3, nodes_[*frame.sender]);
  row.bind(4, frame.bytes);
  if (frame.request) row.bind(5, frame.request.v);
  if (frame.tcp) {
    row.bind(6, frame.tcp->seq);
    row.bind(7, frame.tcp->ack);
    row.bind(8, frame.tcp->flags);
    row.bind(9, frame.tcp->payload);
  }
  row.run();
}

void Database::post(std::vector<TimedEvent> events) {
  worker_.post([this, events = std::move(events), frames = std::exchange(frames_, {})] {
    attempt([&] {
      write_events(events);
      for (const FrameRecord& frame : frames) write_frame(frame);
    });
  });
}

void Database::events(const std::vector<TimedEvent>& batch) { post(batch); }

void Database::frame(const FrameRecord& frame) { frames_.push_back(frame); }

void Database::add_facts(const std::vector<RunFact>& facts) {
  SqliteStatement add = statements_->database.prepare("INSERT INTO run VALUES (nullif(?, ''), ?, ?)");
  for (const RunFact& fact : facts) {
    add.bind(1, fact.node);
    add.bind(2, fact.name);
    add.bind(3, fact.value);
    add.run();
  }
}

// In the order of their numbers, as the table has them: a row behind the last one costs least.
void Database::add_requests() {
  std::sort(requests_.begin(), requests_.end(), [](const Request& a, const Request& b) {
    return static_cast<std::int64_t>(a.id.v) < static_cast<std::int64_t>(b.id.v);
  });
  SqliteStatement add = statements_->database.prepare("INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (const Request& r : requests_) {
    const std::string text = r.id.text(nodes_);
    add.bind(1, r.id.v);
    add.bind(2, text);
    add.bind(3, r.first_ps);
    add.bind(4, r.last_ps);
    add.bind(5, r.events);
    for (const auto& [column, ps] : {std::pair(6, r.posted_ps), std::pair(7, r.polled_ps)}) {
      if (ps) add.bind(column, *ps);
      else add.bind_null(column);
    }
    add.run();
  }
}

void Database::close(const std::vector<RunFact>& facts) {
  post({});
  worker_.finish();
  attempt([&] {
    add_facts(facts);
    add_requests();
    statements_->database.execute(kEnd);
  });
  statements_.reset();
  if (failure_.empty()) return pending_.commit();
  pending_.discard();
  throw OutputError(pending_.file() + ": cannot be written: " + failure_);
}

}  // namespace rnic

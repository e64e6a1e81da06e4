#include "model/trace/database.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "model/common/check.h"
#include "model/trace/sqlite.h"

namespace rnic {
namespace {

// A file that is renamed when it is complete needs no journal. One transaction holds the run. Events are inserted in
// the order of their ids, so the table only grows at its end and is never read. An index over requests would cost twice
// as much as the rows. A row of `requests` has the first and last id of the request's events.
constexpr const char* kBegin = R"(
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA page_size = 16384;
PRAGMA cache_size = -8192;
BEGIN;
CREATE TABLE run (node TEXT, name TEXT NOT NULL, value);
CREATE TABLE sources (id INTEGER PRIMARY KEY, node TEXT NOT NULL, place TEXT NOT NULL, kind TEXT NOT NULL, flow INTEGER,
  qpn INTEGER);
CREATE TABLE words (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE event (id INTEGER PRIMARY KEY, time_ps INTEGER NOT NULL, source INTEGER NOT NULL, bytes INTEGER,
  request INTEGER, receive INTEGER, address INTEGER, tag INTEGER, words INTEGER, offset INTEGER);
CREATE TABLE frames (number INTEGER PRIMARY KEY, time_ps INTEGER NOT NULL, sender TEXT, bytes INTEGER NOT NULL,
  request INTEGER, seq INTEGER, ack INTEGER, flags INTEGER, payload INTEGER, serial INTEGER, swallowed TEXT, offset INTEGER);
CREATE TABLE requests (id INTEGER PRIMARY KEY, text TEXT NOT NULL, first_ps INTEGER NOT NULL, last_ps INTEGER NOT NULL,
  first_event INTEGER NOT NULL, last_event INTEGER NOT NULL, events INTEGER NOT NULL, posted_ps INTEGER,
  polled_ps INTEGER);
)";

constexpr const char* kEnd = R"(
CREATE INDEX request_by_text ON requests (text);
CREATE VIEW events AS SELECT event.id, time_ps, node, place, kind, flow, qpn, bytes, request, receive, address, tag,
    words.text AS words, offset
  FROM event JOIN sources ON sources.id = event.source LEFT JOIN words ON words.id = event.words;
CREATE VIEW tlps AS SELECT event.id, time_ps, node, place, substr(kind, 5) AS type, tag, address, bytes, request
  FROM event JOIN sources ON sources.id = event.source WHERE kind GLOB 'tlp_*';
COMMIT;
)";

// Inserts rows into a table, kMany in a statement to share its fixed cost. `row` is "(NULL,?,?)" or the like.
class Rows {
 public:
  Rows(const Sqlite& database, const std::string& table, const std::string& row)
      : columns_(static_cast<int>(std::count(row.begin(), row.end(), '?'))),
        one_(database.prepare("INSERT INTO " + table + " VALUES " + row)),
        many_(database.prepare("INSERT INTO " + table + " VALUES " + repeated(row))) {}

  // `bind` gets an item, the statement, and the number before its first parameter. Parameters are null at first.
  template <class Item, class Bind>
  void add(const std::vector<Item>& items, Bind bind) {
    std::size_t i = 0;
    for (; i + kMany <= items.size(); i += kMany) {
      many_.unbind_all();
      for (int row = 0; row < kMany; ++row) bind(items[i + row], many_, row * columns_);
      many_.run();
    }
    for (; i < items.size(); ++i) {
      one_.unbind_all();
      bind(items[i], one_, 0);
      one_.run();
    }
  }

 private:
  static constexpr int kMany = 64;
  static std::string repeated(const std::string& row) {
    std::string all = row;
    for (int i = 1; i < kMany; ++i) all += ',' + row;
    return all;
  }
  const int columns_;
  SqliteStatement one_, many_;
};

// Creates the tables in an empty file, so that SQLite does not use an earlier file's journal either.
Sqlite created(const std::string& file) {
  std::error_code none;
  std::filesystem::resize_file(file, 0, none);  // it may be locked, so it is not replaced
  Sqlite database(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX);
  database.execute(kBegin);
  database.execute("PRAGMA user_version = " + std::to_string(Database::kVersion));
  return database;
}

// The fields that many events share: place, kind, flow and QP.
struct Source {
  const char* where;
  std::uint32_t node, flow, qpn;
  TraceKind kind;
  bool operator==(const Source& o) const {
    return where == o.where && node == o.node && flow == o.flow && qpn == o.qpn && kind == o.kind;
  }
};

// The fields that determine an event's words.
struct Meaning {
  const char* text;
  std::array<std::uint32_t, 3> values, facts;
  TraceKind kind;
  bool operator==(const Meaning& o) const {
    return text == o.text && values == o.values && facts == o.facts && kind == o.kind;
  }
};

struct Hash {
  // Multiplies by an arbitrary odd number.
  static std::size_t mix(std::size_t seed, std::uint64_t value) { return (seed ^ value) * 0x9e3779b97f4a7c15u >> 1; }
  std::size_t operator()(const Source& s) const {
    const std::size_t of_chip =
        mix(reinterpret_cast<std::uintptr_t>(s.where), s.node << 8 | static_cast<unsigned>(s.kind));
    return mix(of_chip, std::uint64_t{s.flow} << 32 | s.qpn);
  }
  std::size_t operator()(const Meaning& m) const {
    const std::size_t of_text = mix(reinterpret_cast<std::uintptr_t>(m.text), static_cast<unsigned>(m.kind));
    const std::size_t of_facts = mix(mix(of_text, std::uint64_t{m.facts[0]} << 32 | m.facts[1]), m.facts[2]);
    return mix(mix(of_facts, std::uint64_t{m.values[0]} << 32 | m.values[1]), m.values[2]);
  }
};

// What ended streams and what programs found wrong, each with its first cause: the frame or work request that was
// changed. A Terminate is about the segment that its chip refused; one of the firmware alone about the last frame. A
// local error is about the oldest request of which nothing was cut, and the receive request of a Send is that of its
// order.
constexpr const char* kCauses = R"(
CREATE VIEW causes AS
WITH symptom AS (
  SELECT id, time_ps, node, qpn, 'terminate' AS kind, substr(words, 9) AS code FROM events WHERE kind = 'terminated' AND words GLOB 'ordered *'
  UNION ALL
  SELECT id, time_ps, node, NULL, 'startup', words FROM events WHERE kind = 'refused' AND place GLOB '*.fwcpu'
  UNION ALL
  SELECT id, time_ps, node, qpn, 'check', words FROM events WHERE kind = 'check_failed'),
found AS (
  SELECT s.*, (SELECT max(r.id) FROM events r WHERE r.kind = 'refused' AND r.node = s.node AND r.qpn = s.qpn AND r.words = s.code AND r.id <= s.id) AS refusal
    FROM symptom s),
segment AS (
  SELECT f.*, CASE f.kind WHEN 'check' THEN (SELECT request FROM event WHERE id = f.id) ELSE (SELECT request FROM event WHERE id = f.refusal) END AS about FROM found f),
work AS (
  SELECT g.*, CASE WHEN about >> 54 & 15 = 0 THEN about
    WHEN refusal IS NOT NULL AND code GLOB '0/0/*' THEN (
      SELECT min(request) FROM (
        SELECT request FROM events WHERE kind = 'wqe_fetched' AND words <> '' AND node = g.node AND qpn = g.qpn AND id < g.refusal
        EXCEPT SELECT request FROM events WHERE kind = 'segmented' AND node = g.node AND id < g.refusal)) END AS request
    FROM segment g),
receive AS (
  SELECT w.*, CASE WHEN request IS NOT NULL AND kind = 'terminate' THEN node || '.rq' || qpn || '.' || (
      SELECT count(*) FROM events b WHERE b.kind = 'wqe_fetched' AND b.words IN ('send', 'send with invalidate', 'immediate data')
        AND b.request BETWEEN w.request & ~268435455 AND w.request - 1) END AS receive
    FROM work w),
culprit AS (
  SELECT r.*, coalesce(
      (SELECT max(c.id) FROM events c WHERE c.kind IN ('injected', 'corrupted') AND c.request = r.request AND c.id < r.id),
      (SELECT max(c.id) FROM events c JOIN requests q ON q.id = c.request WHERE c.kind = 'injected' AND q.text = r.receive AND c.id < r.id),
      CASE WHEN r.request IS NULL THEN
        (SELECT max(c.id) FROM events c WHERE c.kind IN ('injected', 'corrupted') AND c.place GLOB 'cable.*_to_' || r.node AND c.id < r.id) END) AS cause
    FROM receive r)
SELECT c.id AS event, c.time_ps, c.node, c.kind AS symptom,
    CASE WHEN e.place GLOB 'cable.*' THEN e.kind WHEN e.id IS NOT NULL THEN 'program' WHEN c.request IS NOT NULL THEN 'setting' END AS kind,
    c.code, coalesce(e.words, (SELECT text FROM requests WHERE id = c.request)) AS culprit,
    (SELECT text FROM requests WHERE id = coalesce(e.request, c.request)) AS request,
    CASE WHEN e.place GLOB 'cable.*' THEN (SELECT min(number) FROM frames WHERE sender = e.node AND serial = CAST(substr(e.words, 7) AS INTEGER))
      ELSE (SELECT min(number) FROM frames WHERE frames.request = c.request AND sender IS NOT NULL) END AS frame,
    (SELECT words FROM events w WHERE w.kind = 'wqe_fetched' AND w.request = c.request) AS operation, c.cause, c.refusal
  FROM culprit c LEFT JOIN events e ON e.id = c.cause;
)";

}  // namespace

struct Database::Statements {
  explicit Statements(const std::string& file) : database(created(file)) {}

  Sqlite database;
  SqliteStatement source = database.prepare("INSERT INTO sources VALUES (?, ?, ?, ?, ?, ?)"),
                  words = database.prepare("INSERT INTO words VALUES (?, ?)");
  Rows events{database, "event", "(NULL,?,?,?,?,?,?,?,?,?)"}, frames{database, "frames", "(?,?,?,?,?,?,?,?,?,?,?,?)"};
  std::unordered_map<Source, std::uint64_t, Hash> source_of;  // looked up, never iterated
  std::unordered_map<Meaning, std::uint64_t, Hash> words_of;  // likewise
  std::array<bool, kTraceKinds> has_words{};                  // kinds
};

Database::Database(const std::string& file, const std::vector<std::string>& nodes, EventWords words) try
    : pending_(file), nodes_(nodes), words_(std::move(words)) {
  if (pending_.name() == pending_.file()) throw ConfigError(file + ": a database is a regular file");
  statements_ = std::make_unique<Statements>(pending_.name());
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

std::uint64_t Database::source_of(const TimedEvent& t) {
  const TraceEvent& e = t.event;
  const auto [known, is_new] =
      statements_->source_of.try_emplace({e.where, t.node, e.flow.v, e.qpn, e.kind}, statements_->source_of.size() + 1);
  if (!is_new) return known->second;
  SqliteStatement& add = statements_->source;
  add.unbind_all();
  add.bind(1, known->second);
  add.bind(2, nodes_[t.node]);
  add.bind(3, std::string_view(e.where));
  add.bind(4, std::string_view(to_string(e.kind)));
  if (e.flow != kNoFlow) add.bind(5, e.flow.v);
  if (e.qpn != TraceEvent::kNone) add.bind(6, e.qpn);
  add.run();
  return known->second;
}

// 0: none. Words are made once for all events with the same Meaning; a Meaning without words is not stored.
std::uint64_t Database::words_of(const TraceEvent& e) {
  if (is_tlp(e.kind)) return 0;
  bool& kind_has_words = statements_->has_words[static_cast<std::size_t>(e.kind)];
  auto& known = statements_->words_of;
  const Meaning meaning{e.text, e.values, e.facts, e.kind};
  if (kind_has_words) {
    if (const auto found = known.find(meaning); found != known.end()) return found->second;
  }
  const std::string text = words_(e);
  if (text.empty()) return 0;
  kind_has_words = true;
  const std::uint64_t id = known.emplace(meaning, known.size() + 1).first->second;
  statements_->words.bind(1, id);
  statements_->words.bind(2, text);
  statements_->words.run();
  return id;
}

void Database::note(const TimedEvent& t) {
  const auto [index, is_new] = request_index_.try_emplace(numbers_.of(t.event.request), requests_.size());
  if (is_new) requests_.push_back({index->first, t.event.request, t.ps, t.ps, events_, events_, 0, {}, {}});
  Request& r = requests_[index->second];
  r.last_ps = t.ps;
  r.last_event = events_;
  ++r.events;
  if (t.event.kind == TraceKind::kPosted && !r.posted_ps) r.posted_ps = t.ps;
  if (t.event.kind == TraceKind::kPolled) r.polled_ps = t.ps;
}

// A column without a value is null.
void Database::write_events(const std::vector<TimedEvent>& events) {
  for (const TimedEvent& t : events) {
    ++events_;
    if (t.event.request) note(t);
  }
  statements_->events.add(events, [this](const TimedEvent& t, SqliteStatement& row, int before) {
    const TraceEvent& e = t.event;
    row.bind(before + 1, t.ps);
    row.bind(before + 2, source_of(t));
    if (e.bytes != TraceEvent::kNone) row.bind(before + 3, e.bytes);
    if (e.request) row.bind(before + 4, numbers_.of(e.request));
    if (e.receive) row.bind(before + 5, numbers_.of(e.receive));
    if (e.has_address()) row.bind(before + 6, e.address());
    if (e.has_tag()) row.bind(before + 7, e.tag());
    if (const std::uint64_t words = words_of(e)) row.bind(before + 8, words);
    if (e.offset != TraceEvent::kNone) row.bind(before + 9, e.offset);
  });
}

void Database::write_frames(const std::vector<FrameRecord>& frames) {
  statements_->frames.add(frames, [this](const FrameRecord& frame, SqliteStatement& row, int before) {
    row.bind(before + 1, frame.number);
    row.bind(before + 2, frame.ps);
    if (frame.sender) row.bind(before + 3, nodes_[*frame.sender]);
    row.bind(before + 4, frame.bytes);
    if (frame.request) row.bind(before + 5, numbers_.of(frame.request));
    if (frame.serial != 0) row.bind(before + 10, frame.serial);
    if (!frame.swallowed.empty()) row.bind(before + 11, frame.swallowed);
    if (frame.offset != TraceEvent::kNone) row.bind(before + 12, frame.offset);
    if (!frame.tcp) return;
    row.bind(before + 6, frame.tcp->seq);
    row.bind(before + 7, frame.tcp->ack);
    row.bind(before + 8, frame.tcp->flags);
    row.bind(before + 9, frame.tcp->payload);
  });
}

void Database::post(std::vector<TimedEvent> events) {
  worker_.post([this, events = std::move(events), frames = std::exchange(frames_, {})] {
    attempt([&] {
      write_events(events);
      write_frames(frames);
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

// In the order of their numbers, as in the table: appending at the end costs least.
void Database::add_requests() {
  std::sort(requests_.begin(), requests_.end(), [](const Request& a, const Request& b) {
    return static_cast<std::int64_t>(a.number) < static_cast<std::int64_t>(b.number);
  });
  SqliteStatement add = statements_->database.prepare("INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const Request& r : requests_) {
    const std::string text = r.id.text(nodes_);
    add.bind(1, r.number);
    add.bind(2, text);
    add.bind(3, r.first_ps);
    add.bind(4, r.last_ps);
    add.bind(5, r.first_event);
    add.bind(6, r.last_event);
    add.bind(7, r.events);
    for (const auto& [column, ps] : {std::pair(8, r.posted_ps), std::pair(9, r.polled_ps)}) {
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
    statements_->database.execute(kCauses);
    statements_->database.execute(kEnd);
  });
  statements_.reset();
  if (failure_.empty()) return pending_.commit();
  pending_.discard();
  throw OutputError(pending_.file() + ": cannot be written: " + failure_);
}

}  // namespace rnic

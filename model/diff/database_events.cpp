#include "model/diff/database_events.h"

#include <filesystem>

#include "model/common/check.h"
#include "model/common/request_id.h"
#include "model/diff/words.h"
#include "model/trace/request_numbers.h"
#include "model/trace/run_database.h"

namespace rnic::diff {
namespace {

constexpr std::uint32_t kNoSource = UINT32_MAX;

// SQLite's integers are signed; no time, size or count of a run is negative.
std::uint64_t natural(const SqliteStatement& row, int column) {
  const std::uint64_t value = row.number(column);
  if (value > INT64_MAX) throw SqliteError("a negative number");
  return value;
}

// Ids are given in sequence from 1 on.
template <class T>
T& at_id(std::vector<T>& of, std::uint64_t id, T none) {
  if (id > of.size()) throw SqliteError("ids with gaps");
  if (id == of.size()) of.push_back(none);
  return of[id];
}

std::string node_of(const std::string& request) { return request.substr(0, request.find('.')); }

Owner owner_by(std::uint64_t node, RequestId id) {
  return owner_of(mix(node, id.place()), id.kind() <= RequestId::Kind::kSharedReceive);
}

}  // namespace

// An error of SQLite is an error of the file.
template <class Read>
auto DatabaseEvents::reading(Read read) const -> decltype(read()) try {
  return read();
} catch (const SqliteError& error) {
  throw ConfigError(file_ + ": " + error.what());
}

DatabaseEvents::DatabaseEvents(const std::string& file, Vocabulary& vocabulary, unsigned run) : file_(file) {
  reading([&] {
    database_ = std::make_unique<Sqlite>(open_run_database(file_));
    SqliteStatement fact = database_->prepare("SELECT node, name, value FROM run ORDER BY rowid");
    while (fact.step()) facts_.push_back({fact.text(0), fact.text(1), fact.shown(2)});
    read_sources(vocabulary, run);
    read_words();
    read_owners();
    SqliteStatement offset = database_->prepare("SELECT 1 FROM pragma_table_info('event') WHERE name = 'offset'");
    has_offsets_ = offset.step();
  });
  rewind();
}

DatabaseEvents::~DatabaseEvents() = default;

void DatabaseEvents::read_sources(Vocabulary& vocabulary, unsigned run) {
  sources_.assign(1, kNoSource);
  SqliteStatement row = database_->prepare("SELECT id, node, place, kind FROM sources ORDER BY id");
  while (row.step()) {
    at_id(sources_, row.number(0), kNoSource) = vocabulary.source(row.text(1), row.text(2), row.text(3), run);
  }
}

void DatabaseEvents::read_words() {
  words_.assign(1, 0);
  SqliteStatement row = database_->prepare("SELECT id, text FROM words ORDER BY id");
  while (row.step()) at_id(words_, row.number(0), std::uint64_t{0}) = hash(without_time(row.text(1)));
}

// Ids that pack need one name for each node; of the others each has to be looked up.
void DatabaseEvents::read_owners() {
  SqliteStatement row = database_->prepare("SELECT id, text FROM requests");
  nodes_.assign(RequestId::kMostPackedNode + 1, 0);
  while (row.step()) {
    const std::uint64_t number = row.number(0);
    if (RequestNumbers::packed(number)) {
      std::uint64_t& node = nodes_[RequestId(number).node()];
      if (node == 0) node = hash(node_of(row.text(1)));
      continue;
    }
    const std::string text = row.text(1), node = node_of(text);
    const auto id = RequestId::parse(text, {node});
    if (!id) throw SqliteError("'" + text + "' is no request");
    far_owners_[number] = owner_by(hash(node), *id);
  }
}

Owner DatabaseEvents::owner_in(const SqliteStatement& row, int column) const {
  if (row.is_null(column)) return kNoOwner;
  const std::uint64_t number = row.number(column);
  if (RequestNumbers::packed(number)) {
    const RequestId id(number);
    if (nodes_[id.node()] == 0) throw SqliteError("an event of a request of an unknown node");
    return owner_by(nodes_[id.node()], id);
  }
  const auto known = far_owners_.find(number);
  if (known == far_owners_.end()) throw SqliteError("an event of an unknown request");
  return known->second;
}

void DatabaseEvents::rewind() {
  last_ps_ = 0;
  reading([this] {
    rows_ = std::make_unique<SqliteStatement>(
        database_->prepare(std::string("SELECT id, time_ps, source, bytes, request, receive, words") +
                           (has_offsets_ && uses_offsets_ ? ", \"offset\"" : "") + " FROM event ORDER BY id"));
  });
}

bool DatabaseEvents::next(Row& row) {
  return reading([&] {
    const SqliteStatement& columns = *rows_;
    if (!rows_->step()) return false;
    row.at = natural(columns, 0);
    row.ps = natural(columns, 1);
    if (row.ps < last_ps_) throw SqliteError("event " + std::to_string(row.at) + ": goes back in time");
    last_ps_ = row.ps;
    const std::uint64_t source = columns.number(2), words = columns.is_null(6) ? 0 : columns.number(6);
    if (source == 0 || source >= sources_.size()) throw SqliteError("an event of an unknown source");
    if (words >= words_.size()) throw SqliteError("an event of unknown words");
    row.source = sources_[source];
    row.owner = owner_in(columns, 4);
    row.content = mix(mix(columns.is_null(3) ? UINT64_MAX : columns.number(3), owner_in(columns, 5)), words_[words]);
    row.offset = 0;
    if (has_offsets_ && uses_offsets_ && !columns.is_null(7))
      row.offset = static_cast<std::uint32_t>(columns.number(7));
    return true;
  });
}

Told DatabaseEvents::tell(const Row& row) {
  return reading([&] {
    SqliteStatement event = database_->prepare(
        std::string("SELECT time_ps, sources.node, place, kind, owner.text, receiver.text, words.text, bytes") +
        (has_offsets_ ? ", \"offset\"" : ", NULL") +
        " FROM event JOIN sources ON sources.id = source LEFT JOIN words ON words.id = words "
        "LEFT JOIN requests owner ON owner.id = request LEFT JOIN requests receiver ON receiver.id = receive "
        "WHERE event.id = ?");
    event.bind(1, row.at);
    if (!event.step()) throw SqliteError("event " + std::to_string(row.at) + " is gone");
    Told told{natural(event, 0),
              event.text(1),
              event.text(2),
              event.text(3),
              event.text(4),
              event.text(5),
              event.text(6),
              {},
              {}};
    if (!event.is_null(7)) told.bytes = natural(event, 7);
    if (!event.is_null(8)) told.offset = natural(event, 8);
    return told;
  });
}

std::optional<Events::Frame> DatabaseEvents::frame(const std::string& sender, std::uint64_t serial) {
  return reading([&]() -> std::optional<Frame> {
    SqliteStatement row = database_->prepare(
        "SELECT number, swallowed IS NOT NULL FROM frames WHERE sender = ? AND serial = ? ORDER BY number LIMIT 1");
    row.bind(1, sender);
    row.bind(2, serial);
    if (!row.step()) return std::nullopt;
    return Frame{row.number(0), row.number(1) != 0};
  });
}

}  // namespace rnic::diff

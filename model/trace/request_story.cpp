#include "model/trace/request_story.h"

#include "model/common/check.h"
#include "model/trace/request_numbers.h"
#include "model/trace/run_database.h"

namespace rnic {
namespace {

constexpr const char* kSpan =
    "SELECT id, text, coalesce(posted_ps, first_ps), coalesce(polled_ps, last_ps), events, first_event, "
    "last_event ";

RequestSpan span_of(const SqliteStatement& row) {
  const RequestSpan span{row.number(0), row.text(1),   time_of(row, 2), time_of(row, 3),
                         row.number(4), row.number(5), row.number(6)};
  if (span.first_ps > span.last_ps) throw SqliteError("request " + span.text + ": ends before it begins");
  return span;
}

std::optional<std::uint64_t> known(const SqliteStatement& row, int column) {
  return row.is_null(column) ? std::nullopt : std::optional(row.number(column));
}

}  // namespace

// An error of SQLite is an error of the file.
template <class Read>
auto RequestStory::reading(Read read) const -> decltype(read()) try {
  return read();
} catch (const SqliteError& error) {
  throw ConfigError(file_ + ": " + error.what());
}

RequestStory::RequestStory(const std::string& file)
    : file_(file), database_(std::make_unique<Sqlite>(open_run_database(file))) {}

RequestStory::~RequestStory() = default;

RequestSpan RequestStory::find(const std::string& text) const {
  return reading([&] {
    SqliteStatement row = database_->prepare(std::string(kSpan) + "FROM requests WHERE text = ?");
    row.bind(1, text);
    if (row.step()) return span_of(row);
    // The neighbouring name with the longest common beginning.
    SqliteStatement near = database_->prepare(
        "SELECT text FROM (SELECT text FROM (SELECT text FROM requests WHERE text < ?1 ORDER BY text DESC LIMIT 1) "
        "UNION ALL SELECT text FROM (SELECT text FROM requests WHERE text > ?1 ORDER BY text LIMIT 1))");
    near.bind(1, text);
    std::string nearest;
    std::size_t best = 0;
    while (near.step()) {
      const std::string name = near.text(0);
      std::size_t same = 0;
      while (same < std::min(name.size(), text.size()) && name[same] == text[same]) ++same;
      if (!nearest.empty() && same <= best) continue;
      nearest = name;
      best = same;
    }
    throw ConfigError(file_ + ": has no request '" + text + "'" +
                      (nearest.empty() ? ", nor any other" : "; the nearest is '" + nearest + "'"));
  });
}

std::vector<StoryLine> RequestStory::tell(const RequestSpan& request) const {
  return reading([&] {
    SqliteStatement row = database_->prepare(
        "SELECT time_ps, node, place, kind, words, flow, qpn, bytes, address, tag, offset FROM events "
        "WHERE id BETWEEN ? AND ? AND request = ? ORDER BY id");
    row.bind(1, request.first_event);
    row.bind(2, request.last_event);
    row.bind(3, request.number);
    std::vector<StoryLine> lines;
    while (row.step()) {
      const std::uint64_t ps = time_of(row, 0);
      if (!lines.empty() && ps < lines.back().ps) throw SqliteError("request " + request.text + ": goes back in time");
      lines.push_back({ps, row.text(1), row.text(2), row.text(3), row.text(4), known(row, 5), known(row, 6),
                       known(row, 7), known(row, 8), known(row, 9), known(row, 10)});
    }
    if (lines.size() != request.events) {
      throw SqliteError("request " + request.text + ": has " + std::to_string(lines.size()) + " events of " +
                        std::to_string(request.events));
    }
    return lines;
  });
}

Retransmissions RequestStory::meanwhile(const RequestSpan& request) const {
  return reading([&] {
    // All requests of its queue: by number if numbers are packed, otherwise by text.
    const bool packed = RequestNumbers::packed(request.number);
    const std::string queue = request.text.substr(0, request.text.rfind('.') + 1);
    const std::string first_text = queue + '0', last_text = queue + ':';  // ':' sorts after all digits
    const std::string of_queue =
        packed ? "BETWEEN ?1 AND ?2" : "IN (SELECT id FROM requests WHERE text BETWEEN ?1 AND ?2)";
    SqliteStatement row = database_->prepare("SELECT count(*), min(time_ps), max(time_ps) FROM events WHERE request " +
                                             of_queue + " AND kind = 'retransmitted' AND time_ps BETWEEN ?3 AND ?4");
    if (packed) {
      constexpr std::uint64_t kSequences = std::uint64_t{1} << RequestId::kSequenceBits;
      const std::uint64_t first = request.number & ~(kSequences - 1);
      row.bind(1, first);
      row.bind(2, first + kSequences - 1);
    } else {
      row.bind(1, first_text);
      row.bind(2, last_text);
    }
    row.bind(3, request.first_ps);
    row.bind(4, request.last_ps);
    if (!row.step() || row.number(0) == 0) return Retransmissions{};
    return Retransmissions{row.number(0), time_of(row, 1), time_of(row, 2)};
  });
}

std::vector<RequestSpan> RequestStory::slowest(unsigned count) const {
  return reading([&] {
    SqliteStatement row = database_->prepare(
        std::string(kSpan) +
        "FROM requests WHERE polled_ps IS NOT NULL AND posted_ps IS NOT NULL AND (id >> 54 & 15) = 0 "
        "ORDER BY coalesce(polled_ps, last_ps) - coalesce(posted_ps, first_ps) DESC, id LIMIT ?");
    row.bind(1, count);
    std::vector<RequestSpan> spans;
    while (row.step()) spans.push_back(span_of(row));
    return spans;
  });
}

}  // namespace rnic

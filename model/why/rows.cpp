#include "model/why/rows.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "model/common/check.h"
#include "model/trace/run_database.h"

namespace rnic::why {

std::string quoted(const std::string& text) {
  std::string sql = "'";
  for (const char c : text) sql += c == '\'' ? std::string("''") : std::string(1, c);
  return sql + "'";
}

std::string queue_of(const std::string& request) { return request.substr(0, request.rfind('.')); }
std::string node_of(const std::string& request) { return request.substr(0, request.find('.')); }

namespace {
// Sums of these must not overflow.
std::uint64_t octets_of(const SqliteStatement& row, int column) {
  const std::uint64_t octets = row.number(column);
  if (octets > UINT32_MAX) throw SqliteError("more octets than a message has");
  return octets;
}

// All of a text; 0: it is none.
std::uint64_t number_in(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : 0;
}
}  // namespace

std::uint64_t serial_of(const std::string& words) {
  constexpr std::string_view kFrame = "frame ";
  return words.rfind(kFrame, 0) == 0 ? std::strtoull(words.c_str() + kFrame.size(), nullptr, 10) : 0;
}

Rows::Rows(const std::string& file) : file_(file), database_(open_run_database(file)) {
  read_frames();
  read_events();
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

bool Rows::has_kind(const std::string& kind) const {
  return reading([&] {
    SqliteStatement row = database_.prepare("SELECT 1 FROM sources WHERE kind = ? LIMIT 1");
    row.bind(1, kind);
    return row.step();
  });
}

bool Rows::has_words(const std::string& pattern) const {
  return reading([&] {
    SqliteStatement row = database_.prepare("SELECT 1 FROM words WHERE text GLOB ? LIMIT 1");
    row.bind(1, pattern);
    return row.step();
  });
}

std::uint64_t Rows::run_ps() const { return number_in(fact("sim_time_ps")); }

std::uint64_t Rows::number_of(const std::string& node, const std::string& name) const {
  return number_in(setting(node, name));
}

std::string Rows::text_of(std::uint64_t request) const {
  return reading([&] {
    SqliteStatement row = database_.prepare("SELECT text FROM requests WHERE id = ?");
    row.bind(1, request);
    return row.step() ? row.text(0) : std::string();
  });
}

void Rows::read_events() {
  for (EventRow& e : events("kind IN ('lost', 'queue_dropped', 'corrupted', 'duplicated', 'reordered', 'ce_marked', "
                            "'injected', 'retransmitted')")) {
    if (e.kind == "retransmitted") {
      if (e.request) sent_again_.push_back(std::move(e));
      continue;
    }
    of_cable_.push_back(e);
    if (e.kind == "reordered") reordered_.push_back(e);
    if (const std::uint64_t serial = serial_of(e.words); serial != 0)
      cable_.try_emplace({e.node, serial}, std::move(e));
  }
}

const EventRow* Rows::cable(const std::string& sender, std::uint64_t serial) const {
  const auto found = cable_.find({sender, serial});
  return found != cable_.end() ? &found->second : nullptr;
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
        "SELECT id, text, posted_ps, polled_ps, first_event, last_event FROM requests WHERE posted_ps IS NOT NULL AND "
        "polled_ps IS NOT NULL AND "
        "(id >> 54 & 15) = 0 ORDER BY id");
    std::vector<RequestRow> found;
    while (row.step()) {
      found.push_back({row.number(0), row.text(1), time_of(row, 2), time_of(row, 3), row.number(4), row.number(5)});
      if (found.back().posted_ps > found.back().polled_ps) {
        throw SqliteError("request " + found.back().text + ": ends before it begins");
      }
    }
    return found;
  });
}

std::vector<EventRow> Rows::events(const std::string& condition) const {
  return reading([&] {
    SqliteStatement row = database_.prepare(
        "SELECT id, time_ps, node, place, kind, words, request, offset, qpn, bytes FROM events WHERE " + condition +
        " ORDER BY id");
    std::vector<EventRow> found;
    while (row.step()) {
      EventRow e{row.number(0), time_of(row, 1), row.text(2), row.text(3), row.text(4), row.text(5), {}, {}, {}, {}};
      if (!row.is_null(6)) e.request = row.number(6);
      if (!row.is_null(7)) e.offset = row.number(7);
      if (!row.is_null(8)) e.qpn = row.number(8);
      if (!row.is_null(9)) e.bytes = octets_of(row, 9);
      found.push_back(std::move(e));
    }
    return found;
  });
}

std::vector<TlpRow> Rows::tlps(const std::string& node, std::uint64_t first, std::uint64_t last) const {
  return reading([&] {
    SqliteStatement row = database_.prepare(
        "SELECT time_ps, (type = 'write') + 2 * (type = 'completion') + 3 * (type = 'config'), place = "
        "'pcie.upstream', tag, bytes, request FROM tlps WHERE node = ? AND id BETWEEN ? AND ? ORDER BY id");
    row.bind(1, node);
    row.bind(2, first);
    row.bind(3, last);
    std::vector<TlpRow> found;
    while (row.step()) {
      const auto number = [&row](int column) { return row.is_null(column) ? 0 : row.number(column); };
      found.push_back({time_of(row, 0),
                       TlpRow::Type(number(1) & 3),
                       number(2) != 0,
                       number(3),
                       row.is_null(4) ? 0 : octets_of(row, 4),
                       {}});
      if (!row.is_null(5)) found.back().request = row.number(5);
    }
    return found;
  });
}

std::optional<ReceiveRow> Rows::receive_of(const RequestRow& send, const std::string& receiver) const {
  return reading([&]() -> std::optional<ReceiveRow> {
    SqliteStatement row = database_.prepare(
        "SELECT r.text, r.posted_ps, (SELECT max(f.time_ps) FROM events f WHERE f.kind = 'wqe_fetched' AND f.request = "
        "r.id AND f.id BETWEEN r.first_event AND r.last_event) FROM events e JOIN requests r ON r.id = e.receive WHERE "
        "e.request = ? AND e.node = ? AND e.id BETWEEN ? AND ? LIMIT 1");
    row.bind(1, send.number);
    row.bind(2, receiver);
    row.bind(3, send.first_event);
    row.bind(4, send.last_event);
    if (!row.step() || row.is_null(1) || row.is_null(2)) return std::nullopt;
    return ReceiveRow{row.text(0), time_of(row, 1), time_of(row, 2)};
  });
}

// Unsignaled ones are complete with a later one of their queue; queues have numbers 2^28 apart.
std::vector<RequestRow> Rows::unfinished(bool receives) const {
  return reading([&] {
    SqliteStatement row = database_.prepare(
        "SELECT min(id), text, posted_ps, first_event, last_event FROM requests r WHERE posted_ps IS NOT NULL AND "
        "polled_ps IS NULL AND ((id >> 54 & 15) = 0) = ? AND NOT EXISTS (SELECT 1 FROM requests o WHERE o.id > r.id "
        "AND "
        "o.id >> 28 = r.id >> 28 AND o.polled_ps IS NOT NULL) GROUP BY id >> 28 ORDER BY posted_ps, id");
    row.bind(1, std::uint64_t{!receives});
    std::vector<RequestRow> found;
    while (row.step()) found.push_back({row.number(0), row.text(1), time_of(row, 2), 0, row.number(3), row.number(4)});
    return found;
  });
}

std::optional<RequestRow> Rows::request(std::uint64_t number) const {
  return reading([&]() -> std::optional<RequestRow> {
    SqliteStatement row =
        database_.prepare("SELECT id, text, posted_ps, polled_ps, first_event, last_event FROM requests WHERE id = ?");
    row.bind(1, number);
    if (!row.step()) return std::nullopt;
    const auto time = [&row](int column) { return row.is_null(column) ? 0 : time_of(row, column); };
    return RequestRow{row.number(0), row.text(1), time(2), time(3), row.number(4), row.number(5)};
  });
}

}  // namespace rnic::why

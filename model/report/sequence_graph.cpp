#include "model/report/sequence_graph.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "model/capture/segment.h"

namespace rnic::report {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostConnections = 16;
// Per direction: for the four busiest connections, and for others. A chart has some 1,000 pixels.
constexpr std::size_t kMostLines = 400, kFewerLines = 150;
constexpr std::size_t kMostAcks = 250, kFewerAcks = 100;

// Consecutive octets or chunks, sent close in time.
struct Line {
  std::uint64_t from_ns, to_ns;
  std::int64_t begin, end;
  bool again;
};

struct Ack {
  std::uint64_t ns;
  std::int64_t acknowledged, window_end;
};

// One side's data, and the other side's acknowledgements.
struct Direction {
  std::uint32_t first = 0;  // sequence number of the first octet, or chunk
  bool known = false;
  int window_shift = 0;  // of the side that acknowledges
  std::int64_t end = 0;  // of the data sent
  std::uint64_t octets = 0, segments = 0, retransmissions = 0;
  std::vector<Line> lines;
  std::vector<Ack> acks;  // every ack_step-th
  std::uint64_t ack_count = 0, ack_step = 1;
  Ack last_ack{};
  std::uint64_t close_ns = 0;  // closer lines are joined

  // The position near `end`, since no window is far from it.
  std::int64_t position(std::uint32_t sequence) const {
    return end + static_cast<std::int32_t>(sequence - first - static_cast<std::uint32_t>(end));
  }
  void begin(std::uint32_t sequence) { first = sequence, known = true; }
  // `length` sequence numbers from `sequence` on, with `bytes` octets.
  void data(std::uint64_t ns, std::uint32_t sequence, std::size_t length, std::size_t bytes);
  void ack(std::uint64_t ns, std::uint32_t number, std::uint32_t window);
  void thin(std::size_t most);
  void thin_acks();
};

void join(std::vector<Line>& lines, const Line& next, std::uint64_t close_ns) {
  Line* last = lines.empty() ? nullptr : &lines.back();
  if (last != nullptr && !last->again && !next.again && last->end == next.begin &&
      next.to_ns - last->from_ns <= close_ns) {
    last->to_ns = next.to_ns;
    last->end = next.end;
  } else {
    lines.push_back(next);
  }
}

void Direction::data(std::uint64_t ns, std::uint32_t sequence, std::size_t length, std::size_t bytes) {
  if (!known) begin(sequence);
  const std::int64_t begin = position(sequence);
  const std::int64_t stop = begin + static_cast<std::int64_t>(length);
  const bool again = begin < end;
  ++segments;
  octets += bytes;
  retransmissions += again ? 1 : 0;
  end = std::max(end, stop);
  join(lines, {ns, ns, begin, stop, again}, close_ns);
  if (lines.size() >= 4 * kMostLines) thin(2 * kMostLines);
}

void Direction::ack(std::uint64_t ns, std::uint32_t number, std::uint32_t window) {
  if (!known) return;
  const std::int64_t at = position(number);
  last_ack = {ns, at, at + (static_cast<std::int64_t>(window) << window_shift)};
  if (ack_count++ % ack_step == 0) acks.push_back(last_ack);
  if (acks.size() >= 4 * kMostAcks) thin_acks();
}

// Drops every other one, and later ones likewise, for a uniform density.
void Direction::thin_acks() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < acks.size(); i += 2) acks[kept++] = acks[i];
  acks.resize(kept);
  ack_step *= 2;
}

// Makes room: drops every other retransmission until the rest fit, then doubles the distance at which lines are joined.
// Retransmissions keep their neighbours apart, so they get half of the room.
void Direction::thin(std::size_t most) {
  const auto is_again = [](const Line& l) { return l.again; };
  while (static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), is_again)) > most / 2) {
    bool keep = false;
    const auto goes = [&](const Line& l) { return l.again && (keep = !keep); };
    lines.erase(std::remove_if(lines.begin(), lines.end(), goes), lines.end());
  }
  constexpr std::uint64_t kFarthest = 1'000'000'000'000;
  while (lines.size() > most && close_ns < kFarthest) {
    close_ns = close_ns == 0 ? 100 : 2 * close_ns;
    std::vector<Line> joined;
    for (const Line& l : lines) join(joined, l, close_ns);
    lines = std::move(joined);
  }
}

std::int64_t signed_(std::uint64_t ns) { return static_cast<std::int64_t>(ns); }

// Rows of numbers by column, each number as the difference from the one before it: small, and much alike.
class Columns {
 public:
  explicit Columns(std::size_t columns) : last_(columns), deltas_(columns, ordered_json::array()) {}
  // The first of `row`, if it has more numbers than there are columns.
  void add(std::initializer_list<std::int64_t> row) {
    for (std::size_t i = 0; i < last_.size(); ++i) {
      const std::int64_t value = row.begin()[i];
      deltas_[i].push_back(value - std::exchange(last_[i], value));
    }
  }
  ordered_json json() { return std::move(deltas_); }

 private:
  std::vector<std::int64_t> last_;
  std::vector<ordered_json> deltas_;
};

struct Conversation {
  capture::Endpoint initiator, responder;
  bool sctp = false;
  std::array<Direction, 2> from{};  // from the initiator, from the responder
  std::uint64_t octets() const { return from[0].octets + from[1].octets; }
};

class Conversations {
 public:
  void segment(const capture::Segment& s, std::uint64_t ns) {
    const bool syn = s.header.has(wire::TcpHeader::kSyn);
    const bool opens = syn && !s.header.has(wire::TcpHeader::kAck);
    Conversation& c = conversation(false, s.src, s.dst, opens, s.header.seq + 1);
    Direction& out = from(c, s.src);
    Direction& in = from(c, s.dst);
    if (syn) {
      out.begin(s.header.seq + 1);
      in.window_shift = s.header.options.window_scale.value_or(0);
    } else if (s.bytes() != 0) {
      out.data(ns, s.header.seq, s.bytes(), s.bytes());
    }
    if (s.header.has(wire::TcpHeader::kAck)) in.ack(ns, s.header.ack, s.header.window);
  }

  void packet(const capture::SctpPacket& p, std::uint64_t ns) {
    if (!p.checksum_ok) return;
    wire::SctpChunks chunks(p.chunks);
    while (const auto chunk = chunks.next()) {
      const bool opens = chunk->type == wire::SctpChunkType::kInit;
      if (opens || chunk->type == wire::SctpChunkType::kInitAck) {
        const auto init = wire::SctpInit::parse(chunk->value);
        if (init) from(conversation(true, p.src, p.dst, opens, init->initial_tsn), p.src).begin(init->initial_tsn);
      } else if (chunk->type == wire::SctpChunkType::kData) {
        const auto data = wire::SctpData::parse(chunk->value);
        if (!data) continue;
        from(conversation(true, p.src, p.dst), p.src)
            .data(ns, data->tsn, 1, wire::SctpData::user_data(chunk->value).size());
      } else if (chunk->type == wire::SctpChunkType::kSack) {
        const auto sack = wire::SctpSackView::parse(chunk->value);
        if (sack) from(conversation(true, p.src, p.dst), p.dst).ack(ns, sack->header.cumulative_tsn + 1, 0);
      }
    }
  }

  ordered_json json() {
    std::stable_sort(list_.begin(), list_.end(),
                     [](const Conversation& a, const Conversation& b) { return a.octets() > b.octets(); });
    ordered_json connections = ordered_json::array();
    const std::size_t shown = std::min(list_.size(), kMostConnections);
    for (std::size_t i = 0; i < shown; ++i) {
      Conversation& c = list_[i];
      const std::string ends[] = {to_string(c.initiator), to_string(c.responder)};
      ordered_json directions = ordered_json::array();
      for (int d = 0; d < 2; ++d) {
        const std::string name = ends[d] + " to " + ends[1 - d] + (c.sctp ? " (SCTP)" : "");
        const bool busy = i < 4;
        directions.push_back(
            json_of(c.from[d], name, c.sctp, busy ? kMostLines : kFewerLines, busy ? kMostAcks : kFewerAcks));
      }
      connections.push_back({{"name", ends[0] + " and " + ends[1]}, {"directions", directions}});
    }
    return {{"connections", connections}, {"left_out", list_.size() - shown}};
  }

 private:
  // The conversation between these ends; a new one for new ends, or if one opens with another first number.
  Conversation& conversation(bool sctp, const capture::Endpoint& src, const capture::Endpoint& dst, bool opens = false,
                             std::uint32_t first = 0) {
    const auto ends = std::minmax(src, dst);
    const auto [at, is_new] = current_.try_emplace({sctp, ends.first, ends.second}, list_.size());
    if (!is_new && opens && list_[at->second].initiator == src && list_[at->second].from[0].first == first)
      opens = false;
    if (is_new || opens) {
      at->second = list_.size();
      list_.push_back({src, dst, sctp});
    }
    return list_[at->second];
  }
  static Direction& from(Conversation& c, const capture::Endpoint& sender) {
    return c.from[sender == c.initiator ? 0 : 1];
  }

  static ordered_json json_of(Direction& d, const std::string& name, bool sctp, std::size_t most_lines,
                              std::size_t most_acks) {
    if (d.lines.size() > most_lines) d.thin(most_lines);
    while (d.acks.size() > most_acks) d.thin_acks();
    if (!d.acks.empty() && d.acks.back().ns != d.last_ack.ns) d.acks.push_back(d.last_ack);
    Columns data(5), acks(sctp ? 2 : 3);
    for (const Line& l : d.lines) data.add({signed_(l.from_ns), signed_(l.to_ns), l.begin, l.end, l.again ? 1 : 0});
    for (const Ack& a : d.acks) acks.add({signed_(a.ns), a.acknowledged, a.window_end});
    return {{"name", name},
            {"unit", sctp ? "TSN" : "octet"},
            {"octets", d.octets},
            {"segments", d.segments},
            {"retransmissions", d.retransmissions},
            {"joined_ns", d.close_ns},
            {"data", data.json()},
            {"acks", acks.json()}};
  }

  std::vector<Conversation> list_;
  std::map<std::tuple<bool, capture::Endpoint, capture::Endpoint>, std::size_t> current_;  // bool: SCTP
};

}  // namespace

ordered_json sequence_graph(const std::string& capture) {
  capture::CaptureReader reader(capture);
  capture::UndecodedList undecoded;
  Conversations conversations;
  while (const auto frame = reader.next(undecoded)) {
    const capture::FrameResult result = read_frame(*frame, true);
    if (result.fate == capture::FrameFate::kSegment) conversations.segment(result.segment, frame->at.time_ns);
    if (result.fate == capture::FrameFate::kSctp) conversations.packet(result.packet, frame->at.time_ns);
  }
  return conversations.json();
}

}  // namespace rnic::report

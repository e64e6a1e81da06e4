#include "model/trace/perfetto.h"

#include <algorithm>
#include <cstring>

namespace rnic {
namespace {

// Fields of perfetto's protos/perfetto/trace: trace.proto, trace_packet.proto and track_event/*.proto.
namespace trace {
constexpr unsigned kPacket = 1;
}
namespace packet {
constexpr unsigned kTimestamp = 8, kSequenceId = 10, kTrackEvent = 11, kInternedData = 12, kSequenceFlags = 13,
                   kTrackDescriptor = 60;
constexpr unsigned kStateCleared = 1, kNeedsState = 2;  // SequenceFlags
}  // namespace packet
namespace descriptor {
constexpr unsigned kUuid = 1, kName = 2, kProcess = 3, kParentUuid = 5, kCounter = 8;
constexpr unsigned kPid = 1, kProcessName = 6;  // ProcessDescriptor
constexpr unsigned kUnitName = 6;               // CounterDescriptor
}  // namespace descriptor
namespace track_event {
constexpr unsigned kAnnotations = 4, kType = 9, kNameIid = 10, kTrackUuid = 11, kName = 23, kCounterValue = 30,
                   kDoubleCounterValue = 44, kFlowIds = 47;
enum Type : unsigned { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };
constexpr unsigned kAnnotationIid = 1, kAnnotationNumber = 3, kAnnotationText = 6;  // DebugAnnotation
}  // namespace track_event
namespace interned {
constexpr unsigned kEventNames = 2, kAnnotationNames = 3, kIid = 1, kName = 2;
}

constexpr unsigned kSequence = 1;
constexpr std::uint64_t kRateIntervalPs = 1'000'000;

// Interned ids of the names of an event's annotations.
enum Annotation : unsigned { kRequest = 1, kFlow, kQpn, kBytes, kReceive, kAddress, kTag, kWords, kPicoseconds };
constexpr const char* kAnnotationNames[] = {"request", "flow", "qpn",   "bytes", "receive",
                                            "address", "tag",  "words", "ps"};

unsigned iid_of(TraceKind kind) { return static_cast<unsigned>(kind) + 1; }  // 0 is none

}  // namespace

namespace {

constexpr std::size_t kMostOfVarint = 10;

std::uint8_t* put_varint(std::uint8_t* to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<std::uint8_t>(value | 0x80);
  *to++ = static_cast<std::uint8_t>(value);
  return to;
}

}  // namespace

std::uint8_t* ProtoMessage::room(std::size_t octets) {
  if (octets_.size() < used_ + octets) octets_.resize(2 * (used_ + octets));
  return octets_.data() + used_;
}

void ProtoMessage::number(unsigned field, std::uint64_t value) {
  end_at(put_varint(put_varint(room(2 * kMostOfVarint), field << 3), value));
}

void ProtoMessage::fixed(unsigned field, std::uint64_t value) {
  std::uint8_t* to = put_varint(room(kMostOfVarint + 8), field << 3 | 1);
  for (unsigned i = 0; i < 8; ++i) *to++ = static_cast<std::uint8_t>(value >> 8 * i);
  end_at(to);
}

void ProtoMessage::real(unsigned field, double value) {
  std::uint64_t bits;
  static_assert(sizeof bits == sizeof value);
  std::memcpy(&bits, &value, sizeof bits);
  fixed(field, bits);
}

void ProtoMessage::text(unsigned field, std::string_view value) {
  bytes(field, {reinterpret_cast<const std::uint8_t*>(value.data()), value.size()});
}

void ProtoMessage::bytes(unsigned field, ByteSpan value) {
  std::uint8_t* const to = put_varint(put_varint(room(2 * kMostOfVarint + value.size()), field << 3 | 2), value.size());
  end_at(std::copy(value.begin(), value.end(), to));
}

PerfettoTrace::PerfettoTrace(const std::string& file, std::vector<std::string> nodes, EventWords words)
    : file_(file),
      nodes_(std::move(nodes)),
      words_(std::move(words)),
      places_(nodes_.size()),
      place_names_(nodes_.size()),
      sending_(nodes_.size()) {
  put_begin_of_file();
}

void PerfettoTrace::put(std::uint64_t ps, unsigned field, const ProtoMessage& content) {
  packet_.clear();
  packet_.number(packet::kTimestamp, ps / 1000);
  packet_.number(packet::kSequenceId, kSequence);
  packet_.number(packet::kSequenceFlags, packet::kNeedsState);
  packet_.message(field, content);
  trace_.message(trace::kPacket, packet_);
}

// Writes the names that later packets refer to by number, and the nodes.
void PerfettoTrace::put_begin_of_file() {
  ProtoMessage names, name;
  const auto intern = [&](unsigned field, unsigned iid, const char* text) {
    name.clear();
    name.number(interned::kIid, iid);
    name.text(interned::kName, text);
    names.message(field, name);
  };
  for (unsigned kind = 0; kind < kTraceKinds; ++kind) {
    intern(interned::kEventNames, iid_of(static_cast<TraceKind>(kind)), to_string(static_cast<TraceKind>(kind)));
  }
  for (unsigned a = 0; a < std::size(kAnnotationNames); ++a) {
    intern(interned::kAnnotationNames, a + 1, kAnnotationNames[a]);
  }
  packet_.number(packet::kSequenceId, kSequence);
  packet_.number(packet::kSequenceFlags, packet::kStateCleared);
  packet_.message(packet::kInternedData, names);
  trace_.message(trace::kPacket, packet_);
  for (const std::string& node : nodes_) {
    ProtoMessage process, track;
    process.number(descriptor::kPid, tracks_ + 1);
    process.text(descriptor::kProcessName, node);
    track.number(descriptor::kUuid, ++tracks_);
    track.message(descriptor::kProcess, process);
    put(0, packet::kTrackDescriptor, track);
  }
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    rates_.push_back(new_track(node, "frames sent", true, "Gbit/s"));
  }
}

std::uint64_t PerfettoTrace::new_track(std::uint32_t node, const std::string& name, bool counts, const char* unit) {
  ProtoMessage track;
  track.number(descriptor::kUuid, ++tracks_);
  track.number(descriptor::kParentUuid, node + 1);
  track.text(descriptor::kName, name);
  if (counts) {
    ProtoMessage counter;
    if (*unit != 0) counter.text(descriptor::kUnitName, unit);
    track.message(descriptor::kCounter, counter);
  }
  put(0, packet::kTrackDescriptor, track);
  return tracks_;
}

// Equal names may have different addresses.
std::uint64_t PerfettoTrace::place_track(const TimedEvent& t) {
  const auto [known, is_new] = places_[t.node].try_emplace(t.event.where, 0);
  if (!is_new) return known->second;
  std::uint64_t& track = place_names_[t.node][t.event.where];
  if (track == 0) track = new_track(t.node, t.event.where, false);
  return known->second = track;
}

const PerfettoTrace::Request& PerfettoTrace::note(const TimedEvent& t) {
  const auto [index, is_new] = request_index_.try_emplace(numbers_.of(t.event.request), requests_.size());
  if (is_new) requests_.push_back({t.event.request.text(nodes_), t.ps, t.ps, t.node});
  requests_[index->second].last_ps = t.ps;
  return requests_[index->second];
}

// An interval's rate is at the interval's beginning; a zero follows the last interval before a pause.
void PerfettoTrace::end_interval(std::uint32_t node) {
  Sending& s = sending_[node];
  const auto rate = [&](std::uint64_t interval, double gbps) {
    event_.clear();
    event_.number(track_event::kType, track_event::kCounter);
    event_.number(track_event::kTrackUuid, rates_[node]);
    event_.real(track_event::kDoubleCounterValue, gbps);
    put(interval * kRateIntervalPs, packet::kTrackEvent, event_);
  };
  if (s.bytes == 0) return;
  rate(s.interval, 8e3 * static_cast<double>(s.bytes) / kRateIntervalPs);
  rate(s.interval + 1, 0);
  s.bytes = 0;
}

void PerfettoTrace::count_sent(const TimedEvent& t) {
  Sending& s = sending_[t.node];
  if (const std::uint64_t interval = t.ps / kRateIntervalPs; interval != s.interval) {
    end_interval(t.node);
    s.interval = interval;
  }
  s.bytes += t.event.bytes;
}

void PerfettoTrace::add(const TimedEvent& t) {
  const TraceEvent& e = t.event;
  const std::uint64_t track = place_track(t);
  event_.clear();
  event_.number(track_event::kType, track_event::kInstant);
  event_.number(track_event::kTrackUuid, track);
  event_.number(track_event::kNameIid, iid_of(e.kind));
  if (e.request) event_.fixed(track_event::kFlowIds, numbers_.of(e.request));
  const auto annotate = [this](unsigned name, auto put_value) {
    annotation_.clear();
    annotation_.number(track_event::kAnnotationIid, name);
    put_value(annotation_);
    event_.message(track_event::kAnnotations, annotation_);
  };
  const auto number = [&](unsigned name, bool is_known, std::uint64_t value) {
    if (is_known) annotate(name, [value](ProtoMessage& m) { m.number(track_event::kAnnotationNumber, value); });
  };
  const auto text = [&](unsigned name, const std::string& value) {
    if (!value.empty()) annotate(name, [&value](ProtoMessage& m) { m.text(track_event::kAnnotationText, value); });
  };
  if (e.request) text(kRequest, note(t).text);
  number(kFlow, e.flow != kNoFlow, e.flow.v);
  number(kQpn, e.qpn != TraceEvent::kNone, e.qpn);
  number(kBytes, e.bytes != TraceEvent::kNone, e.bytes);
  text(kReceive, e.receive.text(nodes_));
  number(kAddress, e.has_address(), e.address());
  number(kTag, e.has_tag(), e.tag());
  if (!is_tlp(e.kind)) text(kWords, words_(e));
  number(kPicoseconds, t.ps % 1000 != 0, t.ps);
  put(t.ps, packet::kTrackEvent, event_);
  if (e.kind == TraceKind::kFrameSent || e.kind == TraceKind::kRetransmitted) count_sent(t);
}

void PerfettoTrace::events(const std::vector<TimedEvent>& batch) {
  for (const TimedEvent& t : batch) add(t);
  file_.write(trace_.octets());
  trace_.clear();
}

// Puts each request on the first track of its node that is free then. Slices of a track do not overlap.
void PerfettoTrace::put_requests() {
  struct Lane {
    std::uint64_t track, free_ps;
  };
  std::vector<std::vector<Lane>> lanes(nodes_.size());
  for (const Request& r : requests_) {
    std::vector<Lane>& of_node = lanes[r.node];
    auto lane = std::find_if(of_node.begin(), of_node.end(), [&](const Lane& l) { return l.free_ps <= r.first_ps; });
    if (lane == of_node.end()) {
      const std::string name = "requests " + std::to_string(of_node.size());
      lane = of_node.insert(lane, {new_track(r.node, name, false), 0});
    }
    lane->free_ps = r.last_ps + 1000;
    event_.clear();
    event_.number(track_event::kType, track_event::kSliceBegin);
    event_.number(track_event::kTrackUuid, lane->track);
    event_.text(track_event::kName, r.text);
    put(r.first_ps, packet::kTrackEvent, event_);
    event_.clear();
    event_.number(track_event::kType, track_event::kSliceEnd);
    event_.number(track_event::kTrackUuid, lane->track);
    put(r.last_ps, packet::kTrackEvent, event_);
  }
}

void PerfettoTrace::put_requests_under_way() {
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    std::vector<std::pair<std::uint64_t, int>> changes;  // time, increment
    for (const Request& r : requests_) {
      if (r.node != node) continue;
      changes.emplace_back(r.first_ps, 1);
      changes.emplace_back(r.last_ps, -1);
    }
    if (changes.empty()) continue;
    std::sort(changes.begin(), changes.end());
    const std::uint64_t track = new_track(node, "requests under way", true);
    std::uint64_t under_way = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      under_way += static_cast<std::uint64_t>(static_cast<std::int64_t>(changes[i].second));
      if (i + 1 < changes.size() && changes[i + 1].first == changes[i].first) continue;
      event_.clear();
      event_.number(track_event::kType, track_event::kCounter);
      event_.number(track_event::kTrackUuid, track);
      event_.number(track_event::kCounterValue, under_way);
      put(changes[i].first, packet::kTrackEvent, event_);
    }
  }
}

void PerfettoTrace::close() {
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) end_interval(node);
  put_requests();
  put_requests_under_way();
  file_.write(trace_.octets());
  trace_.clear();
  file_.close();
}

}  // namespace rnic

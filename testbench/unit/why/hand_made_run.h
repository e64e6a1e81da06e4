// A run's database, made by hand: what a rule needs, and nothing else.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include "model/trace/database.h"
#include "model/why/why.h"

namespace rnic::test {

// What an event is about.
struct At {
  RequestId request{};
  const char* words = "";
  std::uint32_t offset = TraceEvent::kNone, bytes = TraceEvent::kNone;
  const char* where = "stage";
  RequestId receive{};
  std::uint32_t tag = 0;
  std::uint32_t qpn = TraceEvent::kNone;
};
// Of TCP.
struct Segment {
  std::uint32_t seq = 0, ack = 0, payload = 0, offset = TraceEvent::kNone;
  std::uint8_t flags = 16;
  const char* swallowed = "";
};

// Nodes "a" and "b". Times are in ns.
class HandMadeRun {
 public:
  enum Node : std::uint32_t { kA, kB };
  HandMadeRun() { fact("end", "done"); }
  ~HandMadeRun() { std::remove(file_.c_str()); }
  HandMadeRun(const HandMadeRun&) = delete;
  HandMadeRun& operator=(const HandMadeRun&) = delete;

  static RequestId send(Node node, std::uint64_t n, std::uint32_t qp = 0) {
    return {node + 1u, RequestId::Kind::kSend, qp, 0, n};
  }
  static RequestId receive(Node node, std::uint64_t n) { return {node + 1u, RequestId::Kind::kReceive, 0, 0, n}; }

  // In place of an earlier value.
  void fact(const std::string& name, const std::string& value) {
    facts_.erase(std::remove_if(facts_.begin(), facts_.end(),
                                [&](const RunFact& f) { return f.node.empty() && f.name == name; }),
                 facts_.end());
    facts_.push_back({"", name, value});
  }
  void setting(const char* node, const std::string& name, std::uint64_t value) {
    facts_.push_back({node, name, std::to_string(value)});
  }
  void event(std::uint64_t ns, Node node, TraceKind kind, const At& at = {}) {
    TimedEvent t{ns * 1000, node, {}};
    t.event.where = at.where;
    t.event.kind = kind;
    t.event.text = at.words;
    t.event.request = at.request;
    t.event.receive = at.receive;
    t.event.offset = at.offset;
    t.event.bytes = at.bytes;
    t.event.qpn = at.qpn;
    t.event.set_tag(at.tag);
    events_.push_back(t);
  }
  // The next frame of the capture, which arrives then, or would; its number.
  std::uint64_t frame(std::uint64_t ns, std::optional<std::uint32_t> sender, RequestId request, const Segment& s) {
    FrameRecord f;
    f.number = frames_.size() + 1;
    f.ps = ns * 1000;
    f.sender = sender;
    f.bytes = 54 + s.payload;
    f.request = request;
    f.tcp = FrameRecord::Segment{s.seq, s.ack, s.payload, s.flags};
    f.serial = sender ? ++serials_[*sender] : 0;
    f.offset = s.offset;
    f.swallowed = s.swallowed;
    frames_.push_back(f);
    return f.number;
  }

  // An RDMA Write of one segment that takes 1,000 ns: octets 100 n to 100 n + 99 of a's stream.
  void write(std::uint32_t n, std::uint64_t ns, std::uint64_t poll_ns = 20) {
    const RequestId id = send(kA, n);
    event(ns, kA, TraceKind::kPosted, {id});
    event(ns + 100, kA, TraceKind::kWqeFetched, {id, "write"});
    event(ns + 120, kA, TraceKind::kSegmented, {id, "", 0, 100});
    event(ns + 140, kA, TraceKind::kPayloadRead, {id, "", 0, 100});
    event(ns + 160, kA, TraceKind::kFpduSent, {id, "", 0});
    event(ns + 180, kA, TraceKind::kFrameSent, {id, "", 0, 154});
    frame(ns + 500, kA, id, {100 * n, 7, 100, 0});
    event(ns + 500, kB, TraceKind::kFrameReceived, {id, "", 0, 154});
    event(ns + 550, kB, TraceKind::kPlaced, {id, "", TraceEvent::kNone, 100});
    frame(ns + 900, kB, {}, {7, 100 * n + 100});
    event(ns + 900, kA, TraceKind::kFrameReceived, {});
    event(ns + 920, kA, TraceKind::kCompleted, {id, "", TraceEvent::kNone, 100});
    event(ns + 1000 - poll_ns, kA, TraceKind::kCqeWritten, {id});
    event(ns + 1000, kA, TraceKind::kPolled, {id});
  }

  why::Report explain(const std::string& request = "") {
    std::stable_sort(events_.begin(), events_.end(),
                     [](const TimedEvent& a, const TimedEvent& b) { return a.ps < b.ps; });
    Database database(file_, {"a", "b"}, [](const TraceEvent& e) { return std::string(e.text); });
    database.events(events_);
    for (const FrameRecord& f : frames_) database.frame(f);
    database.close(facts_);
    return why::explain(file_, request);
  }
  // The first of a kind.
  why::Answer answer(why::Symptom symptom) {
    for (why::Answer& a : explain().answers) {
      if (a.symptom == symptom) return std::move(a);
    }
    ADD_FAILURE() << "no such symptom";
    return {};
  }
  // "setting tags: …"; empty without a cause.
  std::string cause(why::Symptom symptom) { return text_of(answer(symptom)); }
  static std::string text_of(const why::Answer& a) {
    return a.cause ? std::string(to_string(a.cause->end)) + " " + a.cause->kind + ": " + a.cause->text : "";
  }

 private:
  const std::string file_ = testing::TempDir() + "rnic_why_" + std::to_string(::getpid()) + ".sqlite";
  std::vector<TimedEvent> events_;
  std::vector<FrameRecord> frames_;
  std::vector<RunFact> facts_;
  std::uint32_t serials_[2] = {};
};

inline constexpr HandMadeRun::Node a = HandMadeRun::kA, b = HandMadeRun::kB;

}  // namespace rnic::test

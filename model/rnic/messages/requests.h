// Read and Atomic Requests on their way through the responder, and Atomic Responses on their way back. Each is of one
// use of its queue pair's number, `epoch`: nobody takes it for one of a later use.
#pragma once

#include <variant>

#include "model/abi/context_types.h"
#include "model/abi/memory_piece.h"
#include "model/common/ids.h"
#include "model/common/message.h"
#include "model/common/owners.h"
#include "model/common/trace_event.h"
#include "model/rnic/messages/failed_segment.h"
#include "model/rnic/messages/parts.h"
#include "model/wire/rdmap.h"

namespace rnic {

// A Read Request that was delivered in order (RFC 5040 section 5.2).
struct QueuedRead {
  Qpn qpn;
  wire::ReadRequest request;
  FailedSegment segment = {};  // its headers as received, if it must be refused
  std::uint32_t epoch = 0;
  Pdn pd = {};  // its queue pair's
  StagUser user() const { return {qpn, epoch, pd}; }

  static constexpr const char* kMessage = "queued_read";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("request", m.request);
    v("segment", m.segment);
    v("epoch", 32, m.epoch);
    v("pd", m.pd);
  }
};
inline EventUse event_of(const QueuedRead& r, const Owners&, TraceEvent& e) {
  e.qpn = r.qpn.v;
  e.request = r.segment.owner;
  return EventUse::kEvent;
}

// An Atomic Request that was delivered in order (RFC 7306 section 5.2).
struct QueuedAtomic {
  Qpn qpn;
  wire::AtomicRequest request;
  FailedSegment segment = {};
  std::uint32_t epoch = 0;
  Pdn pd = {};
  StagUser user() const { return {qpn, epoch, pd}; }

  static constexpr const char* kMessage = "queued_atomic";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("request", m.request);
    v("segment", m.segment);
    v("epoch", 32, m.epoch);
    v("pd", m.pd);
  }
};
inline EventUse event_of(const QueuedAtomic& a, const Owners&, TraceEvent& e) {
  e.qpn = a.qpn.v;
  e.request = a.segment.owner;
  return EventUse::kEvent;
}

// Both kinds share the queue number 1, its order and the limit of IRD (RFC 7306 section 5.2).
using QueuedRequest = std::variant<QueuedRead, QueuedAtomic>;
inline EventUse event_of(const QueuedRequest& r, const Owners& owners, TraceEvent& e) {
  return std::visit([&](const auto& kind) { return event_of(kind, owners, e); }, r);
}
// Either kind of request. The unused one of `read` and `atomic` is 0.
template <>
struct Message<QueuedRequest> {
  static constexpr const char* kName = "queued_request";
  template <class V>
  static void fields(V& v, const QueuedRequest& m) {
    if (const auto* const read = std::get_if<QueuedRead>(&m)) {
      visit(v, false, *read, read->request, wire::AtomicRequest{});
    } else {
      const auto& atomic = std::get<QueuedAtomic>(m);
      visit(v, true, atomic, wire::ReadRequest{}, atomic.request);
    }
  }
  template <class V>
  static void fields(V& v, QueuedRequest& m) {
    bool is_atomic = false;
    QueuedRead read;
    QueuedAtomic atomic;
    visit(v, is_atomic, read, read.request, atomic.request);
    if (is_atomic) m = QueuedAtomic{read.qpn, atomic.request, read.segment, read.epoch, read.pd};
    else m = read;
  }

 private:
  template <class V, class Flag, class Either, class Read, class Atomic>
  static void visit(V& v, Flag&& is_atomic, Either& either, Read&& read, Atomic&& atomic) {
    v("is_atomic", 1, is_atomic);
    v("qpn", either.qpn);
    v("read", read);
    v("atomic", atomic);
    v("segment", either.segment);
    v("epoch", 32, either.epoch);
    v("pd", either.pd);
  }
};

inline Qpn qpn_of(const QueuedRequest& r) {
  return std::visit([](const auto& request) { return request.qpn; }, r);
}
inline std::uint32_t epoch_of(const QueuedRequest& r) {
  return std::visit([](const auto& request) { return request.epoch; }, r);
}
inline const FailedSegment& segment_of(const QueuedRequest& r) {
  return std::visit([](const auto& request) -> const FailedSegment& { return request.segment; }, r);
}

// A validated Read Request, to be answered with a Read Response.
struct ReadWork {
  Qpn qpn;
  wire::ReadRequest request;
  FailedSegment segment = {};  // its headers as received, if its source is revoked before everything is sent
  std::uint32_t epoch = 0;

  static constexpr const char* kMessage = "read_work";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("request", m.request);
    v("segment", m.segment);
    v("epoch", 32, m.epoch);
  }
};
inline EventUse event_of(const ReadWork& r, const Owners&, TraceEvent& e) {
  e.qpn = r.qpn.v;
  e.bytes = r.request.size;
  e.request = r.segment.owner;
  return EventUse::kEvent;
}
// An atomic that was executed and whose result is in memory, to be answered with an Atomic Response.
struct AtomicWork {
  Qpn qpn;
  wire::AtomicResponse response;
  RequestId owner = {};  // on no pins
  std::uint32_t epoch = 0;

  static constexpr const char* kMessage = "atomic_work";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("response", m.response);
    v("epoch", 32, m.epoch);
  }
};
inline EventUse event_of(const AtomicWork& a, const Owners&, TraceEvent& e) {
  e.qpn = a.qpn.v;
  e.request = a.owner;
  return EventUse::kEvent;
}
// The last FPDU of a response was passed on: the IRRQ slot is free (choices.md 17).
struct ReadResponseSent {
  Qpn qpn;
  std::uint32_t epoch = 0;

  static constexpr const char* kMessage = "read_response_sent";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("epoch", 32, m.epoch);
  }
};

// An Atomic Response to a request of ours, delivered in order.
struct DeliveredAtomic {
  Qpn qpn;
  wire::AtomicResponse response;
  FailedSegment segment = {};
  std::uint32_t epoch = 0;
  Pdn pd = {};

  static constexpr const char* kMessage = "delivered_atomic";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("qpn", m.qpn);
    v("response", m.response);
    v("segment", m.segment);
    v("epoch", 32, m.epoch);
    v("pd", m.pd);
  }
};
inline EventUse event_of(const DeliveredAtomic& a, const Owners&, TraceEvent& e) {
  e.qpn = a.qpn.v;
  e.request = a.segment.owner;
  return EventUse::kEvent;
}

}  // namespace rnic

// The firmware's edge of the lower layers: its operations, and their events. What each of them says is declared in
// model/abi/firmware_operations.h and firmware_events.h, and nowhere else; here it gets the octets that it brings. Each
// that is about a flow has its life: one use of the flow's number, which the lower layer counts. A receiver for which
// that life is over drops it.
//
// TCP: a connection's lower-layer streaming mode (RFC 5044 section 7.1) belongs to the firmware, which reads exactly
// the octets it asks for; TcpEnterRdma then switches the stream at that very octet, in both directions.
//
// SCTP: a flow is a DDP stream, a pair of SCTP streams with the same id (RFC 5043 section 4), and its life is one
// session there: the next life begins after kRestart, or when the association is gone. Only the engine handles
// associations: it opens one for the first stream to a peer's port, and shuts it down after the last session.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

#include "model/abi/firmware_events.h"
#include "model/abi/firmware_operations.h"
#include "model/common/buffer.h"
#include "model/common/cycle.h"
#include "model/common/ids.h"
#include "model/common/value_words.h"

namespace rnic {

namespace fw {
inline const ValueWords& value_words(OpenFailure) {
  static const ValueWords kWords{"none", "refused", "timeout", "no_resources"};
  return kWords;
}
inline const ValueWords& value_words(SctpStreamAction) {
  static const ValueWords kWords{"begin", "open", "discard", "end_run", "restart", "give_back", "abandon", "abort"};
  return kWords;
}
}  // namespace fw

template <class List>
struct OneOf;
template <class... T>
struct OneOf<fw::TypeList<T...>> {
  using Type = std::variant<T...>;
  static ValueWords names() { return {T::kName...}; }
};

// One of the structs of a list.
template <class List>
class Said {
 public:
  enum class Kind : std::uint8_t {};  // the struct's index in the list
  friend const ValueWords& value_words(Kind) {
    static const ValueWords kWords = OneOf<List>::names();
    return kWords;
  }
  template <class T>
  static constexpr Kind kind_of() {
    static_assert(List::template number_of<T>() < List::kSize);
    return static_cast<Kind>(List::template number_of<T>());
  }

  Said() = default;
  template <class T, class = std::enable_if_t<(List::template number_of<std::decay_t<T>>() < List::kSize)>>
  Said(T&& what) : what_(std::forward<T>(what)) {}  // NOLINT: it is that struct

  Kind kind() const { return static_cast<Kind>(what_.index()); }
  const char* name() const {
    return visit([](const auto& what) { return what.kName; });
  }
  template <class T>
  const T* get() const {
    return std::get_if<T>(&what_);
  }
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), what_);
  }

  // Members that most of them have; 0, or no flow, of those that have not.
  FlowId flow() const {
    return member([](const auto& w) -> decltype(w.flow) { return w.flow; }, kNoFlow);
  }
  std::uint16_t life() const {
    return member([](const auto& w) -> decltype(w.life) { return w.life; }, std::uint16_t{0});
  }
  std::uint32_t peer_ip() const {
    return member([](const auto& w) -> decltype(w.peer_ip) { return w.peer_ip; }, 0u);
  }
  std::uint16_t peer_port() const {
    return member([](const auto& w) -> decltype(w.peer_port) { return w.peer_port; }, std::uint16_t{0});
  }
  std::uint16_t port() const {
    return member([](const auto& w) -> decltype(w.port) { return w.port; }, std::uint16_t{0});
  }
  std::uint32_t cookie() const {
    return member([](const auto& w) -> decltype(w.cookie) { return w.cookie; }, 0u);
  }

 protected:
  template <class Read, class Value>
  Value member(Read read, Value without) const {
    return visit([&](const auto& what) -> Value {
      if constexpr (std::is_invocable_v<Read, decltype(what)>) return static_cast<Value>(read(what));
      else return without;
    });
  }
  // The fields of both; locals, as `fields` wants names.
  template <class V>
  void common_fields(V& v) const {
    const Kind kind = this->kind();
    const FlowId flow = this->flow();
    const std::uint16_t life = this->life(), peer_port = this->peer_port(), port = this->port();
    const std::uint32_t peer_ip = this->peer_ip(), cookie = this->cookie();
    v("kind", 5, kind);
    v("flow", flow);
    v("life", 16, life);
    v("peer_ip", 32, peer_ip);
    v("peer_port", 16, peer_port);
    v("port", 16, port);
    v("cookie", 32, cookie);
  }

 private:
  typename OneOf<List>::Type what_;
};

struct LlpOp : Said<fw::LlpOperations> {
  LlpOp() = default;
  template <class T>
  LlpOp(const T& what, BufferRef octets = {}) : Said(what), data(std::move(octets)) {}  // NOLINT: as above
  BufferRef data;  // TcpStreamSend, SctpSend: bytes() octets from its start

  LlpId llp() const {
    return visit([](const auto& op) { return op.kLlp; });
  }
  // Octets to send, or to be read.
  std::uint32_t bytes() const {
    const std::uint32_t to_send =
        member([](const auto& op) -> decltype(op.octets.bytes) { return op.octets.bytes; }, 0u);
    return member([](const auto& op) -> decltype(op.into.bytes) { return op.into.bytes; }, to_send);
  }

  static constexpr const char* kMessage = "llp_op";
  template <class V, class M>
  static void fields(V& v, M& m) {
    const std::uint32_t bytes = m.bytes();
    const auto action =
        m.member([](const auto& op) -> decltype(op.action) { return op.action; }, fw::SctpStreamAction{});
    const auto limits = m.member([](const auto& op) -> decltype(op.limits) { return op.limits; }, abi::TcpLimits{});
    m.common_fields(v);
    v("bytes", 32, bytes);
    v("action", 3, action);
    v("limits", limits);
  }
};

struct LlpEvent : Said<fw::LlpEvents> {
  LlpEvent() = default;
  template <class T>
  LlpEvent(const T& what, Cycle begun = 0, BufferRef octets = {})  // NOLINT: as above
      : Said(what), begun_at(begun), data(std::move(octets)) {}
  // Of a new connection: when its first SYN was sent or arrived. Of a new stream: when it was requested, or when the
  // peer's message arrived.
  Cycle begun_at = 0;
  BufferRef data;  // TcpStreamData: bytes() octets. SctpControl: function code and private data, without the DDP-SSN

  std::uint32_t bytes() const {
    return member([](const auto& e) -> decltype(e.bytes) { return e.bytes; }, 0u);
  }
  // Octets of a TCP segment's payload (RFC 5044 section 4.5), or of a DDP segment that fits one packet.
  std::uint16_t segment_limit() const {
    const std::uint16_t emss = member([](const auto& e) -> decltype(e.emss) { return e.emss; }, std::uint16_t{0});
    return member([](const auto& e) -> decltype(e.mulpdu) { return e.mulpdu; }, emss);
  }
  fw::OpenFailure reason() const {
    return member([](const auto& e) -> decltype(e.reason) { return e.reason; }, fw::OpenFailure::kNone);
  }
  // The chunk is a session Terminate.
  bool terminate() const {
    return member([](const auto& e) -> decltype(e.terminate) { return e.terminate; }, false);
  }

  static constexpr const char* kMessage = "llp_event";
  template <class V, class M>
  static void fields(V& v, M& m) {
    const fw::OpenFailure reason = m.reason();
    const bool terminate = m.terminate();
    const std::uint16_t segment_limit = m.segment_limit();
    const std::uint32_t bytes = m.bytes();
    m.common_fields(v);
    v("reason", 2, reason);
    v("terminate", 1, terminate);
    v("segment_limit", 16, segment_limit);
    v("begun_at", 64, m.begun_at);
    v("bytes", 32, bytes);
  }
};

}  // namespace rnic

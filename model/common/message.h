// What travels on links, field by field: each message describes itself once. Waveforms, the bits of a SystemVerilog
// twin and its package, comparisons of lock-step and co-simulation, and texts are made from this description.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/common/ids.h"
#include "model/common/value_words.h"

namespace rnic {

// A message has
//   static constexpr const char* kMessage = "qp_event";
//   template <class V, class M>
//   static void fields(V& v, M& m);  // M: the message, const or not
// which calls, in the order of the bits of a packed structure, the most significant ones first,
//   v(name, width, number)   for numbers, enumerations and flags, of at most 64 bits
//   v(name, other)           for a message inside, or an Id
//   v.octets(name, array)    for octets, at least 8, of which number i is in bits [8*i +: 8]
//   v.each(name, array)      for messages of one kind, of which number i is at index i
// References to buffers are no fields. A structure defined elsewhere has a specialisation instead.
template <class M, class = void>
struct Message {};
template <class M>
struct Message<M, std::void_t<decltype(M::kMessage)>> {
  static constexpr const char* kName = M::kMessage;
  template <class V, class Self>
  static void fields(V& v, Self& m) {
    M::fields(v, m);
  }
};
template <class M, class = void>
inline constexpr bool kIsMessage = false;
template <class M>
inline constexpr bool kIsMessage<M, std::void_t<decltype(Message<M>::kName)>> = true;

template <class M, class V>
void visit_fields(V& v, M& message) {
  Message<std::remove_const_t<M>>::fields(v, message);
}

// A field that is some bits of a word, to which no reference binds: `set(m, value)` changes it.
template <class V, class M, class T, class Set>
void visit_bits(V& v, const char* name, unsigned width, T value, M& m, Set set) {
  v(name, width, value);
  if constexpr (!std::is_const_v<M>) set(m, value);
}

// Shared by visitors that handle values: how messages are made of numbers. The visitor defines `Visitor::number(width,
// n)` and `Visitor::octets`.
template <class Visitor>
class FieldVisitor {
 public:
  template <class T>
  void operator()(const char*, unsigned width, T& number) {
    self().number(width, number);
  }
  template <class Tag>
  void operator()(const char*, const Id<Tag>& id) {
    self().number(32, id.v);
  }
  template <class Tag>
  void operator()(const char*, Id<Tag>& id) {
    self().number(32, id.v);
  }
  template <class M>
  void operator()(const char*, M& message) {
    visit_fields(self(), message);
  }
  template <class M, std::size_t N>
  void each(const char* name, M (&messages)[N]) {
    for (std::size_t i = N; i-- != 0;) (*this)(name, messages[i]);
  }
  template <class M, std::size_t N>
  void each(const char* name, const std::array<M, N>& messages) {
    for (std::size_t i = N; i-- != 0;) (*this)(name, messages[i]);
  }
  template <class M, std::size_t N>
  void each(const char* name, std::array<M, N>& messages) {
    for (std::size_t i = N; i-- != 0;) (*this)(name, messages[i]);
  }

 private:
  Visitor& self() { return static_cast<Visitor&>(*this); }
};

// A field as a signal, named as on the pins: `event.cause.code`.
struct Signal {
  std::string name;
  unsigned width;                     // bits, at most 64
  const ValueWords* words = nullptr;  // of an enumeration
};

// A signal for each field: `<prefix>.<field>`, octets and messages of an array with their number.
class NameFields {
 public:
  NameFields(std::vector<Signal>& signals, std::string prefix) : signals_(signals), prefix_(std::move(prefix)) {}
  template <class T>
  void operator()(const char* name, unsigned width, const T&) {
    signals_.push_back({path(name), width, words_of<T>()});
  }
  template <class Tag>
  void operator()(const char* name, const Id<Tag>&) {
    signals_.push_back({path(name), 32});
  }
  template <class M>
  void operator()(const char* name, const M& message) {
    inside(path(name), message);
  }
  template <std::size_t N>
  void octets(const char* name, const std::array<std::uint8_t, N>&) {
    for (std::size_t i = 0; i < N; ++i) signals_.push_back({numbered(name, i), 8});
  }
  template <class M, std::size_t N>
  void each(const char* name, const M (&messages)[N]) {
    for (std::size_t i = N; i-- != 0;) inside(numbered(name, i), messages[i]);
  }
  template <class M, std::size_t N>
  void each(const char* name, const std::array<M, N>& messages) {
    for (std::size_t i = N; i-- != 0;) inside(numbered(name, i), messages[i]);
  }

 private:
  std::string path(const char* name) const { return prefix_.empty() ? name : prefix_ + "." + name; }
  std::string numbered(const char* name, std::size_t i) const { return path(name) + "[" + std::to_string(i) + "]"; }
  template <class M>
  void inside(std::string prefix, const M& message) {
    NameFields names(signals_, std::move(prefix));
    visit_fields(names, message);
  }
  std::vector<Signal>& signals_;
  const std::string prefix_;
};
template <class M>
std::vector<Signal> signals_of(const std::string& prefix = "") {
  std::vector<Signal> signals;
  NameFields names(signals, prefix);
  const M message{};
  visit_fields(names, message);
  return signals;
}

// Writes the values of the fields one after another, in the order of their signals.
class StoreFields : public FieldVisitor<StoreFields> {
 public:
  explicit StoreFields(std::uint64_t* at) : at_(at) {}
  template <class T>
  void number(unsigned, const T& number) {
    *at_++ = static_cast<std::uint64_t>(number);
  }
  template <std::size_t N>
  void octets(const char*, const std::array<std::uint8_t, N>& octets) {
    for (const std::uint8_t octet : octets) *at_++ = octet;
  }

 private:
  std::uint64_t* at_;
};

// "qp_event: kind 2, qpn 0x3, ...": for traces and failed checks.
template <class M>
std::string describe(const M& message) {
  static const std::vector<Signal> signals = signals_of<M>();
  std::vector<std::uint64_t> values(signals.size());
  StoreFields store(values.data());
  visit_fields(store, message);
  std::string text = Message<M>::kName;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    text += (i == 0 ? ": " : ", ") + signals[i].name + ' ' + std::to_string(values[i]);
  }
  return text;
}

// The description of a message type, for code that has only a pointer to a message: waveforms.
struct MessageKind {
  const char* name;
  std::vector<Signal> signals;
  void (*store)(const void* message, std::uint64_t* values);  // one for each signal
};

// A message that refers to a buffer may have a member first_word(), the first octets there, to recognise it by.
template <class M, class = void>
inline constexpr bool kHasFirstWord = false;
template <class M>
inline constexpr bool kHasFirstWord<M, std::void_t<decltype(std::declval<const M&>().first_word())>> = true;

// A type that is no message, as in tests of links, has no signals.
template <class M>
MessageKind kind_of() {
  if constexpr (!kIsMessage<M>) {
    return {"", {}, [](const void*, std::uint64_t*) {}};
  } else {
    MessageKind kind{Message<M>::kName, signals_of<M>(), [](const void* at, std::uint64_t* values) {
                       const M& message = *static_cast<const M*>(at);
                       StoreFields store(values);
                       visit_fields(store, message);
                       if constexpr (kHasFirstWord<M>) store.number(32, message.first_word());
                     }};
    if constexpr (kHasFirstWord<M>) kind.signals.push_back({"word0", 32});
    return kind;
  }
}

}  // namespace rnic

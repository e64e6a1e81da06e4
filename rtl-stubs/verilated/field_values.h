// The fields of a message as names and as values, in one order.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rtl-stubs/verilated/bits.h"

namespace rnic::rtl {

// One value that both sides of a lock-step have, named as on the pins: `event.cause.code`.
struct Signal {
  std::string name;
  unsigned width;  // bits, at most 64
};

// A signal for each field: `<prefix>.<field>`, octets and messages of an array with their number.
class NameFields {
 public:
  NameFields(std::vector<Signal>& signals, std::string prefix) : signals_(signals), prefix_(std::move(prefix)) {}
  template <class T>
  void operator()(const char* name, unsigned width, const T&) {
    signals_.push_back({prefix_ + "." + name, width});
  }
  template <class Tag>
  void operator()(const char* name, const Id<Tag>&) {
    signals_.push_back({prefix_ + "." + name, 32});
  }
  template <class M>
  void operator()(const char* name, const M& message) {
    inside(prefix_ + "." + name, message);
  }
  template <std::size_t N>
  void octets(const char* name, const std::array<std::uint8_t, N>&) {
    for (std::size_t i = 0; i < N; ++i) signals_.push_back({numbered(name, i), 8});
  }
  template <class M, std::size_t N>
  void each(const char* name, const M (&messages)[N]) {
    for (std::size_t i = N; i-- != 0;) inside(numbered(name, i), messages[i]);
  }

 private:
  std::string numbered(const char* name, std::size_t i) const {
    return prefix_ + "." + name + "[" + std::to_string(i) + "]";
  }
  template <class M>
  void inside(std::string prefix, const M& message) {
    NameFields names(signals_, std::move(prefix));
    visit_fields(names, message);
  }
  std::vector<Signal>& signals_;
  const std::string prefix_;
};
template <class M>
std::vector<Signal> signals_of(const std::string& link) {
  std::vector<Signal> signals;
  NameFields names(signals, link);
  const M message{};
  visit_fields(names, message);
  return signals;
}

// Writes the values of the fields one behind the other.
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

}  // namespace rnic::rtl

#include "model/rnic/fwcpu/gdb/rsp_packet.h"

#include <utility>

namespace rnic {
namespace {

constexpr char kDigits[] = "0123456789abcdef";
constexpr char kEscape = '}';
constexpr char kEscapeBit = 0x20;

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string rsp_packet(std::string_view payload) {
  std::string out = "$";
  std::uint8_t sum = 0;
  const auto put = [&](char c) {
    out += c;
    sum = static_cast<std::uint8_t>(sum + static_cast<std::uint8_t>(c));
  };
  for (const char c : payload) {
    const bool special = c == '$' || c == '#' || c == '*' || c == kEscape;
    if (special) put(kEscape);
    put(special ? static_cast<char>(c ^ kEscapeBit) : c);
  }
  return out + '#' + kDigits[sum >> 4] + kDigits[sum & 15];
}

std::optional<RspInput> RspDecoder::take(char c) {
  using Kind = RspInput::Kind;
  if (c == '$') {  // also in the middle of a packet: the rest of that was lost
    state_ = State::kPayload;
    payload_.clear();
    too_long_ = false;
    sum_ = 0;
    return std::nullopt;
  }
  switch (state_) {
    case State::kBetween:
      if (c == '+') return RspInput{Kind::kAck, {}};
      if (c == '-') return RspInput{Kind::kNak, {}};
      if (c == '\x03') return RspInput{Kind::kInterrupt, {}};
      return std::nullopt;
    case State::kPayload:
      if (c == '#') {
        state_ = State::kFirstDigit;
        return std::nullopt;
      }
      sum_ = static_cast<std::uint8_t>(sum_ + static_cast<std::uint8_t>(c));
      if (c == kEscape) state_ = State::kEscaped;
      else append(c);
      return std::nullopt;
    case State::kEscaped:
      sum_ = static_cast<std::uint8_t>(sum_ + static_cast<std::uint8_t>(c));
      append(static_cast<char>(c ^ kEscapeBit));
      state_ = State::kPayload;
      return std::nullopt;
    case State::kFirstDigit:
      first_digit_ = c;
      state_ = State::kSecondDigit;
      return std::nullopt;
    case State::kSecondDigit: {
      state_ = State::kBetween;
      const int high = digit(first_digit_), low = digit(c);
      const bool good = !too_long_ && high >= 0 && low >= 0 && high * 16 + low == sum_;
      return RspInput{good ? Kind::kPacket : Kind::kBadPacket, good ? std::move(payload_) : std::string()};
    }
  }
  return std::nullopt;
}

void RspDecoder::append(char c) {
  if (payload_.size() < kMaxPayload) payload_ += c;
  else too_long_ = true;
}

std::string rsp_hex(const std::uint8_t* octets, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += kDigits[octets[i] >> 4];
    out += kDigits[octets[i] & 15];
  }
  return out;
}

std::optional<std::string> rsp_unhex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string octets;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit(digits[i]), low = digit(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    octets += static_cast<char>(high * 16 + low);
  }
  return octets;
}

std::optional<std::uint32_t> rsp_number(std::string_view& text) {
  std::uint32_t value = 0;
  std::size_t used = 0;
  for (; used < text.size() && used < 8 && digit(text[used]) >= 0; ++used) {
    value = value << 4 | static_cast<std::uint32_t>(digit(text[used]));
  }
  text.remove_prefix(used);
  return used == 0 ? std::nullopt : std::optional<std::uint32_t>(value);
}

}  // namespace rnic

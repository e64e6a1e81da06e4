// The packets of gdb's remote serial protocol: $payload#checksum, acknowledged by + or - (GDB manual, appendix E.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rnic {

// With checksum and escapes, as it is sent.
std::string rsp_packet(std::string_view payload);

struct RspInput {
  enum class Kind : std::uint8_t {
    kPacket,     // to be acknowledged
    kBadPacket,  // checksum or length: to be refused
    kAck,
    kNak,       // send the last packet again
    kInterrupt  // Ctrl-C
  };
  Kind kind = Kind::kPacket;
  std::string payload;  // without escapes
};

// Takes octets as they arrive. Octets between packets without a meaning are skipped.
class RspDecoder {
 public:
  static constexpr std::size_t kMaxPayload = 4096;

  std::optional<RspInput> take(char octet);

 private:
  enum class State : std::uint8_t { kBetween, kPayload, kEscaped, kFirstDigit, kSecondDigit };
  void append(char octet);

  State state_ = State::kBetween;
  std::string payload_;
  bool too_long_ = false;
  std::uint8_t sum_ = 0;
  char first_digit_ = 0;
};

// Two digits per octet.
std::string rsp_hex(const std::uint8_t* octets, std::size_t count);
// Empty unless these are pairs of hexadecimal digits.
std::optional<std::string> rsp_unhex(std::string_view digits);
// A number of at most eight hexadecimal digits, taken off the front; nothing if there is none.
std::optional<std::uint32_t> rsp_number(std::string_view& text);

}  // namespace rnic

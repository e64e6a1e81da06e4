// What the kinds sctp_packet and sctp_session tell each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/golden/status.h"
#include "model/golden/transactions.h"

namespace rnic::golden {

inline constexpr std::size_t kMostUserData = 65'535 - 16;  // of a DATA chunk

// The user data of a DATA chunk, or of several that have a message in pieces.
struct UserMessage : Payload {
  std::uint16_t stream = 0;
  std::uint32_t ppid = 0;
  bool unordered = true;

  static constexpr const char* kMessage = "sctp_user_message";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("stream", 16, m.stream);
    v("ppid", 32, m.ppid);
    v("unordered", 1, m.unordered);
  }
};

// The oldest message of the stream that was not acknowledged.
struct Acknowledged {
  std::uint16_t stream = 0;

  static constexpr const char* kMessage = "sctp_acknowledged";
  template <class V, class M>
  static void fields(V& v, M& m) {
    v("stream", 16, m.stream);
  }
};

inline void require(bool good, const std::string& text) {
  if (!good) fail_value(text);
}

}  // namespace rnic::golden

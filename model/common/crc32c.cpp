#include "model/common/crc32c.h"

#include <limits>

#include <isa-l/crc.h>
#ifdef __x86_64__
#include <nmmintrin.h>
#endif

#include "model/common/check.h"

namespace rnic {
namespace {

// Up to this length eight octets at a time are faster than the library, which is best with long pieces.
constexpr std::size_t kShort = 255;

#ifdef __x86_64__
bool has_instruction() { return __builtin_cpu_supports("sse4.2"); }

[[gnu::target("sse4.2")]] std::uint32_t update_short(std::uint32_t state, ByteSpan bytes) {
  const std::uint8_t* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t crc = state;
  for (; left >= 8; at += 8, left -= 8) crc = _mm_crc32_u64(crc, load_le64(at));
  auto word = static_cast<std::uint32_t>(crc);
  if (left >= 4) {
    word = _mm_crc32_u32(word, load_le32(at));
    at += 4;
    left -= 4;
  }
  for (; left != 0; --left) word = _mm_crc32_u8(word, *at++);
  return word;
}
#else
bool has_instruction() { return false; }
std::uint32_t update_short(std::uint32_t state, ByteSpan) { return state; }
#endif

}  // namespace

std::uint32_t crc32c_update(std::uint32_t state, ByteSpan bytes) {
  if (bytes.size() <= kShort && has_instruction()) return update_short(state, bytes);
  RNIC_CHECK(bytes.size() <= std::size_t{std::numeric_limits<int>::max()});
  // The library takes a pointer to mutable octets but only reads.
  return crc32_iscsi(const_cast<std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()), state);
}

}  // namespace rnic

// The functions that the compiler calls to copy and fill memory. The C library's versions go octet by octet.
#include <cstddef>
#include <cstdint>

namespace {

using Word = std::uint32_t;
constexpr std::uintptr_t kWordMask = sizeof(Word) - 1;

Word load(const std::uint8_t* p) {
  Word w;
  __builtin_memcpy(&w, __builtin_assume_aligned(p, sizeof w), sizeof w);
  return w;
}
void store(std::uint8_t* p, Word w) { __builtin_memcpy(__builtin_assume_aligned(p, sizeof w), &w, sizeof w); }

}  // namespace

extern "C" {

// The attribute keeps the compiler from turning the loop into a call of this very function.
[[gnu::optimize("no-tree-loop-distribute-patterns")]] void* memcpy(void* to, const void* from, std::size_t bytes) {
  auto* d = static_cast<std::uint8_t*>(to);
  auto* s = static_cast<const std::uint8_t*>(from);
  if (((reinterpret_cast<std::uintptr_t>(d) | reinterpret_cast<std::uintptr_t>(s)) & kWordMask) == 0) {
    for (; bytes >= sizeof(Word); bytes -= sizeof(Word), d += sizeof(Word), s += sizeof(Word)) store(d, load(s));
  }
  for (; bytes != 0; --bytes) *d++ = *s++;
  return to;
}

[[gnu::optimize("no-tree-loop-distribute-patterns")]] void* memset(void* to, int octet, std::size_t bytes) {
  auto* d = static_cast<std::uint8_t*>(to);
  const Word w = static_cast<std::uint8_t>(octet) * Word{0x01010101};
  for (; bytes != 0 && (reinterpret_cast<std::uintptr_t>(d) & kWordMask) != 0; --bytes)
    *d++ = static_cast<std::uint8_t>(octet);
  for (; bytes >= sizeof(Word); bytes -= sizeof(Word), d += sizeof(Word)) store(d, w);
  for (; bytes != 0; --bytes) *d++ = static_cast<std::uint8_t>(octet);
  return to;
}

}  // extern "C"

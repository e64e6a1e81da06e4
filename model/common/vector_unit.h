// Loops over octets that the compiler vectorizes: twice, for what every x86-64 machine has and for AVX2.
#pragma once

#include <utility>

namespace rnic {
namespace detail {

#if defined(__x86_64__)
template <class F>
[[gnu::target("avx2"), gnu::noinline]] auto with_avx2(F loop) {
  return loop();
}
inline const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0;
#endif

}  // namespace detail

// loop(), compiled for the machine that it runs on. Its operator() must be always_inline, and so must all that it
// calls; it captures by value, so that none of its stores can change a captured variable.
template <class F>
auto vectorized(F loop) {
#if defined(__x86_64__)
  if (detail::kHasAvx2) return detail::with_avx2(loop);
#endif
  return loop();
}

}  // namespace rnic

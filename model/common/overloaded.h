// One callable out of several, for std::visit.
#pragma once

namespace rnic {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace rnic

// What a stage above the boundary (llp/boundary.md) has once for each lower layer: a port, or what it knows of it.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "model/abi/context_types.h"

namespace rnic {

class Stage;

template <class T>
class PerLlp {
 public:
  // Of ports.
  PerLlp(Stage& owner, const char* name) : of_{{T(owner, name), T(owner, name)}} {}
  PerLlp(T mpa_tcp, T sctp) : of_{{std::move(mpa_tcp), std::move(sctp)}} {}

  // QpContext::llp is the index.
  T& operator[](LlpId llp) { return of_[static_cast<std::size_t>(llp)]; }
  const T& operator[](LlpId llp) const { return of_[static_cast<std::size_t>(llp)]; }
  auto begin() { return of_.begin(); }
  auto end() { return of_.end(); }
  auto begin() const { return of_.begin(); }
  auto end() const { return of_.end(); }

 private:
  std::array<T, kLlps> of_;
};

}  // namespace rnic

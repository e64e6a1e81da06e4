// The kinds of stages that the C interface has.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/config/describe.h"
#include "model/golden/bench.h"

namespace rnic::golden {

struct Kind {
  const char* name;
  const char* text;
  // Of a JSON object as text. Throws Error.
  BenchPtr (*make)(std::string_view settings);
  std::vector<FieldInfo> (*settings)();
};

const std::vector<Kind>& kinds();

// Those of each theme, in the order of the description.
void add_mpa_kinds(std::vector<Kind>& to);
void add_atomic_kinds(std::vector<Kind>& to);
void add_request_kinds(std::vector<Kind>& to);
void add_placement_kinds(std::vector<Kind>& to);
void add_segmenter_kinds(std::vector<Kind>& to);
void add_negotiation_kinds(std::vector<Kind>& to);
void add_session_kinds(std::vector<Kind>& to);
void add_packet_kinds(std::vector<Kind>& to);

}  // namespace rnic::golden

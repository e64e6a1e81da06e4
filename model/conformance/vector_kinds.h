// Which check runs the vectors of which kind.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/conformance/vector_fields.h"

namespace rnic::conformance {

class PredictorSource;

// What a check found: nothing, every field that differs, or why the vector cannot be run at all.
struct Outcome {
  struct Difference {
    std::string field, expected, got;
  };
  std::vector<Difference> differences;
  std::string unreadable;

  bool passed() const { return differences.empty() && unreadable.empty(); }
  template <class T, class U>
  void compare(const std::string& field, const T& expected, const U& got) {
    const nlohmann::json &want = expected, &have = got;
    if (want != have) differences.push_back({field, want.dump(), have.dump()});
  }
};

// A check is given vectors without unknown fields. It may throw any std::exception on one that it cannot read (a
// missing key, bad hex): that becomes its outcome. An InternalError is a bug of ours and ends the run.
struct VectorKind {
  std::string name;
  std::vector<VectorField> fields;  // beside "name"
  std::function<Outcome(const nlohmann::json& vector)> check;
};

Outcome check_crc32c(const nlohmann::json& vector);
Outcome check_mulpdu(const nlohmann::json& vector);
Outcome check_mpa_frame(const nlohmann::json& vector);
Outcome check_enhanced_nego(const nlohmann::json& vector);
Outcome check_rnic_interop(const nlohmann::json& vector);
Outcome check_sctp_nego(const nlohmann::json& vector);
Outcome check_sctp_packet(const nlohmann::json& vector);
Outcome check_sctp_session(const nlohmann::json& vector);
Outcome check_message(const nlohmann::json& vector);

// All kinds that are implemented; those that run stages of the chip only with `stages`, which has to outlive the list.
// Use one list: SystemC, where the stages are its, elaborates once per process.
std::vector<VectorKind> vector_kinds(const PredictorSource* stages = nullptr);

}  // namespace rnic::conformance

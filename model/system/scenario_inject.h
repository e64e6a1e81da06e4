// The key `inject` of a scenario: error injection.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/cable/inject/injection.h"
#include "model/programs/workload/plan.h"
#include "model/system/scenario_value.h"
#include "model/wire/terminate.h"

namespace rnic {

// What a scenario's injections may name, by index.
struct InjectionNames {
  const std::vector<std::string>&nodes, &connections, &work;
};

// One injection. Changed messages are returned; a failing request goes to its work item in the plan.
std::optional<inject::Injection> read_injection(const ScenarioValue& v, const std::string& name,
                                                const InjectionNames& names, workload::Plan& plan);

// "1/1/00": layer, error type and error code of a Terminate (RFC 5040 section 4.8), the code in two hexadecimal digits.
wire::TerminateCause read_terminate_code(const ScenarioValue& v);
std::string terminate_code(const wire::TerminateCause& cause);

}  // namespace rnic

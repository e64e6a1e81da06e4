// Reports an association.
#pragma once

#include <ostream>

#include <nlohmann/json.hpp>

#include "model/capture/association.h"

namespace rnic::capture {

nlohmann::ordered_json association_json(const Association& association);
void print_association(const Association& association, std::ostream& out);

}  // namespace rnic::capture

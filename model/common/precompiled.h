// External headers that nearly every translation unit includes and that take compilers a second: precompiled once, in
// scripts/cmake/targets.cmake. A file still includes what it uses; the preset `coverage` builds without this.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <systemc>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

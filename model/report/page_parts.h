// The files of page/ and the libraries, which the build compiles into the program.
#pragma once

#include <string_view>

namespace rnic::report {

extern const std::string_view kHtml, kStyle, kScript;
extern const std::string_view kLibrary, kLibraryStyle, kLicence;

}  // namespace rnic::report

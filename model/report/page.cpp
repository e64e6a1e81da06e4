#include "model/report/page.h"

#include <utility>

#include "model/common/check.h"
#include "model/report/page_parts.h"

namespace rnic::report {
namespace {

// Inside a script element, the data must not look like its end or a comment; "<" occurs only in strings.
std::string script_safe(std::string json) {
  std::string safe;
  safe.reserve(json.size() + json.size() / 64);
  for (const char c : json) {
    if (c == '<') safe += "\\u003c";
    else safe += c;
  }
  return safe;
}

}  // namespace

std::string page(const nlohmann::ordered_json& data) {
  const std::string json = script_safe(data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  const std::pair<std::string_view, std::string_view> parts[] = {
      {"{{licence}}", kLicence}, {"{{library_style}}", kLibraryStyle},
      {"{{style}}", kStyle},     {"{{library}}", kLibrary},
      {"{{data}}", json},        {"{{script}}", kScript},
  };
  std::string html;
  std::size_t at = 0;
  for (const auto& [place, text] : parts) {  // in the order of page.html
    const std::size_t begin = kHtml.find(place, at);
    RNIC_CHECK_MSG(begin != std::string_view::npos, std::string("page.html: ") + std::string(place));
    html.append(kHtml, at, begin - at).append(text);
    at = begin + place.size();
  }
  return html.append(kHtml, at);
}

}  // namespace rnic::report

#include "model/report/page.h"

#include <utility>
#include <vector>

#include <zlib.h>

#include "model/common/check.h"
#include "model/report/page_parts.h"

namespace rnic::report {
namespace {

std::string base64(const std::vector<unsigned char>& octets) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((octets.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < octets.size(); i += 3) {
    const auto at = [&](std::size_t n) { return i + n < octets.size() ? std::uint32_t{octets[i + n]} : 0; };
    const std::uint32_t three = at(0) << 16 | at(1) << 8 | at(2);
    for (const unsigned shift : {18u, 12u, 6u, 0u}) text += kDigits[three >> shift & 63];
  }
  const std::size_t missing = (3 - octets.size() % 3) % 3;
  return text.replace(text.size() - missing, missing, missing, '=');
}

// RFC 1950, which browsers inflate by DecompressionStream, in base64. So no text of a run looks like markup, either.
std::string packed(const std::string& json) {
  uLongf size = compressBound(static_cast<uLong>(json.size()));
  std::vector<unsigned char> octets(size);
  const auto* from = reinterpret_cast<const unsigned char*>(json.data());
  const int result = compress2(octets.data(), &size, from, static_cast<uLong>(json.size()), Z_BEST_COMPRESSION);
  RNIC_CHECK_MSG(result == Z_OK, "zlib: " + std::to_string(result));
  octets.resize(size);
  return base64(octets);
}

}  // namespace

std::string page(const nlohmann::ordered_json& data) {
  const std::string json = packed(data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
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

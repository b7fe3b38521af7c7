// SPDX-License-Identifier: Apache-2.0
// Makes any text valid as content and attributes of XML.
#include "text/xml.h"

namespace pmuconf {
namespace {

constexpr const char* kReplacement = "\xef\xbf\xbd";  // U+FFFD

// Returns the length of the UTF-8 character at the front, or 0 if XML does not allow it.
std::size_t CharacterLength(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  if (first >= 0xc2 && first < 0xe0) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    const bool overlong = first == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = first == 0xed && byte(1) >= 0xa0;
    const bool forbidden = first == 0xef && byte(1) == 0xbf && byte(2) >= 0xbe;
    return follows(1) && follows(2) && !overlong && !surrogate && !forbidden ? 3 : 0;
  }
  if (first >= 0xf0 && first < 0xf5) {
    const bool overlong = first == 0xf0 && byte(1) < 0x90;
    const bool too_high = first == 0xf4 && byte(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !overlong && !too_high ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string XmlEscape(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const std::size_t n = CharacterLength(text);
    if (n == 0) {
      escaped += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    switch (text.front()) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += text.substr(0, n);
    }
    text.remove_prefix(n);
  }
  return escaped;
}

}  // namespace pmuconf

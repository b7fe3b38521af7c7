// SPDX-License-Identifier: Apache-2.0
// Replaces control characters, and quotes.
#include "text/one_line.h"

namespace pmuconf {

std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7f) c = '?';
  }
  return line;
}

std::string Quoted(std::string_view argument) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  const bool plain = argument.find_first_not_of(kPlain) == std::string_view::npos;
  std::string text(argument);
  return plain && !text.empty() ? text : "'" + text + "'";
}

}  // namespace pmuconf

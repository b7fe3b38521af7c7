// SPDX-License-Identifier: Apache-2.0
// Replaces control characters.
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

}  // namespace pmuconf

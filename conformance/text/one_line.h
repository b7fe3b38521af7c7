// SPDX-License-Identifier: Apache-2.0
// Makes any text safe as a part of one line, or of a command.
#ifndef PMUCONF_TEXT_ONE_LINE_H_
#define PMUCONF_TEXT_ONE_LINE_H_

#include <string>
#include <string_view>

namespace pmuconf {

// Replaces each control character except tabs with '?', so that the text cannot end the line or
// control a terminal.
std::string OneLine(std::string_view text);

// Quotes an argument for a shell if needed.
std::string Quoted(std::string_view argument);

}  // namespace pmuconf

#endif  // PMUCONF_TEXT_ONE_LINE_H_

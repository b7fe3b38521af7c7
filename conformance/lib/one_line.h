// SPDX-License-Identifier: Apache-2.0
// Text from anywhere as part of one line.
#ifndef PMUCONF_LIB_ONE_LINE_H_
#define PMUCONF_LIB_ONE_LINE_H_

#include <string>
#include <string_view>

namespace pmuconf {

// With '?' for each control character but tabs: what it quotes neither ends the line nor steers a
// terminal.
std::string OneLine(std::string_view text);

}  // namespace pmuconf

#endif  // PMUCONF_LIB_ONE_LINE_H_

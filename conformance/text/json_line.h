// SPDX-License-Identifier: Apache-2.0
// One JSON object as one line of the channel: at most 64 KiB of valid UTF-8, also if a string is
// not.
#ifndef PMUCONF_TEXT_JSON_LINE_H_
#define PMUCONF_TEXT_JSON_LINE_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace pmuconf {

inline constexpr std::size_t kLineLimit = 64 * 1024;  // including the newline

// Truncates the longest strings, with a marker, until the line fits. The result ends in "\n".
std::string JsonLine(nlohmann::json object);

}  // namespace pmuconf

#endif  // PMUCONF_TEXT_JSON_LINE_H_

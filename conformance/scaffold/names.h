// SPDX-License-Identifier: Apache-2.0
// Checks and conversions of names, and the words that messages are made of.
#ifndef PMUCONF_SCAFFOLD_NAMES_H_
#define PMUCONF_SCAFFOLD_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace pmuconf::scaffold {

// Returns whether the name is a word or several in UpperCamelCase: "Counting", "ReadFormat".
bool IsUpperCamelCase(std::string_view name);

// Returns whether the name can be a claim: UpperCamelCase with at least two words.
bool IsClaim(std::string_view name);

// "DisabledTimeIsNotCounted" becomes "disabled_time_is_not_counted".
std::string SnakeCase(std::string_view name);

// "manual_clock" becomes "ManualClock".
std::string CamelCase(std::string_view name);

// "a, b, c"
std::string Joined(const std::vector<std::string>& words);

// Quotes a string for a TOML file. Runs of white space become one blank.
std::string TomlString(std::string_view text);

// Quotes an argument for a shell if needed.
std::string ShellWord(const std::string& word);

}  // namespace pmuconf::scaffold

#endif  // PMUCONF_SCAFFOLD_NAMES_H_

// SPDX-License-Identifier: Apache-2.0
#include "scaffold/names.h"

#include <algorithm>

namespace pmuconf::scaffold {
namespace {

// The functions of <cctype> depend on the locale, and fail for negative characters.
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
char Lower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }
char Upper(char c) { return IsLower(c) ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

bool IsUpperCamelCase(std::string_view name) {
  return !name.empty() && IsUpper(name.front()) && std::any_of(name.begin(), name.end(), IsLower) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return IsUpper(c) || IsLower(c) || IsDigit(c); });
}

bool IsClaim(std::string_view name) {
  return IsUpperCamelCase(name) && std::count_if(name.begin(), name.end(), IsUpper) >= 2;
}

std::string SnakeCase(std::string_view name) {
  std::string snake;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = IsUpper(name[i]) && i > 0 &&
                        (!IsUpper(name[i - 1]) || (i + 1 < name.size() && IsLower(name[i + 1])));
    if (begins) snake += '_';
    snake += Lower(name[i]);
  }
  return snake;
}

std::string CamelCase(std::string_view name) {
  std::string camel;
  bool begins = true;
  for (const char c : name) {
    if (c != '_') camel += begins ? Upper(c) : c;
    begins = c == '_';
  }
  return camel;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string TomlString(std::string_view text) {
  std::string quoted = "\"";
  bool blank = false;
  for (const char c : text) {
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      blank = quoted.size() > 1;
      continue;
    }
    if (blank) quoted += ' ';
    blank = false;
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string ShellWord(const std::string& word) {
  const bool plain = word.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_-+=./:,@%") == std::string::npos;
  if (plain && !word.empty()) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace pmuconf::scaffold

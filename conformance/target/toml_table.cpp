// SPDX-License-Identifier: Apache-2.0
// Strict reader of TOML tables.
#include "target/toml_table.h"

#include <algorithm>
#include <cmath>

#include "target/target.h"
#include "text/one_line.h"

namespace pmuconf {
namespace {

// Returns the position after the string that begins at `at`, or the end of its line if the string
// is not terminated.
std::size_t EndOfString(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool lines = text.substr(at, 3) == std::string(3, quote);
  const std::string_view end = text.substr(at, lines ? 3 : 1);
  for (std::size_t i = at + end.size(); i < text.size(); ++i) {
    if (!lines && text[i] == '\n') return i;
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text.substr(i, end.size()) == end) {
      return lines ? text.find_first_not_of(quote, i) : i + 1;
    }
  }
  return text.size();
}

// Returns the position of the first byte that is not ASCII, outside of strings and comments. TOML
// forbids such bytes, but toml++ 3.3 does not reject all of them and can reach code that its
// authors marked as unreachable.
std::size_t FindForeign(std::string_view text) {
  for (std::size_t i = text.starts_with("\xef\xbb\xbf") ? 3 : 0; i < text.size();) {
    if (text[i] == '#') {
      i = text.find('\n', i);
    } else if (text[i] == '"' || text[i] == '\'') {
      i = EndOfString(text, i);
    } else if (static_cast<unsigned char>(text[i]) >= 0x80) {
      return i;
    } else {
      ++i;
    }
  }
  return std::string_view::npos;
}

}  // namespace

toml::table ParseToml(std::string_view text, const std::string& path) {
  if (const std::size_t at = FindForeign(text); at != std::string_view::npos) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<int>(at), '\n');
    throw ConfigError(path + ":" + std::to_string(line) +
                      ": only strings and comments may have characters beyond ASCII");
  }
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw ConfigError(OneLine(path + ":" + std::to_string(error.source().begin.line) + ": " +
                              std::string(error.description())));
  }
}

void TomlTable::Fail(std::string_view key, const std::string& what) const {
  const toml::node* const node = table_.get(key);
  const toml::source_region& where = node != nullptr ? node->source() : table_.source();
  // A key that the target inherits is in the file of its base.
  const std::string& path = where.path ? *where.path : path_;
  const std::string whole = name_.empty() ? std::string(key) : name_ + "." + std::string(key);
  throw ConfigError(
      OneLine(path + ":" + std::to_string(where.begin.line) + ": key '" + whole + "' " + what));
}

const toml::node* TomlTable::Node(const char* key) {
  known_.insert(key);
  return table_.get(key);
}

std::string TomlTable::String(const char* key) {
  const toml::node* const node = Node(key);
  if (node == nullptr) Fail(key, "is missing");
  const auto value = node->value_exact<std::string>();
  if (!value || value->empty()) Fail(key, "must be a string that is not empty");
  return *value;
}

std::string TomlTable::StringOr(const char* key, std::string fallback) {
  return Node(key) == nullptr ? std::move(fallback) : String(key);
}

std::int64_t TomlTable::Int(const char* key, std::int64_t low, std::int64_t high) {
  const toml::node* const node = Node(key);
  if (node == nullptr) Fail(key, "is missing");
  const auto value = node->value_exact<std::int64_t>();
  if (!value || *value < low || *value > high) {
    Fail(key, "must be an integer from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return *value;
}

std::int64_t TomlTable::IntOr(const char* key, std::int64_t fallback, std::int64_t low,
                              std::int64_t high) {
  return Node(key) == nullptr ? fallback : Int(key, low, high);
}

bool TomlTable::BoolOr(const char* key, bool fallback) {
  const toml::node* const node = Node(key);
  if (node == nullptr) return fallback;
  const auto value = node->value_exact<bool>();
  if (!value) Fail(key, "must be true or false");
  return *value;
}

double TomlTable::DoubleOr(const char* key, double fallback) {
  const toml::node* const node = Node(key);
  if (node == nullptr) return fallback;
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value) || *value < 0.0)
    Fail(key, "must be a number that is not negative");
  return *value;
}

std::vector<std::string> TomlTable::StringsOr(const char* key, std::vector<std::string> fallback) {
  const toml::node* const node = Node(key);
  if (node == nullptr) return fallback;
  const toml::array* const array = node->as_array();
  if (array == nullptr) Fail(key, "must be a list of strings");
  std::vector<std::string> strings;
  for (const toml::node& entry : *array) {
    const auto value = entry.value_exact<std::string>();
    if (!value || value->empty()) Fail(key, "must be a list of strings");
    strings.push_back(*value);
  }
  return strings;
}

std::vector<std::string> TomlTable::OneOrMore(const char* key) {
  const toml::node* const node = Node(key);
  if (node == nullptr || !node->is_array()) return {String(key)};
  std::vector<std::string> strings = StringsOr(key, {});
  if (strings.empty()) Fail(key, "must not be empty");
  return strings;
}

std::optional<TomlTable> TomlTable::Table(const char* key) {
  const toml::node* const node = Node(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_table()) Fail(key, "must be a table");
  return TomlTable(*node->as_table(), path_, name_.empty() ? key : name_ + "." + key);
}

std::vector<TomlTable> TomlTable::Tables(const char* key) {
  const toml::node* const node = Node(key);
  std::vector<TomlTable> tables;
  if (node == nullptr) return tables;
  const toml::array* const array = node->as_array();
  if (array == nullptr || !array->is_array_of_tables())
    Fail(key, "must be written as [[" + std::string(key) + "]]");
  for (const toml::node& entry : *array) tables.emplace_back(*entry.as_table(), path_, key);
  return tables;
}

std::vector<std::string> TomlTable::Keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, node] : table_) keys.emplace_back(key.str());
  return keys;
}

void TomlTable::Finish() const {
  for (const std::string& key : Keys()) {
    if (known_.contains(key)) continue;
    std::string names;
    for (const std::string& known : known_) names += (names.empty() ? "" : ", ") + known;
    Fail(key, "is unknown (known: " + names + ")");
  }
}

}  // namespace pmuconf

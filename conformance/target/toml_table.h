// SPDX-License-Identifier: Apache-2.0
// Strict reader of the project's TOML files. Every error is one line with file, line and key.
#ifndef PMUCONF_TARGET_TOML_TABLE_H_
#define PMUCONF_TARGET_TOML_TABLE_H_

#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pmuconf {

// Parses the text of a file. Throws ConfigError.
toml::table ParseToml(std::string_view text, const std::string& path);

// One table. The caller reads each key once; Finish() then rejects all keys that were not read.
class TomlTable {
 public:
  // `name` is the name of the table in messages: "target", "event", "" for the root.
  TomlTable(const toml::table& table, std::string path, std::string name)
      : table_(table), path_(std::move(path)), name_(std::move(name)) {}

  std::string String(const char* key);  // required, and not empty
  std::string StringOr(const char* key, std::string fallback);
  std::int64_t IntOr(const char* key, std::int64_t fallback, std::int64_t low, std::int64_t high);
  std::int64_t Int(const char* key, std::int64_t low, std::int64_t high);
  bool BoolOr(const char* key, bool fallback);
  double DoubleOr(const char* key, double fallback);  // accepts integers too
  std::vector<std::string> StringsOr(const char* key, std::vector<std::string> fallback);
  std::vector<std::string> OneOrMore(const char* key);  // a string, or a list that is not empty
  std::optional<TomlTable> Table(const char* key);
  std::vector<TomlTable> Tables(const char* key);  // [[key]]; empty if none
  const toml::node* Node(const char* key);         // null if absent
  std::vector<std::string> Keys() const;
  void Finish() const;

  // Throws ConfigError about `key` of this table.
  [[noreturn]] void Fail(std::string_view key, const std::string& what) const;

 private:
  const toml::table& table_;
  std::string path_;
  std::string name_;
  std::set<std::string> known_;
};

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_TOML_TABLE_H_

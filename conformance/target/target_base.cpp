// SPDX-License-Identifier: Apache-2.0
// Merges a target file with its base: its keys override keys of the base, its list entries override
// entries with the same name, and `without` removes keys and entries of the base.
#include "target/target_base.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "system/sysfs.h"
#include "target/toml_table.h"

namespace pmuconf {
namespace {

using Paths = std::vector<std::string>;

// Moves the node, because a copy of a toml++ node loses its file and line.
void Insert(toml::table* table, std::string_view key, toml::node&& node) {
  std::move(node).visit(
      [&](auto&& value) { table->insert_or_assign(key, std::forward<decltype(value)>(value)); });
}

// Adds the keys of `base` that `table` lacks.
void InheritKeys(toml::table* table, toml::table&& base) {
  for (auto&& [key, node] : base) {
    if (!table->contains(key)) Insert(table, key, std::move(node));
  }
}

std::string NameOf(const toml::node& entry) {
  const toml::table* const table = entry.as_table();
  return table == nullptr ? "" : (*table)["name"].value_or(std::string());
}

// The result has the entries of `base` in their order, merged with entries of the same name in
// `list`, and then the other entries of `list`.
void InheritEntries(toml::array* list, toml::array&& base) {
  toml::array own = std::exchange(*list, {});
  const auto add = [&](toml::node&& entry) {
    std::move(entry).visit(
        [&](auto&& value) { list->push_back(std::forward<decltype(value)>(value)); });
  };
  for (toml::node& entry : base) {
    const auto over = std::find_if(own.begin(), own.end(), [&](const toml::node& own_entry) {
      return !NameOf(own_entry).empty() && NameOf(own_entry) == NameOf(entry);
    });
    if (over == own.end()) {
      add(std::move(entry));
      continue;
    }
    InheritKeys(over->as_table(), std::move(*entry.as_table()));
    add(std::move(*over));
    own.erase(over);
  }
  for (toml::node& entry : own) add(std::move(entry));
}

void Inherit(toml::table* file, toml::table&& base) {
  for (auto&& [key, node] : base) {
    toml::node* const own = file->get(key);
    if (own == nullptr) {
      Insert(file, key, std::move(node));
    } else if (own->is_table() && node.is_table()) {
      InheritKeys(own->as_table(), std::move(*node.as_table()));
    } else if (own->is_array() && node.is_array()) {
      InheritEntries(own->as_array(), std::move(*node.as_array()));
    }
  }
}

// Removes "table", "table.key", or the entries "list.name" (a glob) from `base`. Returns false if
// nothing matches.
bool Remove(toml::table* base, const std::string& what) {
  const auto dot = what.find('.');
  const std::string table = what.substr(0, dot);
  if (dot == std::string::npos) return base->erase(table) != 0;
  const std::string name = what.substr(dot + 1);
  toml::node* const node = base->get(table);
  if (node == nullptr) return false;
  if (toml::table* const keys = node->as_table()) return keys->erase(name) != 0;
  toml::array* const entries = node->as_array();
  if (entries == nullptr) return false;
  const std::size_t before = entries->size();
  for (auto entry = entries->begin(); entry != entries->end();) {
    const bool out = fnmatch(name.c_str(), NameOf(*entry).c_str(), 0) == 0;
    entry = out ? entries->erase(entry) : entry + 1;
  }
  const bool some = entries->size() != before;
  if (entries->empty()) base->erase(table);
  return some;
}

toml::table Read(std::string_view text, const std::string& path, const FindBase& find_base,
                 Paths above) {
  toml::table file = ParseToml(text, path);
  TomlTable root(file, path, "");
  if (root.Node("base") == nullptr) {
    if (root.Node("without") != nullptr) root.Fail("without", "needs a 'base'");
    return file;
  }
  const std::string name = root.String("base");
  const std::vector<std::string> without = root.StringsOr("without", {});
  const auto found = find_base(name, path);
  if (!found) root.Fail("base", "must be a target beside this one, or one that is built in");
  above.push_back(path);
  if (std::find(above.begin(), above.end(), found->path) != above.end()) {
    std::string way;
    for (const std::string& one : above) way += one + ", ";
    root.Fail("base", "leads back to where it came from: " + way + found->path);
  }
  toml::table base = Read(found->text, found->path, find_base, above);
  for (const std::string& what : without) {
    const std::string table = what.substr(0, what.find('.'));
    const bool kept = table == "target" && what != "target.port";
    if (kept || what == "vm" || !Remove(&base, what)) {
      root.Fail("without", "cannot take '" + what + "' out of " + found->path);
    }
  }
  if (toml::table* const head = base["target"].as_table()) head->erase("name");
  file.erase("base");
  file.erase("without");
  Inherit(&file, std::move(base));
  return file;
}

}  // namespace

std::optional<TargetText> FindInSameFolder(const std::string& name, const std::string& path) {
  if (name.find('/') != std::string::npos) return std::nullopt;
  const auto sibling = std::filesystem::path(path).parent_path() / (name + ".toml");
  auto text = ReadFile(sibling.string());
  if (!text) return std::nullopt;
  return TargetText{sibling.string(), std::move(*text)};
}

toml::table ReadWithBase(std::string_view text, const std::string& path,
                         const FindBase& find_base) {
  return Read(text, path, find_base, {});
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
#include "harness/uses.h"

#include <map>

namespace pmuconf {
namespace {

std::map<std::string, std::vector<Feature>>& Table() {
  static std::map<std::string, std::vector<Feature>> table;
  return table;
}

}  // namespace

bool RegisterUses(const std::string& id, const std::vector<Feature>& features) {
  std::vector<Feature>& all = Table()[id];
  all.insert(all.end(), features.begin(), features.end());
  return true;
}

std::vector<Feature> UsesOf(const std::string& id) {
  const auto found = Table().find(id);
  return found == Table().end() ? std::vector<Feature>{} : found->second;
}

std::vector<std::string> IdsWithUses() {
  std::vector<std::string> ids;
  for (const auto& [id, features] : Table()) ids.push_back(id);
  return ids;
}

}  // namespace pmuconf

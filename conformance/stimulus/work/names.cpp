// SPDX-License-Identifier: Apache-2.0
// Names of the kinds of work.
#include <array>
#include <utility>

#include "stimulus/work/work.h"

namespace pmuconf {
namespace {

constexpr std::array<std::pair<WorkKind, std::string_view>, 5> kNames = {{
    {WorkKind::kInstructions, "instructions"},
    {WorkKind::kBranches, "branches"},
    {WorkKind::kLoads, "loads"},
    {WorkKind::kStores, "stores"},
    {WorkKind::kCalls, "calls"},
}};

}  // namespace

std::string_view ToString(WorkKind kind) {
  for (const auto& [known, name] : kNames) {
    if (known == kind) return name;
  }
  return "?";
}

std::optional<WorkKind> WorkKindFromString(std::string_view name) {
  for (const auto& [kind, known] : kNames) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

}  // namespace pmuconf

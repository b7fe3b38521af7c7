// SPDX-License-Identifier: Apache-2.0
// Reads evidence.json.
#include "report/evidence.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "system/sysfs.h"
#include "target/target.h"

namespace pmuconf {

Evidence ReadEvidence(const std::string& path) {
  const auto text = ReadFile(path);
  if (!text) throw ConfigError(path + ": cannot be read");
  Evidence evidence;
  try {
    const auto json = nlohmann::json::parse(*text);
    for (const auto& test : json.at("tests")) {
      evidence.tests.push_back(
          {test.at("rule"), test.at("layer"), test.at("name"), test.at("file")});
    }
    for (const auto& rule : json.at("untested")) {
      evidence.untested.push_back({rule.at("rule"), rule.at("reason")});
    }
  } catch (const nlohmann::json::exception& error) {
    throw ConfigError(path + ": " + error.what());
  }
  evidence.known = true;
  return evidence;
}

Evidence EvidenceBesideProgram() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const auto path = program.parent_path() / "evidence.json";
  return std::filesystem::exists(path, error) ? ReadEvidence(path.string()) : Evidence();
}

}  // namespace pmuconf

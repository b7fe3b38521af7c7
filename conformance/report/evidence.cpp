// SPDX-License-Identifier: Apache-2.0
// Reads evidence.json.
#include "report/evidence.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "system/sysfs.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using nlohmann::json;

std::vector<Reason> Reasons(const json& rows) {
  std::vector<Reason> reasons;
  for (const auto& row : rows) reasons.push_back({row.at("rule"), row.at("reason")});
  return reasons;
}

Evidence Parse(const json& file) {
  Evidence evidence;
  for (const auto& row : file.at("tests")) {
    evidence.tests.push_back({row.at("rule"), row.at("layer"), row.at("name"), row.at("file")});
  }
  for (const auto& row : file.at("faults")) {
    evidence.faults.push_back({row.at("kind"), row.at("id"), row.at("text"), row.at("file"),
                               row.at("rules"), row.at("cases"), row.at("target"),
                               row.at("kernels"), row.at("observers")});
  }
  for (const auto& row : file.at("findings")) {
    evidence.findings.push_back(
        {row.at("title"), row.at("link"), row.at("section"), row.at("rules")});
  }
  for (const auto& row : file.at("subjects")) {
    evidence.subjects.push_back({row.at("rule"), row.at("subject")});
  }
  evidence.untested = Reasons(file.at("untested"));
  evidence.exempt = Reasons(file.at("exempt"));
  evidence.results = file.at("results");
  evidence.known = true;
  return evidence;
}

}  // namespace

std::string_view ReasonFor(const std::vector<Reason>& reasons, std::string_view rule) {
  const auto it = std::find_if(reasons.begin(), reasons.end(),
                               [&](const Reason& reason) { return reason.rule == rule; });
  return it == reasons.end() ? std::string_view() : it->reason;
}

Evidence ReadEvidence(const std::string& path) {
  const auto text = ReadFile(path);
  if (!text) throw ConfigError(path + ": cannot be read");
  Evidence evidence;
  try {
    evidence = Parse(json::parse(*text));
  } catch (const json::exception& error) {
    throw ConfigError(path + ": " + error.what());
  }
  // The name "" of the last component would leave a slash at the end.
  const auto results = std::filesystem::path(path).parent_path() / evidence.results / ".";
  evidence.results = results.lexically_normal().parent_path().string();
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

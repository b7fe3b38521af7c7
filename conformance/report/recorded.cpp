// SPDX-License-Identifier: Apache-2.0
// Reads the results of earlier runs.
#include "report/recorded.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "system/sysfs.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using nlohmann::json;

std::string Text(const json& row, const char* key) { return row.value(key, std::string()); }

// Calls `parse` with the content of a file. Returns whether the file exists.
bool Read(const std::string& path, const std::function<void(const json&)>& parse) {
  const auto text = ReadFile(path);
  if (!text) return false;
  try {
    parse(json::parse(*text));
  } catch (const json::exception& error) {
    throw ConfigError(path + ": " + error.what());
  }
  return true;
}

JudgedRun Run(const json& row) {
  JudgedRun run{Text(row, "observer"),
                Text(row, "target"),
                Text(row, "kernel"),
                Text(row, "arch"),
                Text(row, "when"),
                row.at("rules"),
                {}};
  for (const auto& bad : row.value("bad", json::array())) {
    run.bad.push_back({bad.at("case"), Text(bad, "result"), Text(bad, "message")});
  }
  return run;
}

// Several runs may have seen the same.
void Add(const SeenFault& fault, Recorded* recorded) {
  recorded->ran.emplace(fault.kind, fault.id);
  auto& seen = recorded->seen;
  if (std::find(seen.begin(), seen.end(), fault) == seen.end()) seen.push_back(fault);
}

void AddFaults(const json& file, Recorded* recorded) {
  for (const auto& [rule, rows] : file.get<std::map<std::string, json>>()) {
    for (const auto& row : rows) {
      Add({rule, row.at("kind"), row.at("id"), Text(row, "observer"), Text(row, "test"),
           Text(row, "kernel")},
          recorded);
    }
  }
}

}  // namespace

Recorded ReadRecorded(const std::string& folder) {
  Recorded recorded;
  if (folder.empty()) return recorded;
  recorded.has_judged = Read(folder + "/judged.json", [&](const json& file) {
    for (const auto& row : file.at("runs")) recorded.runs.push_back(Run(row));
  });
  std::vector<std::string> runs = {folder + "/faults"};
  for (const std::string& name : ListFolder(folder + "/check")) {
    runs.push_back(folder + "/check/" + name);
  }
  for (const std::string& run : runs) {
    Read(run + "/rules.json", [&](const json& file) { AddFaults(file, &recorded); });
  }
  return recorded;
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Writes the report's files.
#include <filesystem>
#include <fstream>

#include "pmuconf/target.h"
#include "report/formats.h"

namespace pmuconf {
namespace {

void Write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw ConfigError(path + ": cannot be written");
}

}  // namespace

void WriteReports(const Report& report, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw ConfigError(folder + ": " + error.message());
  Write(folder + "/results.json", ToJson(report));
  Write(folder + "/results.ktap", ToKtap(report));
  Write(folder + "/junit.xml", ToJunit(report));
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Writes the files of a report.
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "report/formats.h"
#include "target/target.h"

namespace pmuconf {
namespace {

// Writes the whole text or nothing, so that no reader finds an incomplete report.
void Write(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  errno = 0;
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file && std::rename(part.c_str(), path.c_str()) == 0) return;
  const std::string why = errno == 0 ? "cannot be written" : std::generic_category().message(errno);
  std::remove(part.c_str());
  throw ConfigError(path + ": " + why);
}

}  // namespace

void WriteReports(const Report& report, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw ConfigError(folder + ": " + error.message());
  const std::pair<std::string, std::string> files[] = {
      {folder + "/results.json", ToJson(report)},
      {folder + "/results.ktap", ToKtap(report)},
      {folder + "/junit.xml", ToJunit(report)},
  };
  try {
    for (const auto& [path, text] : files) Write(path, text);
  } catch (const ConfigError&) {
    // Removes all reports if one could not be written, so that no reader takes the run for
    // complete.
    for (const auto& [path, text] : files) {
      if (std::filesystem::is_regular_file(path, error)) std::remove(path.c_str());
    }
    throw;
  }
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Mounts tracefs and reads its descriptions of tracepoints.
#include "system/tracefs.h"

#include <sys/mount.h>

#include <cerrno>
#include <cstdio>
#include <sstream>

#include "system/broken.h"
#include "system/sysfs.h"

namespace pmuconf {
namespace {

constexpr const char* kTracing = "/sys/kernel/tracing";

}  // namespace

TraceFs::TraceFs() {
  if (ReadFile(std::string(kTracing) + "/events/header_page")) return;
  if (mount("tracefs", kTracing, "tracefs", 0, nullptr) != 0) {
    throw BrokenErrno(std::string("mounting tracefs on ") + kTracing, errno);
  }
  mounted_ = true;
}

TraceFs::~TraceFs() {
  if (mounted_) umount2(kTracing, MNT_DETACH);
}

std::string TraceFs::Read(const std::string& tracepoint, const std::string& file) const {
  std::string path = tracepoint;
  if (const std::size_t colon = path.find(':'); colon != std::string::npos) path[colon] = '/';
  path = std::string(kTracing) + "/events/" + path + "/" + file;
  const auto text = ReadFile(path);
  if (!text) throw Broken(path + " cannot be read: no such tracepoint");
  return *text;
}

std::uint64_t TraceFs::Id(const std::string& tracepoint) const {
  return std::stoull(Read(tracepoint, "id"));
}

std::optional<std::vector<TraceField>> ParseTraceFormat(std::string_view text) {
  std::vector<TraceField> fields;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("field:");
    if (at == std::string::npos) continue;
    const std::size_t end = line.find(';', at);
    if (end == std::string::npos) return std::nullopt;
    const std::string declaration = line.substr(at, end - at);
    TraceField field;
    field.name = declaration.substr(declaration.find_last_of(" *:") + 1);
    field.name = field.name.substr(0, field.name.find('['));
    int is_signed = 0;
    if (std::sscanf(line.c_str() + end, "; offset:%zu; size:%zu; signed:%d;", &field.offset,
                    &field.size, &is_signed) != 3 ||
        field.name.empty()) {
      return std::nullopt;
    }
    field.is_signed = is_signed != 0;
    fields.push_back(field);
  }
  if (fields.empty()) return std::nullopt;
  return fields;
}

}  // namespace pmuconf

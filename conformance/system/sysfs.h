// SPDX-License-Identifier: Apache-2.0
// The files of a PMU in /sys/bus/event_source/devices, parsed as the kernel's ABI documents define
// them (testing/sysfs-bus-event_source-devices-format and -events).
#ifndef PMUCONF_SYSTEM_SYSFS_H_
#define PMUCONF_SYSTEM_SYSFS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pmuconf {

// A format file. "config1:0-7,32-35" stores the low 8 bits of a value in bits 0-7 and the next 4
// bits in bits 32-35.
struct FormatField {
  int config = 0;                              // 0: config, 1: config1, and so on to config4
  std::vector<std::pair<int, int>> bits = {};  // first and last bit of each range, ascending

  int width() const;
  // Returns `value` encoded in the field; nullopt if it has more bits than the field.
  std::optional<std::uint64_t> Encode(std::uint64_t value) const;
};
std::optional<FormatField> ParseFormat(std::string_view text);

// Parses an events file: "event=0x3c,umask=0x01". A term without a value means 1. The user replaces
// the value of "node=?". Here it is 0.
using Terms = std::vector<std::pair<std::string, std::uint64_t>>;
std::optional<Terms> ParseTerms(std::string_view text);
// Whether a term is "config" to "config4", a whole word of perf_event_attr.
bool IsWordOfAttr(std::string_view term);

// Parses a CPU list: "0-3,7".
std::optional<std::vector<int>> ParseCpuList(std::string_view text);

struct Configs {
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  std::uint64_t config3 = 0;
  std::uint64_t config4 = 0;
};
// Combines terms by their formats. As in the perf tool, config to config4 need no format. Returns
// nullopt if another term has none, or if a value does not fit.
std::optional<Configs> EncodeTerms(const Terms& terms,
                                   const std::map<std::string, FormatField>& formats);

// Returns the formats that the PMU in that directory declares. It omits invalid format files.
std::map<std::string, FormatField> ReadFormats(const std::string& folder);
// As EncodeTerms, for the terms in `text` and the formats of the PMU in that directory.
std::optional<Configs> ReadTerms(const std::string& folder, std::string_view text);

// Returns the content of a small file without trailing white space; nullopt if it cannot be read.
std::optional<std::string> ReadFile(const std::string& path);
std::vector<std::string> ListFolder(const std::string& path);  // names, sorted; empty on error

inline constexpr const char* kEventSource = "/sys/bus/event_source/devices";

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_SYSFS_H_

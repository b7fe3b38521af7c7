// SPDX-License-Identifier: Apache-2.0
// What a PMU shows in /sys/bus/event_source/devices, read as the kernel's ABI text defines it
// (testing/sysfs-bus-event_source-devices-format and -events).
#ifndef PMUCONF_SYSFS_H_
#define PMUCONF_SYSFS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pmuconf {

// A format file: "config1:0-7,32-35" puts the value's low 8 bits in 0-7 and the next 4 in 32-35.
struct FormatField {
  int config = 0;                              // 0: config, 1: config1, 2: config2, 3: config3
  std::vector<std::pair<int, int>> bits = {};  // first and last bit, in order

  int width() const;
  // `value` spread over the field; nullopt if it has more bits than the field.
  std::optional<std::uint64_t> Encode(std::uint64_t value) const;
};
std::optional<FormatField> ParseFormat(std::string_view text);

// An events file: "event=0x3c,umask=0x01"; a term without a value means 1.
std::optional<std::vector<std::pair<std::string, std::uint64_t>>> ParseTerms(std::string_view text);

// A CPU list: "0-3,7".
std::optional<std::vector<int>> ParseCpuList(std::string_view text);

struct Configs {
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
};
// Terms put together by their formats; nullopt if a term has no format or does not fit.
std::optional<Configs> EncodeTerms(const std::vector<std::pair<std::string, std::uint64_t>>& terms,
                                   const std::map<std::string, FormatField>& formats);

// The formats that the PMU with that folder declares; what is none is left out.
std::map<std::string, FormatField> ReadFormats(const std::string& folder);
// Terms put together by them; nullopt as above.
std::optional<Configs> ReadTerms(const std::string& folder, std::string_view text);

// Whole content of a small file; nullopt if it cannot be read. Trailing white space is cut.
std::optional<std::string> ReadFile(const std::string& path);
std::vector<std::string> ListFolder(const std::string& path);  // names, sorted; empty if none

inline constexpr const char* kEventSource = "/sys/bus/event_source/devices";

}  // namespace pmuconf

#endif  // PMUCONF_SYSFS_H_

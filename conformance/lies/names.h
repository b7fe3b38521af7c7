// SPDX-License-Identifier: Apache-2.0
// The kernel's names of numbers, as a lie writes them: "EINVAL", "PERF_EVENT_IOC_ENABLE".
#ifndef PMUCONF_LIES_NAMES_H_
#define PMUCONF_LIES_NAMES_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace pmuconf {

// Returns the value of a number ("12", "0x40", "-1") or of a name; nullopt if it is neither.
std::optional<std::uint64_t> NumberFromName(std::string_view name);

}  // namespace pmuconf

#endif  // PMUCONF_LIES_NAMES_H_

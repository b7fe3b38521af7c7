// SPDX-License-Identifier: Apache-2.0
// The properties of a mapping of this process.
#ifndef PMUCONF_SYSTEM_SMAPS_H_
#define PMUCONF_SYSTEM_SMAPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pmuconf {

// Returns the text after `key` ("VmFlags:") of the mapping that begins at `address`, from
// /proc/self/smaps. nullopt if there is no such line.
std::optional<std::string> SmapsValue(std::uintptr_t address, std::string_view key);

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_SMAPS_H_

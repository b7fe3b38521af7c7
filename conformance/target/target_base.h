// SPDX-License-Identifier: Apache-2.0
// Merges a target file with the one that it names as its `base`.
#ifndef PMUCONF_TARGET_TARGET_BASE_H_
#define PMUCONF_TARGET_TARGET_BASE_H_

#include <toml++/toml.h>

#include <string>
#include <string_view>

#include "target/target.h"

namespace pmuconf {

// Returns the tables of a target file, including those inherited from its base. Throws ConfigError.
toml::table ReadWithBase(std::string_view text, const std::string& path, const FindBase& find_base);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_TARGET_BASE_H_

// SPDX-License-Identifier: Apache-2.0
// Puts the target file that another one names as its `base` below it.
#ifndef PMUCONF_LIB_TARGET_BASE_H_
#define PMUCONF_LIB_TARGET_BASE_H_

#include <toml++/toml.h>

#include <string>
#include <string_view>

#include "pmuconf/target.h"

namespace pmuconf {

// The tables of a target file, with what its base says and it does not. Throws ConfigError.
toml::table ReadWithBase(std::string_view text, const std::string& path, const FindBase& find_base);

}  // namespace pmuconf

#endif  // PMUCONF_LIB_TARGET_BASE_H_

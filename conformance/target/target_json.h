// SPDX-License-Identifier: Apache-2.0
// Describes a target to the VM runner, which does not read target files itself.
#ifndef PMUCONF_LIB_TARGET_JSON_H_
#define PMUCONF_LIB_TARGET_JSON_H_

#include <string>

#include "target/target.h"

namespace pmuconf {

// Returns the text of a target file that has the content of `file` and its bases, and no base.
// Throws ConfigError if the result is not a valid target.
std::string MergedTarget(const TargetText& file, const FindBase& find_base);

// Returns a JSON object with the target's name, path, module and slowness, its table [vm] with all
// defaults filled in, and as `toml` its MergedTarget(). Keys without a value are
// null. Throws ConfigError.
std::string TargetAsJson(const TargetText& file, const FindBase& find_base);

}  // namespace pmuconf

#endif  // PMUCONF_LIB_TARGET_JSON_H_

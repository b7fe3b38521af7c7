// SPDX-License-Identifier: Apache-2.0
// What the process of one case remembers for its result.
#ifndef PMUCONF_LIB_CONTEXT_H_
#define PMUCONF_LIB_CONTEXT_H_

#include <optional>
#include <string>
#include <vector>

#include "pmuconf/target.h"

namespace pmuconf {

struct Context {
  std::optional<Target> target;
  std::string pmu;                    // --pmu: overrides the target's match
  std::vector<std::string> opened;    // attrs, as messages show them
  std::string bpf_log;                // what libbpf said, newest end
  std::optional<std::string> broken;  // first cause
  std::optional<std::string> skipped;
};

Context& context();

}  // namespace pmuconf

#endif  // PMUCONF_LIB_CONTEXT_H_

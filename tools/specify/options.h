// SPDX-License-Identifier: Apache-2.0
// The command lines of `pmuconf specify` and `pmuconf compare`.
#ifndef PMUCONF_TOOLS_SPECIFY_OPTIONS_H_
#define PMUCONF_TOOLS_SPECIFY_OPTIONS_H_

#include "tools/specify/command.h"
#include "tools/specify/compare.h"

namespace CLI {
class App;
}

namespace pmuconf {

// Adds the command and its options, except for those of the target.
CLI::App* AddSpecify(CLI::App* app, SpecifyOptions* options);
CLI::App* AddCompare(CLI::App* app, CompareOptions* options);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_SPECIFY_OPTIONS_H_

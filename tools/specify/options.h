// SPDX-License-Identifier: Apache-2.0
// The command line of `pmuconf specify`.
#ifndef PMUCONF_TOOLS_SPECIFY_OPTIONS_H_
#define PMUCONF_TOOLS_SPECIFY_OPTIONS_H_

#include "tools/specify/command.h"

namespace CLI {
class App;
}

namespace pmuconf {

// Adds the command and its options, except for those of the target.
CLI::App* AddSpecify(CLI::App* app, SpecifyOptions* options);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_SPECIFY_OPTIONS_H_

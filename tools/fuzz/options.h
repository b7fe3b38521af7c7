// SPDX-License-Identifier: Apache-2.0
// The command line of `pmuconf fuzz`.
#ifndef PMUCONF_TOOLS_FUZZ_OPTIONS_H_
#define PMUCONF_TOOLS_FUZZ_OPTIONS_H_

#include "tools/fuzz/command.h"

namespace CLI {
class App;
}

namespace pmuconf {

CLI::App* AddFuzz(CLI::App* app, FuzzOptions* options);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_FUZZ_OPTIONS_H_

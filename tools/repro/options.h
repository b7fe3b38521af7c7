// SPDX-License-Identifier: Apache-2.0
// The command line of `pmuconf repro`.
#ifndef PMUCONF_TOOLS_REPRO_OPTIONS_H_
#define PMUCONF_TOOLS_REPRO_OPTIONS_H_

#include "tools/repro/command.h"

namespace CLI {
class App;
}

namespace pmuconf {

CLI::App* AddRepro(CLI::App* app, ReproOptions* options);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_REPRO_OPTIONS_H_

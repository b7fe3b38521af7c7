// SPDX-License-Identifier: Apache-2.0
// Shortens a program that shows a disagreement.
#ifndef PMUCONF_TOOLS_REPRO_MINIMISE_H_
#define PMUCONF_TOOLS_REPRO_MINIMISE_H_

#include <functional>

#include "tools/repro/program.h"

namespace pmuconf {

// `shows`: whether a program still shows it. `expired`: whether to stop. Returns the shortest
// program found.
Program Minimise(Program program, const std::function<bool(const Program&)>& shows,
                 const std::function<bool()>& expired);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_REPRO_MINIMISE_H_

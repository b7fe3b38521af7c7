// SPDX-License-Identifier: Apache-2.0
// What this process may do here.
#ifndef PMUCONF_LIB_PERMISSION_H_
#define PMUCONF_LIB_PERMISSION_H_

#include <optional>
#include <string>

#include "lib/result.h"

namespace pmuconf {

struct Refused {
  Obstacle obstacle = Obstacle::kNone;
  std::string reason;
};

// Why no event of a CPU can be opened here at all; nullopt if one can. Asked with an event of the
// kernel's own, of which no driver hears.
std::optional<Refused> EventsRefused();

// Whether this is whoever may do all that cases do: root, and not root of a container.
bool Privileged();

}  // namespace pmuconf

#endif  // PMUCONF_LIB_PERMISSION_H_

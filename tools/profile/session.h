// SPDX-License-Identifier: Apache-2.0
// One run of `profile`, from opening events to writing the profile.
#ifndef PMUCONF_TOOLS_PROFILE_SESSION_H_
#define PMUCONF_TOOLS_PROFILE_SESSION_H_

#include <ostream>

#include "tools/profile/options.h"

namespace pmuconf::profile {

// Samples and writes the profile to `out`. Prints messages for the user to standard error. Returns
// the exit status. Throws UserError, or Broken on unexpected errors.
int RunSession(const Options& options, std::ostream& out);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_SESSION_H_

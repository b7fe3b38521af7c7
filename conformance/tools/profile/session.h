// SPDX-License-Identifier: Apache-2.0
// One run of `profile`: from opening events to the time when it ends.
#ifndef PMUCONF_TOOLS_PROFILE_SESSION_H_
#define PMUCONF_TOOLS_PROFILE_SESSION_H_

#include <ostream>

#include "tools/profile/options.h"

namespace pmuconf::profile {

// Samples, and writes the profile to `out`; what else a user should know goes to standard error.
// The exit status. Throws UserError, or Broken for what should not happen.
int RunSession(const Options& options, std::ostream& out);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_SESSION_H_

// SPDX-License-Identifier: Apache-2.0
// The context of this process.
#include "system/context.h"

#include <cerrno>
#include <cstring>

#include "system/broken.h"
#include "text/errno_name.h"

namespace pmuconf {

Context& context() {
  static Context the_context;
  return the_context;
}

Broken BrokenErrno(const std::string& what, int error) {
  Broken broken(what + ": " + ErrnoName(error) + ": " + std::strerror(error));
  context().failed_call = {broken.what(), error};
  if (error == EPERM || error == EACCES) context().denied = true;
  return broken;
}

void SkipUnclaimed(const std::string& what) { throw Skipped{SkipReason::kNotClaimed, what}; }

}  // namespace pmuconf

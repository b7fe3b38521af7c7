// SPDX-License-Identifier: Apache-2.0
// The context of this process.
#include "lib/context.h"

#include <cerrno>
#include <cstring>

#include "pmuconf/broken.h"
#include "pmuconf/matchers.h"

namespace pmuconf {

Context& context() {
  static Context the_context;
  return the_context;
}

const Target& target() {
  if (!context().target) throw Broken("this process has no target");
  return *context().target;
}

Broken BrokenErrno(const std::string& what, int error) {
  Broken broken(what + ": " + ErrnoName(error) + ": " + std::strerror(error));
  context().failed_call = {broken.what(), error};
  if (error == EPERM || error == EACCES) context().denied = true;
  return broken;
}

}  // namespace pmuconf

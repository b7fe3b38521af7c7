// SPDX-License-Identifier: Apache-2.0
// The exception that ends a case as BROKEN.
#ifndef PMUCONF_SYSTEM_BROKEN_H_
#define PMUCONF_SYSTEM_BROKEN_H_

#include <stdexcept>
#include <string>

namespace pmuconf {

// The library could not prepare what the case judges: Open, Enable or a call on the port failed.
// Asserting calls throw it, and a case may throw it for its own setup. The case ends as BROKEN.
class Broken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns Broken("<what>: <errno name>: <text>").
Broken BrokenErrno(const std::string& what, int error);

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_BROKEN_H_

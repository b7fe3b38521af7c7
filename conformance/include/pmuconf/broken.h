// SPDX-License-Identifier: Apache-2.0
// How a case ends when the suite itself cannot do what it needs.
#ifndef PMUCONF_BROKEN_H_
#define PMUCONF_BROKEN_H_

#include <stdexcept>
#include <string>

namespace pmuconf {

// The library could not do what the case needs to judge (Open, Enable, the port … failed): the
// case ends with BROKEN. Thrown by the asserting calls; a case may throw it for its own set-up.
class Broken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Broken("<what>: <errno name>: <text>").
Broken BrokenErrno(const std::string& what, int error);

}  // namespace pmuconf

#endif  // PMUCONF_BROKEN_H_

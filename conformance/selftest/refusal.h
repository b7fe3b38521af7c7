// SPDX-License-Identifier: Apache-2.0
// The error of a call that must be refused.
#ifndef PMUCONF_SELFTEST_REFUSAL_H_
#define PMUCONF_SELFTEST_REFUSAL_H_

#include <string>

#include "target/target.h"

namespace pmuconf {

// Returns the message of the ConfigError that `call` throws, or "no error".
template <typename Call>
std::string Refusal(const Call& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace pmuconf

#endif  // PMUCONF_SELFTEST_REFUSAL_H_

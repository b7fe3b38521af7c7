// SPDX-License-Identifier: Apache-2.0
// The errno that a target chose where a rule allows several.
#ifndef PMUCONF_CASES_REFUSAL_H_
#define PMUCONF_CASES_REFUSAL_H_

#include <cerrno>
#include <string>

#include "pmuconf/target.h"

namespace pmuconf {

// Whether `error` is the refusal of `what` that the target file names; EINVAL or EOPNOTSUPP where
// it names none.
inline bool IsRefusal(int error, const std::string& what) {
  const auto chosen = target().refusal(what);
  return chosen ? error == *chosen : error == EINVAL || error == EOPNOTSUPP;
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_REFUSAL_H_

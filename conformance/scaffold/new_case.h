// SPDX-License-Identifier: Apache-2.0
// `pmuconf new case`: a case that fails until its author writes the expectation.
#ifndef PMUCONF_SCAFFOLD_NEW_CASE_H_
#define PMUCONF_SCAFFOLD_NEW_CASE_H_

#include <string>
#include <vector>

#include "scaffold/change.h"
#include "scaffold/checkout.h"

namespace pmuconf::scaffold {

struct CaseRequest {
  std::string id;                  // "Counting.DisabledTimeIsNotCounted"
  std::vector<std::string> rules;  // ids
  std::vector<std::string> needs;  // names of capabilities, besides the stimulus
  std::string file;                // an existing file; empty: a new one
};

// Draft rules that the case names become active, because a case verifies them now. Throws
// ConfigError.
Scaffold NewCase(const Checkout& checkout, const CaseRequest& request);

}  // namespace pmuconf::scaffold

#endif  // PMUCONF_SCAFFOLD_NEW_CASE_H_

// SPDX-License-Identifier: Apache-2.0
// The version of the suite.
#ifndef PMUCONF_VERSION_H_
#define PMUCONF_VERSION_H_

#include <string>

namespace pmuconf {

// Returns "pmuconf 0.9.0, catalogue 0123456789ab", in a release with its commit. The catalogue is
// the start of the SHA-256 of conformance/golden.txt.
std::string Version();

}  // namespace pmuconf

#endif  // PMUCONF_VERSION_H_

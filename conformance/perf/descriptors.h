// SPDX-License-Identifier: Apache-2.0
// The descriptors of a process.
#ifndef PMUCONF_PERF_DESCRIPTORS_H_
#define PMUCONF_PERF_DESCRIPTORS_H_

#include <cstddef>
#include <string>

namespace pmuconf {

// Returns how many descriptors in a folder like /proc/self/fd are perf events.
std::size_t EventDescriptors(const std::string& folder);

}  // namespace pmuconf

#endif  // PMUCONF_PERF_DESCRIPTORS_H_

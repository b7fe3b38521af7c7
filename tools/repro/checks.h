// SPDX-License-Identifier: Apache-2.0
// Checks of what a program sees, other than errnos.
#ifndef PMUCONF_TOOLS_REPRO_CHECKS_H_
#define PMUCONF_TOOLS_REPRO_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace pmuconf {

// Returns a message if the bytes, which begin with a record, are not a sequence of complete records
// of known types; nullptr if they are.
const char* WrongRecord(std::span<const std::byte> bytes);

// Returns the number of descriptors of events that this process has.
std::size_t CountOpenEvents();

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_REPRO_CHECKS_H_

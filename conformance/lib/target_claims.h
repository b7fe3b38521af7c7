// SPDX-License-Identifier: Apache-2.0
// What the claims of a target file mean, as far as more than one of its readers asks.
#ifndef PMUCONF_LIB_TARGET_CLAIMS_H_
#define PMUCONF_LIB_TARGET_CLAIMS_H_

#include <cstdint>

#include "pmuconf/target.h"

namespace pmuconf {

inline constexpr unsigned kFixedBase = 32;  // of the bits in `counters`

constexpr std::uint64_t LowBits(unsigned n) { return n >= 64 ? ~0ULL : (1ULL << n) - 1; }

// It can be made to happen, exactly, and its stimulus neither moves the thread nor makes it wait.
bool Driven(const EventClaim& claim);

}  // namespace pmuconf

#endif  // PMUCONF_LIB_TARGET_CLAIMS_H_

// SPDX-License-Identifier: Apache-2.0
// Helpers for the claims of a target file that several source files use.
#ifndef PMUCONF_TARGET_TARGET_CLAIMS_H_
#define PMUCONF_TARGET_TARGET_CLAIMS_H_

#include <cstdint>

#include "target/target.h"

namespace pmuconf {

inline constexpr unsigned kFixedBase = 32;  // first bit of the fixed counters in `counters`

constexpr std::uint64_t LowBits(unsigned n) { return n >= 64 ? ~0ULL : (1ULL << n) - 1; }

// Returns whether the event is exact and has a stimulus that neither migrates the thread nor blocks
// it.
bool HasExactStimulus(const EventClaim& claim);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_TARGET_CLAIMS_H_

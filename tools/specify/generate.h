// SPDX-License-Identifier: Apache-2.0
// Draws programs for the specification, from a seed.
#ifndef PMUCONF_TOOLS_SPECIFY_GENERATE_H_
#define PMUCONF_TOOLS_SPECIFY_GENERATE_H_

#include <cstdint>
#include <string>

#include "tools/repro/program.h"
#include "tools/specify/event_kinds.h"

namespace pmuconf {

inline constexpr std::size_t kShortestProgram = 5;
inline constexpr std::size_t kLongestProgram = 60;

// Returns program number `number` of a seed. It depends on nothing else.
Program DrawProgram(const TargetKinds& kinds, const std::string& target, std::uint64_t seed,
                    std::uint64_t number);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_SPECIFY_GENERATE_H_

// SPDX-License-Identifier: Apache-2.0
// What the drivers of PMUs refuse that the errno model knows check by check: the kernel's own, and
// the reference driver. Each description is one of OpenModel's PMUs.
#ifndef PMUCONF_OPEN_DRIVER_H_
#define PMUCONF_OPEN_DRIVER_H_

#include <cstdint>
#include <vector>

#include "pmuconf/open_model.h"

namespace pmuconf {

OpenPmu SoftwarePmu();
OpenPmu TracepointPmu(std::vector<OpenEvent> events);  // those that there are
OpenPmu BreakpointPmu();                               // as on x86, without range breakpoints

// refpmu as it is loaded without parameters.
OpenPmu ReferencePmu(std::uint32_t type);
// refpmu_uncore; `scoped`: the kernel leaves its events where they were asked for.
OpenPmu ReferenceUncorePmu(std::uint32_t type, bool scoped);
// A PMU of which nothing is known but its type.
OpenPmu OpaquePmu(std::uint32_t type);

// The lists of the drivers, for the tests.
std::vector<std::span<const OpenCheck>> OpenDrivers();

}  // namespace pmuconf

#endif  // PMUCONF_OPEN_DRIVER_H_

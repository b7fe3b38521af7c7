// SPDX-License-Identifier: Apache-2.0
// The errors that drivers of PMUs return, for drivers that the errno model describes check by
// check: those in the kernel, and the reference driver. Each function returns a PMU for OpenModel.
#ifndef PMUCONF_ORACLE_OPEN_DRIVER_H_
#define PMUCONF_ORACLE_OPEN_DRIVER_H_

#include <cstdint>
#include <vector>

#include "oracle/open_model.h"

namespace pmuconf {

OpenPmu SoftwarePmu();
OpenPmu TracepointPmu(std::vector<OpenEvent> events);  // `events`: the tracepoints of this kernel
OpenPmu BreakpointPmu();                               // as on x86, without range breakpoints

// refpmu, loaded without parameters.
OpenPmu ReferencePmu(std::uint32_t type);
// refpmu_uncore. `scoped`: the kernel does not move its events to the designated CPU (pmu->scope).
OpenPmu ReferenceUncorePmu(std::uint32_t type, bool scoped);
// A PMU of which the model knows only the type.
OpenPmu OpaquePmu(std::uint32_t type);

// Returns the lists of checks of all drivers, for the tests.
std::vector<std::span<const OpenCheck>> OpenDrivers();

}  // namespace pmuconf

#endif  // PMUCONF_ORACLE_OPEN_DRIVER_H_

// SPDX-License-Identifier: Apache-2.0
// The part of a program in C that is the same for all programs.
#ifndef PMUCONF_TOOLS_REPRO_C_HELPERS_H_
#define PMUCONF_TOOLS_REPRO_C_HELPERS_H_

namespace pmuconf {

// A function for each operation, and start() and finish(). The program defines PMU, SLOTS,
// OWN_TYPE, TRACE_TYPE, AUX_PAGE and TRACEPOINTS before this text.
extern const char kProgramCHelpers[];
// The helper functions of programs with several tasks, which come after the others.
extern const char kProgramCTaskHelpers[];

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_REPRO_C_HELPERS_H_

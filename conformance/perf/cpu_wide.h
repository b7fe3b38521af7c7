// SPDX-License-Identifier: Apache-2.0
// The CPU-wide events whose counts or records a case has used: other tasks may have caused them.
#ifndef PMUCONF_PERF_CPU_WIDE_H_
#define PMUCONF_PERF_CPU_WIDE_H_

namespace pmuconf {

// Notes the event that a descriptor belongs to from now on. `cpu`: -1 if it counts one task only.
void NoteOpened(int fd, int cpu);

// Notes that the case reads the count or maps the records of an event.
void NoteUsed(int fd);

}  // namespace pmuconf

#endif  // PMUCONF_PERF_CPU_WIDE_H_

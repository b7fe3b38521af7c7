// SPDX-License-Identifier: Apache-2.0
// Probes: which of several legitimate behaviours the running kernel has. Its version does not show,
// because fixes are backported. A probe uses the kernel's own software events, so no driver can
// change its result, and it does not make the call that a case judges.
#ifndef PMUCONF_PERF_KERNEL_BEHAVIOUR_H_
#define PMUCONF_PERF_KERNEL_BEHAVIOUR_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>

namespace pmuconf {

// The size of the longest attr whose last word the kernel accepts: 128, 136 or 144 bytes.
std::uint32_t AcceptedAttrSize();
// The size that the kernel writes into the attr when it returns E2BIG.
std::uint32_t ReportedAttrSize();
// Sets one of the 64 flag bits of the attr. Bit 0 is `disabled`.
void SetFlag(perf_event_attr* attr, unsigned bit);
// The number of flag bits of the attr that it knows.
unsigned KnownAttrFlags();
// The number of bits that it knows in the field of aux_start_paused: 0 or more.
unsigned KnownAuxActionBits();
// The number of bits that it knows in branch_sample_type.
unsigned KnownBranchBits();
// The errno of inherit with PERF_SAMPLE_READ and PERF_SAMPLE_TID, or 0.
int InheritedSampleReadErrno();
// The errno of a group_fd whose task has exited.
int DeadLeaderErrno();
// The errno of a call chain that includes the kernel, or of text_poke, in a process without
// privileges whose event excludes the kernel. Both change kernel.perf_event_paranoid for the time
// of the call, so they need the privilege to do that.
int UnprivilegedCallChainErrno();
int UnprivilegedTextPokeErrno();
// Whether a process without privileges may open no event while kernel.perf_event_paranoid is 3. A
// patch of distributions does that.
bool RefusesAllEvents();
// Whether perf_event_open(2) looks for the context of an event after it has checked the rights on
// the task: one context for all PMUs of a task. Before, each PMU had contexts of its own.
bool HasSharedContexts();
// Whether cpu-clock and task-clock are PMUs of their own, without a folder in sysfs.
bool HasClockPmus();
// Whether the event of a child writes a READ record (inherit_stat) when the child exits.
bool WritesReadAtExit();
// Whether the kernel throttles a whole group, and writes the records for its leader.
bool ThrottlesGroups();
// Whether mmap(2) of a buffer maps all its pages at once, as a range without struct page. Otherwise
// a page fault maps each page. nullopt without /proc/self/smaps.
std::optional<bool> MapsPagesAtOnce();
// Whether /proc/PID/fdinfo shows the attr of an event.
bool FdinfoShowsAttr();

}  // namespace pmuconf

#endif  // PMUCONF_PERF_KERNEL_BEHAVIOUR_H_

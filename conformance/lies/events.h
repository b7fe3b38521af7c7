// SPDX-License-Identifier: Apache-2.0
// The events and mappings of this process, as far as a lie must know them.
#ifndef PMUCONF_LIES_EVENTS_H_
#define PMUCONF_LIES_EVENTS_H_

#include <linux/perf_event.h>

#include <cstddef>

#include "lies/slots.h"

namespace pmuconf {

// Whether the descriptor is a perf event. A device such as the stimulus port is none.
bool IsEvent(int fd);
// The target of the descriptor's link in /proc/self/fd, "" on failure.
std::string PathOf(int fd);

// Stores the attr of an event that was opened as `fd`.
void NoteEvent(int fd, const perf_event_attr& attr);
// Adds the fields of the event's attr if they are known.
void AddAttrOf(int fd, Slots* slots);
// The attr of an event, or null.
const perf_event_attr* AttrOf(int fd);

// A mapping of an event's buffer.
struct EventMapping {
  std::uintptr_t start = 0;
  std::size_t bytes = 0;
  int fd = -1;
};
void NoteMapping(void* start, std::size_t bytes, int fd);
// The mapping that contains the address, or null.
EventMapping* MappingAt(const void* address);

}  // namespace pmuconf

#endif  // PMUCONF_LIES_EVENTS_H_

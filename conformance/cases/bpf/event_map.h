// SPDX-License-Identifier: Apache-2.0
// Maps of events (BPF_MAP_TYPE_PERF_EVENT_ARRAY), through which BPF programs read and write events.
#ifndef PMUCONF_CASES_BPF_EVENT_MAP_H_
#define PMUCONF_CASES_BPF_EVENT_MAP_H_

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cstdint>

#include "perf/event.h"
#include "system/broken.h"

namespace pmuconf {

// Puts the event of `event_fd` into the map. Returns 0, or the errno.
inline int PutErrno(int map_fd, std::uint32_t key, int event_fd) {
  return -bpf_map_update_elem(map_fd, &key, &event_fd, BPF_ANY);
}

inline void PutEvent(int map_fd, std::uint32_t key, const Event& event) {
  if (const int error = PutErrno(map_fd, key, event.fd()); error != 0) {
    throw BrokenErrno("an event into a map", error);
  }
}

inline void PutEvent(const bpf_map* map, std::uint32_t key, const Event& event) {
  PutEvent(bpf_map__fd(map), key, event);
}

// The event of a perf buffer. Its ring buffer receives all output of programs on `cpu`.
inline Event OpenBpfOutput(int cpu) {
  perf_event_attr attr = {};
  attr.size = PERF_ATTR_SIZE_VER7;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_BPF_OUTPUT;
  attr.sample_period = 1;
  attr.sample_type = PERF_SAMPLE_RAW;
  return Open(attr, -1, cpu);
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_BPF_EVENT_MAP_H_

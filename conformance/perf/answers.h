// SPDX-License-Identifier: Apache-2.0
// Hooks of a program that alters what the kernel answers to a case (conformance/lies): answers that
// are no system calls of the C library. They are null unless a lie is on.
#ifndef PMUCONF_PERF_ANSWERS_H_
#define PMUCONF_PERF_ANSWERS_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <vector>

#include "perf/event.h"

struct bpf_object;

namespace pmuconf {

struct Record;

struct PerfAnswers {
  // Records that a case removes from a ring buffer.
  void (*records)(const perf_event_attr& attr, std::vector<Record>* records) = nullptr;
  // Returns the control page that the case reads instead of `page`.
  const volatile perf_event_mmap_page* (*page)(const perf_event_attr& attr,
                                               const volatile perf_event_mmap_page* page) = nullptr;
  // A counter that a case read with the instruction of this architecture.
  void (*counter)(std::uint32_t counter, std::uint64_t* value) = nullptr;
  // Results of the calls through the 32-bit entry.
  void (*compat_open)(std::uint32_t attr, SysResult* result) = nullptr;
  void (*compat_ioctl)(int fd, std::uint32_t request, SysResult* result) = nullptr;
  // Global variables of loaded BPF programs, before a case reads or writes them.
  void (*bpf_memory)(bpf_object* object) = nullptr;
};
PerfAnswers& perf_answers();

}  // namespace pmuconf

#endif  // PMUCONF_PERF_ANSWERS_H_

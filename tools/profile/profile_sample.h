/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The format of a sample that profile.bpf.c sends to the tool `profile`. */
#ifndef PMUCONF_TOOLS_PROFILE_PROFILE_SAMPLE_H_
#define PMUCONF_TOOLS_PROFILE_PROFILE_SAMPLE_H_

#include <linux/types.h>

#define PROFILE_MAX_FRAMES 127 /* the default of kernel.perf_event_max_stack */
#define PROFILE_COMM_BYTES 16
#define PROFILE_MAX_CPUS 1024

/* Followed by kernel_bytes of kernel stack, then user_bytes of user stack, innermost first. */
struct profile_sample {
  __u64 time_ns; /* CLOCK_MONOTONIC */
  __u64 period;
  __u32 pid; /* of the process */
  __u32 tid;
  __u32 cpu;
  __u32 kernel_bytes;
  __u32 user_bytes;
  __u32 reserved;
  char comm[PROFILE_COMM_BYTES];
};

#endif /* PMUCONF_TOOLS_PROFILE_PROFILE_SAMPLE_H_ */

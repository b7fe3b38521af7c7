/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What profile.bpf.c sends of each sample, and what the tool `profile` reads. */
#ifndef PMUCONF_BPF_PROFILE_SAMPLE_H_
#define PMUCONF_BPF_PROFILE_SAMPLE_H_

#include <linux/types.h>

#define PROFILE_MAX_FRAMES 127 /* as kernel.perf_event_max_stack is where nobody changed it */
#define PROFILE_COMM_BYTES 16
#define PROFILE_MAX_CPUS 1024

/* Followed by kernel_bytes of the kernel's stack, then user_bytes of the user's, innermost first.
 */
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

#endif /* PMUCONF_BPF_PROFILE_SAMPLE_H_ */

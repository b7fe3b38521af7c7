// SPDX-License-Identifier: Apache-2.0
// The behaviour of a kernel that decides which checks perf_event_open(2) makes, and in which order.
// The version does not show it, because fixes are backported: perf/kernel_behaviour.h finds it.
#ifndef PMUCONF_ORACLE_OPEN_BEHAVIOUR_H_
#define PMUCONF_ORACLE_OPEN_BEHAVIOUR_H_

#include <cerrno>
#include <cstddef>

namespace pmuconf {

struct OpenBehaviour {
  std::size_t attr_size = 136;            // the size of struct perf_event_attr
  unsigned attr_flags = 38;               // number of known flag bits of the attr
  unsigned aux_action_bits = 3;           // aux_start_paused, aux_pause, aux_resume: 3 or 0
  unsigned branch_bits = 20;              // number of known bits of branch_sample_type
  bool inherited_read = true;             // permits inherit with PERF_SAMPLE_READ and a TID
  bool refuses_dead_leader_early = true;  // ENODEV, before it checks the task
  bool protects_call_chains = true;       // requires a privilege for kernel call chains
  bool protects_text_poke = true;         // requires a privilege for text_poke
  bool shared_contexts = true;            // searches the context late: one for all PMUs of a task
  // cpu-clock and task-clock are PMUs of their own, and PERF_TYPE_SOFTWARE is looked up like other
  // types. PMUs may have a scope. No supported kernel has only one of these.
  bool clock_pmus = true;
  bool cgroup_events = true;  // CONFIG_CGROUP_PERF

  bool operator==(const OpenBehaviour&) const = default;
};

// Presets for tests, by the stock kernel that behaves so.
inline constexpr OpenBehaviour kLikeLinux612 = {};
inline constexpr OpenBehaviour kLikeLinux61 = {.attr_size = 128,
                                               .aux_action_bits = 0,
                                               .branch_bits = 19,
                                               .inherited_read = false,
                                               .refuses_dead_leader_early = false,
                                               .protects_call_chains = false,
                                               .shared_contexts = false,
                                               .clock_pmus = false};
inline constexpr OpenBehaviour kLikeLinux72 = {.attr_size = 144, .attr_flags = 40};

}  // namespace pmuconf

#endif  // PMUCONF_ORACLE_OPEN_BEHAVIOUR_H_

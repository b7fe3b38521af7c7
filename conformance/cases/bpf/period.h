// SPDX-License-Identifier: Apache-2.0
// The period of events to which the cases attach BPF programs.
#ifndef PMUCONF_CASES_BPF_PERIOD_H_
#define PMUCONF_CASES_BPF_PERIOD_H_

#include <cstdint>

namespace pmuconf {

inline constexpr std::uint64_t kPeriod = 10;

}  // namespace pmuconf

#endif  // PMUCONF_CASES_BPF_PERIOD_H_

// SPDX-License-Identifier: Apache-2.0
// For processors whose instruction that reads a counter contains the number of the counter. Only
// arch/<machine>.cpp includes this header.
#ifndef PMUCONF_ARCH_NUMBERED_COUNTER_H_
#define PMUCONF_ARCH_NUMBERED_COUNTER_H_

#include <cstdint>
#include <type_traits>
#include <utility>

namespace pmuconf::processor {

// Returns read(std::integral_constant<std::uint32_t, N>()) for the N that equals `counter`, and 0
// for other counters than kNumber.
template <typename Read, std::uint32_t... kNumber>
std::uint64_t ReadNumbered(std::uint32_t counter, Read read,
                           std::integer_sequence<std::uint32_t, kNumber...>) {
  std::uint64_t value = 0;
  (void)((counter == kNumber &&
          (value = read(std::integral_constant<std::uint32_t, kNumber>()), true)) ||
         ...);
  return value;
}

}  // namespace pmuconf::processor

#endif  // PMUCONF_ARCH_NUMBERED_COUNTER_H_

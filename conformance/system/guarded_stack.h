// SPDX-License-Identifier: Apache-2.0
// A stack that ends directly before unmapped memory.
#ifndef PMUCONF_SYSTEM_GUARDED_STACK_H_
#define PMUCONF_SYSTEM_GUARDED_STACK_H_

#include <cstddef>
#include <cstdint>
#include <functional>

namespace pmuconf {

// Runs `body` in a thread with a stack of `bytes` bytes (whole pages). The stack ends at `top`, and
// the memory after it is not readable. Rethrows what `body` throws.
void RunOnGuardedStack(std::size_t bytes, const std::function<void(std::uint64_t top)>& body);

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_GUARDED_STACK_H_

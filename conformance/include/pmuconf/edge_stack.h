// SPDX-License-Identifier: Apache-2.0
// A stack with nothing behind it.
#ifndef PMUCONF_EDGE_STACK_H_
#define PMUCONF_EDGE_STACK_H_

#include <cstddef>
#include <cstdint>
#include <functional>

namespace pmuconf {

// Runs `body` in a thread whose stack of so many bytes (whole pages) ends at `top`, before memory
// that nobody can read. What it throws is thrown here.
void OnEdgeStack(std::size_t bytes, const std::function<void(std::uint64_t top)>& body);

}  // namespace pmuconf

#endif  // PMUCONF_EDGE_STACK_H_

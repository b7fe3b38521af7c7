// SPDX-License-Identifier: Apache-2.0
// OnEdgeStack() runs a thread whose stack ends at unreadable memory, and passes on its exceptions.
#include "system/edge_stack.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "system/context.h"
#include "system/fd.h"

namespace pmuconf {
namespace {

constexpr std::size_t kStack = 256 * 1024;

TEST(EdgeStack, EndsWhereNothingCanBeRead) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Fd out(ends[0]);
  const Fd in(ends[1]);
  bool below = false;
  ssize_t last = 0, next = 0;
  OnEdgeStack(kStack, [&](std::uint64_t top) {
    const char here = 0;
    const std::uint64_t left = top - reinterpret_cast<std::uint64_t>(&here);
    below = left < kStack;
    const char* const end = &here + left;
    last = write(in.get(), end - 1, 1);
    next = write(in.get(), end, 1);
  });
  EXPECT_TRUE(below);
  EXPECT_EQ(last, 1);
  EXPECT_EQ(next, -1);
}

TEST(EdgeStack, ThrowsWhatItsBodyThrows) {
  EXPECT_THROW(OnEdgeStack(kStack, [](std::uint64_t) { SkipUnclaimed("this"); }), Skipped);
}

}  // namespace
}  // namespace pmuconf

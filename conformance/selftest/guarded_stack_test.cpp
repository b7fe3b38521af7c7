// SPDX-License-Identifier: Apache-2.0
// RunOnGuardedStack() runs a thread whose stack ends at unreadable memory, and passes on its
// exceptions.
#include "system/guarded_stack.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "system/context.h"
#include "system/fd.h"

namespace pmuconf {
namespace {

constexpr std::size_t kStack = 256 * 1024;

TEST(GuardedStack, StackEndsBeforeUnreadableMemory) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Fd out(ends[0]);
  const Fd in(ends[1]);
  bool below = false;
  ssize_t last = 0, next = 0;
  RunOnGuardedStack(kStack, [&](std::uint64_t top) {
    const char here = 0;
    const std::uint64_t distance = top - reinterpret_cast<std::uint64_t>(&here);
    below = distance < kStack;
    const char* const end = &here + distance;
    last = write(in.get(), end - 1, 1);
    next = write(in.get(), end, 1);
  });
  EXPECT_TRUE(below);
  EXPECT_EQ(last, 1);
  EXPECT_EQ(next, -1);
}

TEST(GuardedStack, RethrowsExceptionOfBody) {
  EXPECT_THROW(RunOnGuardedStack(kStack, [](std::uint64_t) { SkipUnclaimed("this"); }), Skipped);
}

}  // namespace
}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// The interrupts of a CPU are the sum of its column in /proc/interrupts, which may have gaps.
#include "system/interrupts.h"

#include <gtest/gtest.h>

namespace pmuconf {
namespace {

constexpr const char* kText =
    "           CPU0       CPU2       \n"
    "  0:        117          1   IO-APIC   2-edge      timer\n"
    "NMI:          5         30   Non-maskable interrupts\n"
    "ERR:          7\n";

TEST(Interrupts, EachCpuHasItsColumn) {
  EXPECT_EQ(InterruptsIn(kText, 0), 117U + 5U + 7U);
  EXPECT_EQ(InterruptsIn(kText, 2), 1U + 30U);
}

TEST(Interrupts, OfflineCpuHasNone) {
  EXPECT_EQ(InterruptsIn(kText, 1), 0U);
  EXPECT_EQ(InterruptsIn("", 0), 0U);
}

}  // namespace
}  // namespace pmuconf

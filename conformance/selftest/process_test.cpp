// SPDX-License-Identifier: Apache-2.0
// RunProcess() ends a process at its deadline, with all its children.
#include "harness/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "harness/budget.h"
#include "system/broken.h"
#include "system/context.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

using testing::HasSubstr;

TEST(RunProcess, ReturnsStatusAndOutputs) {
  const ProcessResult result =
      RunProcess({"sh", "-c", "echo out; echo err >&2; echo result >&3; exit 3"}, 10);
  EXPECT_EQ(result.status, 3);
  EXPECT_FALSE(result.signalled);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.result, "result\n");
}

TEST(RunProcess, ReportsSignal) {
  const ProcessResult result = RunProcess({"sh", "-c", "kill -ABRT $$"}, 10);
  EXPECT_TRUE(result.signalled);
  EXPECT_EQ(result.status, 128 + SIGABRT);
}

TEST(RunProcess, KillsProcessGroupAtDeadline) {
  const ProcessResult result = RunProcess({"sh", "-c", "sleep 60 & echo $!; sleep 60"}, 0.5);
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.unkillable);
  EXPECT_LT(result.duration_s, 6.0);
}

TEST(RunProcess, DoesNotWaitForRemainingChildren) {
  const ProcessResult result = RunProcess({"sh", "-c", "sleep 60 & exit 0"}, 30);
  EXPECT_EQ(result.status, 0);
  EXPECT_LT(result.duration_s, 20.0);
}

TEST(RunProcess, TruncatesOutput) {
  const ProcessResult result = RunProcess({"sh", "-c", "yes | head -c 1000000"}, 30);
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out.size(), kOutputLimit);
}

// A wakeup could take the CPU from the program, and cause faults that its events count.
TEST(RunProcess, OutputDoesNotWakeTheParent) {
  rusage before = {}, after = {};
  getrusage(RUSAGE_THREAD, &before);
  const ProcessResult result =
      RunProcess({"sh", "-c", "for i in $(seq 500); do /bin/echo $i; done"}, 60);
  getrusage(RUSAGE_THREAD, &after);
  EXPECT_EQ(result.status, 0);
  const double slices = result.duration_s / Budget::kSlice_s;
  EXPECT_LE(after.ru_nvcsw - before.ru_nvcsw, 10 + 2 * slices);
}

TEST(RunProcess, ReportsMissingProgram) {
  const ProcessResult result = RunProcess({"no-such-program"}, 10);
  EXPECT_EQ(result.status, 127);
  EXPECT_THAT(result.err, HasSubstr("no-such-program"));
}

TEST(RunProcess, StandardInputIsEmpty) { EXPECT_EQ(RunProcess({"cat"}, 10).status, 0); }

TEST(Child, RunsAfterGo) {
  Child child([] { return 7; });
  child.Go();
  EXPECT_EQ(child.Wait(), 7);
}

TEST(Child, SkipInChildSkipsParent) {
  Child inner([] {
    Child child([]() -> int { SkipUnclaimed("needs a period of 1"); });
    child.Go();
    return child.Wait();
  });
  inner.Go();
  try {
    inner.Wait();
    FAIL() << "no result arrived";
  } catch (const Skipped& skipped) {
    EXPECT_EQ(skipped.skip_reason, SkipReason::kNotClaimed);
    EXPECT_EQ(skipped.reason, "needs a period of 1");
  }
}

TEST(Child, ViolationInChildIsThrownInParent) {
  Child child([]() -> int { throw Violation{"the interrupt does not end"}; });
  try {
    child.Run();
    FAIL() << "no result arrived";
  } catch (const Violation& violation) {
    EXPECT_EQ(violation.text, "the interrupt does not end");
  }
}

TEST(Child, ReportsSignal) {
  Child child([] { return raise(SIGKILL); });
  child.Go();
  EXPECT_EQ(child.Wait(), -SIGKILL);
}

TEST(Child, DestructorKillsChildWithoutGo) {
  const Child child([] { return 0; });
  EXPECT_GT(child.pid(), 0);
}

}  // namespace
}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Task switches of a CPU name the tasks that ran on it. The tasks of a case and of the kernel are
// not foreign.
#include "perf/task_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <vector>

namespace pmuconf {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Record Switch(std::uint32_t type, std::vector<std::uint32_t> ids) {
  Record record{.type = type, .misc = 0, .body = std::vector<std::byte>(ids.size() * 4)};
  std::memcpy(record.body.data(), ids.data(), record.body.size());
  return record;
}

TEST(TaskWatch, SwitchNamesTheTasksOnBothSides) {
  const std::vector<Record> records = {
      Switch(PERF_RECORD_SWITCH_CPU_WIDE, {71, 72, 50, 50}),
      Switch(PERF_RECORD_SWITCH_CPU_WIDE, {0, 0, 9, 9}),      // from idle
      Switch(PERF_RECORD_SWITCH_CPU_WIDE, {~0u, ~0u, 9, 9}),  // from a task that is released
  };
  EXPECT_THAT(SwitchedTasks(records), ElementsAre(9, 50, 71));
}

TEST(TaskWatch, OtherRecordsAndShortOnesNameNone) {
  const std::vector<Record> records = {
      Switch(PERF_RECORD_SWITCH, {71, 72, 50, 50}),
      Switch(PERF_RECORD_SWITCH_CPU_WIDE, {71, 72}),
  };
  EXPECT_THAT(SwitchedTasks(records), IsEmpty());
}

TEST(TaskWatch, ForkAndExitNameTheParentAndThreadsHaveNone) {
  const std::vector<Record> records = {
      Switch(PERF_RECORD_FORK, {71, 70, 71, 70}),
      Switch(PERF_RECORD_EXIT, {81, 80, 81, 80}),
      Switch(PERF_RECORD_FORK, {90, 90, 91, 90}),
      Switch(PERF_RECORD_COMM, {95, 94, 0, 0}),
  };
  EXPECT_THAT(ParentsIn(records), ElementsAre(Pair(71, 70), Pair(81, 80)));
}

// The processes of /proc in these tests.
bool Known(pid_t pid, TaskFacts* facts) {
  static const std::map<pid_t, TaskFacts> kTasks = {
      {2, {.parent = 0, .group = 0, .kernel_thread = true}},
      {17, {.parent = 2, .group = 0, .kernel_thread = true}},
      {100, {.parent = 1, .group = 100}},  // the case
      {101, {.parent = 100, .group = 101}},
      {102, {.parent = 101, .group = 102}},
      {103, {.parent = 1, .group = 100}},  // its parent has ended
      {200, {.parent = 1, .group = 200}},
      {201, {.parent = 200, .group = 200}},
  };
  const auto found = kTasks.find(pid);
  if (found != kTasks.end()) *facts = found->second;
  return found != kTasks.end();
}

TEST(TaskWatch, TasksOfTheCaseAndOfTheKernelAreNotForeign) {
  EXPECT_THAT(Foreign({2, 17, 100, 101, 102, 103}, {100}, {}, Known), IsEmpty());
  EXPECT_THAT(Foreign({100, 200, 201}, {100}, {}, Known), ElementsAre(200, 201));
}

TEST(TaskWatch, EndedTaskBelongsToItsRecordedParent) {
  const std::map<pid_t, pid_t> parents = {{110, 102}, {210, 201}, {18, 2}};
  EXPECT_THAT(Foreign({110, 210, 18, 999}, {100}, parents, Known), ElementsAre(210, 999));
}

TEST(TaskWatch, LoopOfParentsEnds) {
  EXPECT_THAT(Foreign({300}, {100}, {{300, 301}, {301, 300}}, Known), ElementsAre(300));
}

}  // namespace
}  // namespace pmuconf

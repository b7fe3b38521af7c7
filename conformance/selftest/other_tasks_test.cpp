// SPDX-License-Identifier: Apache-2.0
// Task switches of a CPU name the tasks that ran on it.
#include "perf/other_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace pmuconf {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Record Switch(std::uint32_t type, std::vector<std::uint32_t> ids) {
  Record record{.type = type, .misc = 0, .body = std::vector<std::byte>(ids.size() * 4)};
  std::memcpy(record.body.data(), ids.data(), record.body.size());
  return record;
}

TEST(OtherTasks, SwitchNamesTheTasksOnBothSides) {
  const std::vector<Record> records = {
      Switch(PERF_RECORD_SWITCH_CPU_WIDE, {71, 72, 50, 50}),
      Switch(PERF_RECORD_SWITCH_CPU_WIDE, {0, 0, 9, 9}),  // from idle
  };
  EXPECT_THAT(SwitchedTasks(records), ElementsAre(9, 50, 71));
}

TEST(OtherTasks, OtherRecordsAndShortOnesNameNone) {
  const std::vector<Record> records = {
      Switch(PERF_RECORD_SWITCH, {71, 72, 50, 50}),
      Switch(PERF_RECORD_SWITCH_CPU_WIDE, {71, 72}),
  };
  EXPECT_THAT(SwitchedTasks(records), IsEmpty());
}

}  // namespace
}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// ReadUserPage() follows perf_event_open(2), for every counter width and with concurrent updates.
#include "perf/user_page.h"

#include <gtest/gtest.h>

namespace pmuconf {
namespace {

perf_event_mmap_page Page() {
  perf_event_mmap_page page = {};
  page.lock = 8;
  page.index = 3;
  page.offset = 1'000;
  page.pmc_width = 48;
  page.cap_user_rdpmc = 1;
  return page;
}

TEST(ReadUserPage, AddsSignExtendedCounterOfIndex) {
  const perf_event_mmap_page page = Page();
  std::uint32_t counter_read = 0;
  const auto below_zero = [&counter_read](std::uint32_t counter) {
    counter_read = counter;
    return 0xffff'ffff'fff0u;
  };
  EXPECT_EQ(ReadUserPage(page, below_zero).count, 1'000u - 16);
  EXPECT_EQ(counter_read, 2u);
  EXPECT_EQ(ReadUserPage(page, [](std::uint32_t) { return 5u; }).count, 1'005u);
}

TEST(ReadUserPage, DoesNotReadCounterWithoutIndexOrPermission) {
  const auto never = [](std::uint32_t) -> std::uint64_t {
    ADD_FAILURE();
    return 0;
  };
  perf_event_mmap_page page = Page();
  page.index = 0;
  EXPECT_EQ(ReadUserPage(page, never).count, 1'000u);
  page.index = 1;
  page.cap_user_rdpmc = 0;
  EXPECT_EQ(ReadUserPage(page, never).count, 1'000u);
}

TEST(ReadUserPage, RetriesAfterConcurrentUpdate) {
  perf_event_mmap_page page = Page();
  int reads = 0;
  const auto interrupted = [&](std::uint32_t) -> std::uint64_t {
    if (++reads < 3) {
      page.lock += 2;
      page.offset += 100;
    }
    return 7;
  };
  const UserPage read = ReadUserPage(page, interrupted);
  EXPECT_EQ(reads, 3);
  EXPECT_EQ(read.lock, 12u);
  EXPECT_EQ(read.count, 1'207u);
}

TEST(ReadUserPage, ConvertsCyclesToTime) {
  perf_event_mmap_page page = Page();
  page.cap_user_rdpmc = 0;
  page.cap_user_time = 1;
  page.time_shift = 4;
  page.time_mult = 8;  // half a nanosecond per cycle
  page.time_offset = 0 - std::uint64_t{50};
  EXPECT_EQ(ReadUserPage(page, ReadCounter, [] { return 201u; }).since, 50u);
  page.cap_user_time_short = 1;  // eight bits of the clock; the last update was at 0x1f0
  page.time_cycles = 0x1f0;
  page.time_mask = 0xff;
  EXPECT_EQ(ReadUserPage(page, ReadCounter, [] { return 0x10u; }).cycles, 0x210u);
}

}  // namespace
}  // namespace pmuconf

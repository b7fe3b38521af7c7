// SPDX-License-Identifier: Apache-2.0
// Tests counter arithmetic: the vectors, and that no number of reloads loses an event.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core.h"

namespace pmuconf {
namespace {

const refpmu_delta_vector kDeltas[] = {
#include "period_delta.inc"
};

const refpmu_reload_vector kReloads[] = {
#include "period_reload.inc"
};

TEST(PeriodDelta, MatchesTheVectors) {
  for (const refpmu_delta_vector& row : kDeltas) {
    EXPECT_EQ(refpmu_period_delta(row.prev, row.now, row.width), row.delta) << row.name;
  }
}

TEST(PeriodDelta, DeltaEqualsTheAddedEventsAtEveryWidth) {
  std::mt19937_64 random(1);
  for (unsigned width = 1; width <= 64; ++width) {
    for (int i = 0; i < 200; ++i) {
      const u64 start = random() & refpmu_low_bits(width);
      const u64 added = random() & refpmu_low_bits(width);
      const u64 end = (start + added) & refpmu_low_bits(width);
      EXPECT_EQ(refpmu_period_delta(start, end, width), added) << width;
    }
  }
}

TEST(PeriodReload, MatchesTheVectors) {
  for (const refpmu_reload_vector& row : kReloads) {
    SCOPED_TRACE(row.name);
    refpmu_period period = {row.period, row.left, 0};
    const refpmu_reload reload = refpmu_period_reload(&period, row.width, row.min_period);
    EXPECT_EQ(reload.raw, row.raw);
    EXPECT_EQ(reload.elapsed, row.elapsed);
    EXPECT_EQ(period.period, row.period);
    EXPECT_EQ(period.left, row.left_after);
    EXPECT_EQ(period.last, row.last_after);
  }
}

TEST(PeriodCounting, IsAtMostHalfTheRange) {
  for (unsigned width = 2; width <= 64; ++width) {
    const u64 period = refpmu_period_counting(width);
    EXPECT_GE(period, 1u) << width;
    EXPECT_LE(period, 1ULL << (width - 1)) << width;
    EXPECT_LE(period, 0x7fffffffffffffffULL) << width;  // fits the signed period_left
  }
}

// Simulates a hardware counter. Its reload is late by up to a quarter of the range, and the period
// changes sometimes, as in frequency mode.
TEST(PeriodReload, ReloadLosesNoEventsAtAnyWidthDelayAndPeriod) {
  std::mt19937_64 random(2);
  for (unsigned width : {8u, 16u, 31u, 32u, 33u, 48u, 63u, 64u}) {
    SCOPED_TRACE(width);
    const u64 quarter = u64{1} << (width - 2);
    const u64 longest = std::min<u64>(quarter * 3, 1ULL << 40);
    const u64 shortest = std::max<u64>(1, longest / 64);
    u64 events = 0;
    u64 elapsed = 0;
    u64 first = shortest + random() % longest;
    refpmu_period period = {first, static_cast<s64>(first), 0};
    u64 raw = refpmu_period_reload(&period, width, 1).raw;
    for (int i = 0; i < 2000; ++i) {
      const u64 to_overflow = (0 - raw) & refpmu_low_bits(width);
      ASSERT_EQ(to_overflow,
                std::min<u64>(static_cast<u64>(period.left), refpmu_period_counting(width)));
      // Less than a period late: beyond that, the contract allows whole periods to be skipped.
      const u64 delay = random() % std::min<u64>(quarter, shortest);
      const u64 now = (raw + to_overflow + delay) & refpmu_low_bits(width);
      const u64 delta = refpmu_period_delta(raw, now, width);
      ASSERT_EQ(delta, to_overflow + delay);
      events += delta;
      period.left -= static_cast<s64>(delta);
      if (i % 7 == 0) period.period = shortest + random() % longest;
      const refpmu_reload reload = refpmu_period_reload(&period, width, 1);
      if (reload.elapsed) elapsed += period.last;
      raw = reload.raw;
      ASSERT_GT(period.left, 0);
      ASSERT_EQ(events, first + elapsed - static_cast<u64>(period.left)) << "reload " << i;
    }
  }
}

}  // namespace
}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Tests the windows of a trace buffer: whole records, no overwriting of unread data, no gap except
// the padding at the end, and a threshold in time for the reader.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "core.h"

extern "C" {
#include "window.h"
}

namespace {

constexpr u64 kRecord = 24;
constexpr u64 kBuffer = 4096;
constexpr u64 kNever = kBuffer * 1000;

refpmu_window Find(u64 head, u64 room, u64 wakeup = kNever, u64 buffer = kBuffer) {
  refpmu_window window = {};
  EXPECT_EQ(refpmu_window_find(head, room, wakeup, buffer, kRecord, &window), 0);
  return window;
}

TEST(Window, EmptyBufferIsFilledUpToTheReader) {
  const refpmu_window window = Find(0, kBuffer - 1);
  EXPECT_EQ(window.offset, 0U);
  EXPECT_EQ(window.size, 170 * kRecord);
  EXPECT_TRUE(window.last);
  EXPECT_EQ(window.threshold, 169 * kRecord);
}

TEST(Window, SpaceForLessThanARecordIsEnospc) {
  refpmu_window window = {1, 2, 3, true};
  EXPECT_EQ(refpmu_window_find(0, kRecord - 1, kNever, kBuffer, kRecord, &window), -ENOSPC);
  EXPECT_EQ(refpmu_window_find(0, 0, kNever, kBuffer, kRecord, &window), -ENOSPC);
  EXPECT_EQ(window.offset, 1U) << "an output was written on failure";
}

TEST(Window, ShortEndOfTheBufferIsPadding) {
  EXPECT_EQ(refpmu_window_pad(0, kBuffer, kRecord), 0U);
  EXPECT_EQ(refpmu_window_pad(169 * kRecord, kBuffer, kRecord), 0U);
  EXPECT_EQ(refpmu_window_pad(170 * kRecord, kBuffer, kRecord), 16U);
  EXPECT_EQ(refpmu_window_pad(kBuffer * 7 + 170 * kRecord, kBuffer, kRecord), 16U);
  EXPECT_EQ(refpmu_window_pad(8192 - 24, 8192, kRecord), 0U) << "a record that just fits";
}

TEST(Window, WindowAtTheEndIsNotLastIfTheStartIsFree) {
  const u64 head = 100 * kRecord;
  const u64 end = kBuffer - head;
  EXPECT_TRUE(Find(head, end + kRecord - 1).last);
  const refpmu_window window = Find(head, end + kRecord);
  EXPECT_FALSE(window.last);
  EXPECT_EQ(window.size, 70 * kRecord);
  EXPECT_EQ(window.threshold, window.size) << "nothing to be looked at before its end";
}

TEST(Window, LastWindowOfOneRecordHasItsThresholdAtTheEnd) {
  const refpmu_window window = Find(0, kRecord);
  EXPECT_TRUE(window.last);
  EXPECT_EQ(window.threshold, kRecord);
}

TEST(Window, ThresholdIsAtTheFirstRecordThatReachesTheWakeup) {
  EXPECT_EQ(Find(0, kBuffer - 1, 1).threshold, kRecord);
  EXPECT_EQ(Find(0, kBuffer - 1, kRecord).threshold, kRecord);
  EXPECT_EQ(Find(0, kBuffer - 1, kRecord + 1).threshold, 2 * kRecord);
  EXPECT_EQ(Find(0, kBuffer - 1, 169 * kRecord).threshold, 169 * kRecord);
  EXPECT_EQ(Find(kRecord, 2047, kRecord).threshold, 84 * kRecord) << "a mark that is behind";
  EXPECT_EQ(Find(2 * kRecord, 2047, kRecord).threshold, 84 * kRecord) << "a mark that is behind";
}

TEST(Window, PositionsMayOverflow) {
  const u64 head = 0 - kBuffer;
  const refpmu_window window = Find(head, kBuffer - 1, kRecord);
  EXPECT_EQ(window.offset, 0U);
  EXPECT_EQ(window.threshold, 169 * kRecord) << "the mark is farther than the window";
  EXPECT_EQ(Find(head, kBuffer - 1, head + 5 * kRecord).threshold, 5 * kRecord);
}

TEST(Window, LapWrapsAroundTheEnd) {
  EXPECT_EQ(refpmu_window_lap(0, 48, 4080), 48U);
  EXPECT_EQ(refpmu_window_lap(48, 48, 4080), 0U);
  EXPECT_EQ(refpmu_window_lap(4056, 24, 4080), 48U);
}

// A random reader and a device that fills one window after the other. Each record must be complete,
// directly after the previous one, and never over an unread one.
TEST(Window, RandomReaderLosesAndRepeatsNoByte) {
  std::mt19937_64 random(20261121);
  for (int round = 0; round < 200; ++round) {
    const u64 buffer = 4096ULL << (random() % 4);
    const u64 record = 8 * (1 + random() % 8);
    u64 head = 0;
    u64 tail = 0;
    for (int step = 0; step < 200; ++step) {
      tail += random() % (head - tail + 1);
      const u64 pad = refpmu_window_pad(head, buffer, record);
      const u64 room = buffer - 1 - (head - tail);
      if (pad > room) continue;
      head += pad;
      refpmu_window window = {};
      const u64 wakeup = head + random() % buffer;
      if (refpmu_window_find(head, room - pad, wakeup, buffer, record, &window) != 0) {
        EXPECT_LT(room - pad, record);
        continue;
      }
      ASSERT_EQ(window.offset, head % buffer);
      ASSERT_GE(window.size, record);
      ASSERT_EQ(window.size % record, 0U);
      ASSERT_LE(window.offset + window.size, buffer);
      ASSERT_LE(window.size, room - pad);
      ASSERT_GE(window.threshold, record);
      ASSERT_LE(window.threshold, window.size);
      const u64 after = head + window.size;
      const u64 next_pad = refpmu_window_pad(after, buffer, record);
      ASSERT_EQ(window.last, room - pad - window.size < next_pad + record);
      head += record * (1 + random() % (window.size / record));
    }
  }
}

}  // namespace

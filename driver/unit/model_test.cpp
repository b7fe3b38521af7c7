// SPDX-License-Identifier: Apache-2.0
// Tests the device model: registers against the manual, counters against a simple, slow device.
#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "core.h"

namespace pmuconf {
namespace {

constexpr u64 kNever = ~0ULL;
constexpr u64 kBothRings = REFPMU_EVTSEL_USR | REFPMU_EVTSEL_OS;
constexpr u64 kOn = REFPMU_EVTSEL_EN | REFPMU_EVTSEL_INT | kBothRings;

refpmu_model Device(refpmu_model_params params = {4, 3, 48}) {
  refpmu_model model;
  EXPECT_EQ(refpmu_model_reset(&model, &params), 0);
  return model;
}

void Write(refpmu_model& model, u32 reg, u64 value) {
  EXPECT_EQ(refpmu_model_write(&model, reg, value), 0) << std::hex << reg << " = " << value;
}

u64 Read(refpmu_model& model, u32 reg) {
  u64 value = 0xdead;
  EXPECT_EQ(refpmu_model_read(&model, reg, &value), 0) << std::hex << reg;
  return value;
}

// Compares padding too: a rejected write must not change a byte.
bool Same(const refpmu_model& a, const refpmu_model& b) {
  return memcmp(static_cast<const void*>(&a), static_cast<const void*>(&b), sizeof(a)) == 0;
}

TEST(ModelReset, InvalidParametersAreRejectedWithoutEffect) {
  refpmu_model model;
  memset(&model, 0x5a, sizeof(model));
  const refpmu_model before = model;
  const refpmu_model_params bad[] = {{0, 3, 48}, {33, 3, 48},   {4, 4, 48},    {4, 3, 15},
                                     {4, 3, 65}, {4, 3, 48, 7}, {4, 3, 48, 64}};
  for (const refpmu_model_params& params : bad) {
    EXPECT_EQ(refpmu_model_reset(&model, &params), -EINVAL);
    EXPECT_TRUE(Same(model, before));
  }
  const refpmu_model_params good[] = {{1, 0, 16}, {32, 3, 64, 32, 1, true, true}, {4, 3, 48, 8}};
  for (const refpmu_model_params& params : good) {
    EXPECT_EQ(refpmu_model_reset(&model, &params), 0);
  }
}

TEST(ModelReset, NothingCountsAfterReset) {
  refpmu_model model = Device();
  EXPECT_FALSE(refpmu_model_line(&model));
  EXPECT_EQ(refpmu_model_ticks_to_overflow(&model), kNever);
  EXPECT_EQ(Read(model, REFPMU_REG_GLOBAL_STATUS), 0u);
  EXPECT_EQ(refpmu_model_advance(&model, kNever, REFPMU_USER, false).done, kNever);
  EXPECT_EQ(Read(model, REFPMU_REG_PMC(0)), 0u);
  EXPECT_EQ(Read(model, REFPMU_REG_FIXED_CTR(0)), 0u);
}

TEST(ModelReset, ModelCanBeResetWithItsOwnParameters) {
  refpmu_model model = Device({4, 3, 48});
  Write(model, REFPMU_REG_GLOBAL_CTRL, 1);
  EXPECT_EQ(refpmu_model_reset(&model, &model.params), 0);
  EXPECT_TRUE(Same(model, Device({4, 3, 48})));
}

// Parameters of a device with all features.
constexpr refpmu_model_params kWhole = {4, 3, 48, 16, 1, true, true};

TEST(ModelRegisters, ExactlyTheRegistersOfTheDeviceExist) {
  for (const refpmu_model_params params : {refpmu_model_params{1, 0, 16},
                                           {4, 3, 48},
                                           {8, 2, 40, 8},
                                           {32, 3, 64, 32, 1, true},
                                           {4, 3, 48, 0, 1, false, true},
                                           kWhole}) {
    refpmu_model model = Device(params);
    for (u32 reg = 0; reg < 0xe00; ++reg) {
      const auto within = [reg](u32 base, u32 n) { return reg >= base && reg < base + n; };
      const bool counter = within(0xc1, params.general) || within(0x4c1, params.general) ||
                           within(0x186, params.general) || within(0x309, params.fixed);
      const bool control = within(0x38d, 1) || within(0x38f, 3) || within(0x1d9, 1);
      const bool branches = params.lbr && (within(0x1c8, 2) || within(0x680, params.lbr) ||
                                           within(0x6c0, params.lbr) || within(0xdc0, params.lbr));
      const bool records =
          params.records && (within(0x1a6, 2) || within(0x3f1, 2) || within(0x3f6, 1));
      const bool area = (params.records || params.trace) && within(0x600, 1);
      const bool writable = counter || control || branches || records || area;
      const bool readable = writable || reg == 0x345 || reg == 0x38e;
      u64 value = 0xdead;
      EXPECT_EQ(refpmu_model_read(&model, reg, &value), readable ? 0 : -EINVAL) << std::hex << reg;
      EXPECT_EQ(value == 0xdead, !readable) << std::hex << reg;
      EXPECT_EQ(refpmu_model_write(&model, reg, 0), writable ? 0 : -EINVAL) << std::hex << reg;
    }
    u64 value;
    EXPECT_EQ(refpmu_model_read(&model, 0xffffffff, &value), -EINVAL);
    EXPECT_EQ(refpmu_model_write(&model, 0xffffffff, 0), -EINVAL);
  }
}

using WritableBits = std::vector<std::pair<u32, u64>>;

void ExpectWritable(const refpmu_model_params& params, const WritableBits& writable) {
  for (const auto& [reg, mask] : writable) {
    for (int bit = 0; bit < 64; ++bit) {
      refpmu_model model = Device(params);
      Write(model, REFPMU_REG_GLOBAL_STATUS_SET, 1);
      const refpmu_model before = model;
      const bool allowed = mask & BIT_ULL(bit);
      EXPECT_EQ(refpmu_model_write(&model, reg, BIT_ULL(bit)), allowed ? 0 : -EINVAL)
          << std::hex << reg << " bit " << std::dec << bit;
      if (!allowed) {
        EXPECT_TRUE(Same(model, before)) << std::hex << reg;
      }
    }
  }
}

TEST(ModelRegisters, ReservedBitsAreRejectedWithoutEffect) {
  const WritableBits everywhere = {
      {REFPMU_REG_EVTSEL(3), 0xfff7ffff},        {REFPMU_REG_A_PMC(3), 0xffffffffffff},
      {REFPMU_REG_FIXED_CTR(2), 0xffffffffffff}, {REFPMU_REG_FIXED_CTR_CTRL, 0xfff},
      {REFPMU_REG_GLOBAL_CTRL, 0x70000000f},     {REFPMU_REG_GLOBAL_STATUS, 0},
      {REFPMU_REG_PERF_CAPABILITIES, 0},
  };
  ExpectWritable({4, 3, 48}, everywhere);
  ExpectWritable(kWhole, everywhere);
  ExpectWritable({4, 3, 48}, {{REFPMU_REG_GLOBAL_STATUS_SET, 0x080000070000000f},
                              {REFPMU_REG_GLOBAL_STATUS_RESET, 0x080000070000000f},
                              {REFPMU_REG_DEBUGCTL, 0x1000}});
}

TEST(ModelRegisters, BitsOfAbsentFeaturesAreReserved) {
  ExpectWritable(kWhole, {{REFPMU_REG_GLOBAL_STATUS_SET, 0x4c0000070000000f},
                          {REFPMU_REG_GLOBAL_STATUS_RESET, 0x4c0000070000000f},
                          {REFPMU_REG_DEBUGCTL, 0x1fc1},
                          {REFPMU_REG_OFFCORE_RSP(0), 0x3fffff8fff},
                          {REFPMU_REG_OFFCORE_RSP(1), 0x3fffff8fff},
                          {REFPMU_REG_LD_LAT, 0xffff},
                          {REFPMU_REG_PEBS_ENABLE, 0x70000000f},
                          {REFPMU_REG_PEBS_DATA_CFG, 0xff00000b},
                          {REFPMU_REG_DS_AREA, ~7ULL},
                          {REFPMU_REG_LBR_SELECT, 0x3ff},
                          {REFPMU_REG_LBR_TOS, 0xf},
                          {REFPMU_REG_LBR_FROM(15), ~0ULL},
                          {REFPMU_REG_LBR_TO(15), ~0ULL},
                          {REFPMU_REG_LBR_INFO(15), 0xef0000000000ffff}});
  ExpectWritable({4, 3, 48, 8}, {{REFPMU_REG_GLOBAL_STATUS_SET, 0x0c0000070000000f},
                                 {REFPMU_REG_DEBUGCTL, 0x1801},
                                 {REFPMU_REG_LBR_TOS, 0x7}});
  ExpectWritable({4, 3, 48, 0, 1, true, false}, {{REFPMU_REG_GLOBAL_STATUS_SET, 0x480000070000000f},
                                                 {REFPMU_REG_DEBUGCTL, 0x1000},
                                                 {REFPMU_REG_PEBS_DATA_CFG, 0x3}});
  ExpectWritable({4, 3, 48, 0, 1, false, true}, {{REFPMU_REG_GLOBAL_STATUS_SET, 0x480000070000000f},
                                                 {REFPMU_REG_DEBUGCTL, 0x17c0}});
}

TEST(ModelRegisters, ReadReturnsTheWrittenValue) {
  refpmu_model model = Device();
  for (const auto& [reg, value] : {std::pair<u32, u64>{REFPMU_REG_EVTSEL(2), 0x5341d0},
                                   {REFPMU_REG_A_PMC(1), 0xabcdef012345},
                                   {REFPMU_REG_FIXED_CTR(1), 0x987654321012},
                                   {REFPMU_REG_FIXED_CTR_CTRL, 0x0b2},
                                   {REFPMU_REG_GLOBAL_CTRL, 0x500000006}}) {
    Write(model, reg, value);
    EXPECT_EQ(Read(model, reg), value) << std::hex << reg;
  }
  EXPECT_EQ(Read(model, REFPMU_REG_PMC(1)), 0xabcdef012345u);
  EXPECT_EQ(Read(model, REFPMU_REG_PERF_CAPABILITIES), BIT_ULL(13));
}

TEST(ModelRegisters, LegacyCounterWriteExtendsBit31ToTheWidth) {
  refpmu_model model = Device();
  Write(model, REFPMU_REG_PMC(0), 0x7fffffff);
  EXPECT_EQ(Read(model, REFPMU_REG_A_PMC(0)), 0x7fffffffu);
  Write(model, REFPMU_REG_PMC(0), 0x80000000);
  EXPECT_EQ(Read(model, REFPMU_REG_A_PMC(0)), 0xffff80000000u);
  Write(model, REFPMU_REG_PMC(0), 0x12345678'00000001);
  EXPECT_EQ(Read(model, REFPMU_REG_A_PMC(0)), 1u);
  refpmu_model wide = Device({1, 0, 64});
  Write(wide, REFPMU_REG_PMC(0), 0xffffffff);
  EXPECT_EQ(Read(wide, REFPMU_REG_A_PMC(0)), ~0ULL);
  refpmu_model narrow = Device({1, 0, 16});
  Write(narrow, REFPMU_REG_PMC(0), 0x80012345);
  EXPECT_EQ(Read(narrow, REFPMU_REG_A_PMC(0)), 0x2345u);
}

TEST(ModelLine, StaysUpUntilEveryAssertedBitIsAcknowledged) {
  refpmu_model model = Device();
  Write(model, REFPMU_REG_GLOBAL_STATUS_SET, 0x100000003);
  EXPECT_TRUE(refpmu_model_line(&model));
  Write(model, REFPMU_REG_GLOBAL_STATUS_RESET, 0x100000001);
  EXPECT_EQ(Read(model, REFPMU_REG_GLOBAL_STATUS), 2u);
  EXPECT_TRUE(refpmu_model_line(&model));
  Write(model, REFPMU_REG_GLOBAL_STATUS_RESET, 2);
  EXPECT_FALSE(refpmu_model_line(&model));
}

TEST(ModelLine, CounterWithoutInterruptDoesNotRaiseTheLine) {
  refpmu_model model = Device();
  Write(model, REFPMU_REG_GLOBAL_CTRL, 0x100000001);
  Write(model, REFPMU_REG_EVTSEL(0), (kOn & ~REFPMU_EVTSEL_INT) | 0xc0);
  Write(model, REFPMU_REG_FIXED_CTR_CTRL, REFPMU_FIXED_OS(0) | REFPMU_FIXED_USR(0));
  Write(model, REFPMU_REG_A_PMC(0), 0xffffffffffff);
  Write(model, REFPMU_REG_FIXED_CTR(0), 0xffffffffffff);
  EXPECT_EQ(refpmu_model_pulse(&model, 0xc0, 1, REFPMU_USER, false).overflowed, 0x100000001u);
  EXPECT_EQ(Read(model, REFPMU_REG_GLOBAL_STATUS), 0x100000001u);
  EXPECT_FALSE(refpmu_model_line(&model));
}

TEST(ModelLine, RisesAtTheOverflowOfAFixedCounterWithPmi) {
  refpmu_model model = Device();
  Write(model, REFPMU_REG_GLOBAL_CTRL, 0x100000000);
  Write(model, REFPMU_REG_FIXED_CTR_CTRL, REFPMU_FIXED_USR(0) | REFPMU_FIXED_PMI(0));
  Write(model, REFPMU_REG_FIXED_CTR(0), 0xfffffffffff6);
  EXPECT_EQ(refpmu_model_pulse(&model, 0xc0, 100, REFPMU_KERNEL, false).done, 100u);
  const refpmu_model_step step = refpmu_model_pulse(&model, 0xc0, 100, REFPMU_USER, false);
  EXPECT_EQ(step.done, 10u);
  EXPECT_EQ(step.overflowed, 0x100000000u);
  EXPECT_TRUE(refpmu_model_line(&model));
  EXPECT_EQ(Read(model, REFPMU_REG_FIXED_CTR(0)), 0u);
}

TEST(ModelPulse, PulseStopsAtTheFirstOverflowUnlessRunOn) {
  for (unsigned width : {16u, 32u, 48u, 63u, 64u}) {
    SCOPED_TRACE(width);
    refpmu_model model = Device({4, 0, static_cast<u8>(width)});
    Write(model, REFPMU_REG_GLOBAL_CTRL, 3);
    Write(model, REFPMU_REG_EVTSEL(0), kOn | 0x1d0);
    Write(model, REFPMU_REG_EVTSEL(1), kOn | 0x1d0);
    Write(model, REFPMU_REG_A_PMC(0), refpmu_low_bits(width) - 9);
    refpmu_model again = model;
    const refpmu_model_step stopped = refpmu_model_pulse(&model, 0x1d0, 1000, REFPMU_KERNEL, false);
    EXPECT_EQ(stopped.done, 10u);
    EXPECT_EQ(stopped.overflowed, 1u);
    EXPECT_EQ(Read(model, REFPMU_REG_PMC(0)), 0u);
    EXPECT_EQ(Read(model, REFPMU_REG_PMC(1)), 10u);
    const refpmu_model_step ran = refpmu_model_pulse(&again, 0x1d0, 1000, REFPMU_KERNEL, true);
    EXPECT_EQ(ran.done, 1000u);
    EXPECT_EQ(ran.overflowed, 1u);
    EXPECT_EQ(Read(again, REFPMU_REG_PMC(0)), 990u);
    EXPECT_EQ(Read(again, REFPMU_REG_PMC(1)), 1000u);
  }
}

TEST(ModelPulse, CountsMoreEventsThanTheRange) {
  refpmu_model model = Device({1, 0, 16});
  Write(model, REFPMU_REG_GLOBAL_CTRL, 1);
  Write(model, REFPMU_REG_EVTSEL(0), kOn | 0x1d0);
  EXPECT_EQ(refpmu_model_pulse(&model, 0x1d0, 0x123456789, REFPMU_USER, true).overflowed, 1u);
  EXPECT_EQ(Read(model, REFPMU_REG_PMC(0)), 0x6789u);
}

TEST(ModelPulse, CounterOf64BitsCountsItsRangeWithoutOverflow) {
  refpmu_model model = Device({1, 0, 64});
  Write(model, REFPMU_REG_GLOBAL_CTRL, 1);
  Write(model, REFPMU_REG_EVTSEL(0), kOn | 0x3c);
  EXPECT_EQ(refpmu_model_ticks_to_overflow(&model), kNever);
  EXPECT_EQ(refpmu_model_pulse(&model, 0x3c, kNever, REFPMU_USER, false).done, kNever);
  EXPECT_FALSE(refpmu_model_line(&model));
  EXPECT_EQ(refpmu_model_ticks_to_overflow(&model), 1u);
  EXPECT_EQ(refpmu_model_advance(&model, 5, REFPMU_USER, false).done, 1u);
  EXPECT_TRUE(refpmu_model_line(&model));
}

TEST(ModelClock, ModelCountsOnlyWhileACounterIsEnabledAndNotFrozen) {
  refpmu_model model = Device();
  EXPECT_FALSE(refpmu_model_counting(&model));
  Write(model, REFPMU_REG_EVTSEL(0), kOn | 0x3c);
  EXPECT_FALSE(refpmu_model_counting(&model));
  Write(model, REFPMU_REG_GLOBAL_CTRL, 1);
  EXPECT_TRUE(refpmu_model_counting(&model));
  Write(model, REFPMU_REG_GLOBAL_STATUS_SET, REFPMU_STATUS_CTR_FROZEN);
  EXPECT_FALSE(refpmu_model_counting(&model));
  Write(model, REFPMU_REG_GLOBAL_STATUS_RESET, REFPMU_STATUS_CTR_FROZEN);
  EXPECT_TRUE(refpmu_model_counting(&model));
  Write(model, REFPMU_REG_GLOBAL_CTRL, 0);
  EXPECT_FALSE(refpmu_model_counting(&model));
}

TEST(ModelClock, TicksToOverflowOfDividedEventsDoNotWrap) {
  // If the value is low, the overflow of a divided event is further away than a 64-bit number of
  // ticks.
  for (u16 code : {REFPMU_EVENT_INSTRUCTIONS, REFPMU_EVENT_REF_CYCLES}) {
    refpmu_model model = Device({1, 0, 64});
    Write(model, REFPMU_REG_GLOBAL_CTRL, 1);
    Write(model, REFPMU_REG_EVTSEL(0), kOn | code);
    EXPECT_EQ(refpmu_model_ticks_to_overflow(&model), kNever);
    EXPECT_EQ(refpmu_model_advance(&model, kNever, REFPMU_USER, false).overflowed, 0u);
    const u64 divider = code == REFPMU_EVENT_INSTRUCTIONS ? 2 : 4;
    EXPECT_EQ(Read(model, REFPMU_REG_PMC(0)), kNever / divider);
    // The phase is preserved: one tick completes an event.
    EXPECT_EQ(refpmu_model_advance(&model, 1, REFPMU_USER, false).done, 1u);
    EXPECT_EQ(Read(model, REFPMU_REG_PMC(0)), kNever / divider + 1);
  }
}

TEST(ModelClock, OverflowBeyond64BitTicksIsNever) {
  refpmu_model model = Device({1, 0, 64});
  Write(model, REFPMU_REG_GLOBAL_CTRL, 1);
  Write(model, REFPMU_REG_EVTSEL(0), kOn | REFPMU_EVENT_REF_CYCLES);
  // 2^62 remaining events are 2^64 ticks; one event less is four ticks less.
  Write(model, REFPMU_REG_A_PMC(0), 0 - BIT_ULL(62));
  EXPECT_EQ(refpmu_model_ticks_to_overflow(&model), kNever);
  Write(model, REFPMU_REG_A_PMC(0), 0 - BIT_ULL(62) - 1);
  EXPECT_EQ(refpmu_model_ticks_to_overflow(&model), kNever);
  EXPECT_EQ(refpmu_model_advance(&model, 1'000'000, REFPMU_USER, false).done, 1'000'000u);
  refpmu_model_reset(&model, &model.params);
  Write(model, REFPMU_REG_GLOBAL_CTRL, 1);
  Write(model, REFPMU_REG_EVTSEL(0), kOn | REFPMU_EVENT_REF_CYCLES);
  Write(model, REFPMU_REG_A_PMC(0), 0 - BIT_ULL(62) + 1);
  EXPECT_EQ(refpmu_model_ticks_to_overflow(&model), kNever - 3);
}

TEST(ModelDistance, CountersOfTheSamePrivilegeAndEventDetermineIt) {
  refpmu_model model = Device();
  Write(model, REFPMU_REG_GLOBAL_CTRL, 3);
  Write(model, REFPMU_REG_EVTSEL(0), (kOn & ~REFPMU_EVTSEL_OS) | REFPMU_EVENT_INSTRUCTIONS);
  Write(model, REFPMU_REG_A_PMC(0), refpmu_low_bits(48) + 1 - 100);
  Write(model, REFPMU_REG_EVTSEL(1), (kOn & ~REFPMU_EVTSEL_USR) | REFPMU_EVENT_BRANCHES);
  Write(model, REFPMU_REG_A_PMC(1), refpmu_low_bits(48) + 1 - 30);
  EXPECT_EQ(refpmu_model_distance(&model, true, 0, REFPMU_USER), 200u);
  EXPECT_EQ(refpmu_model_distance(&model, true, 0, REFPMU_KERNEL), kNever);
  EXPECT_EQ(refpmu_model_distance(&model, false, REFPMU_EVENT_BRANCHES, REFPMU_KERNEL), 30u);
  EXPECT_EQ(refpmu_model_distance(&model, false, REFPMU_EVENT_BRANCHES, REFPMU_USER), kNever);
  EXPECT_EQ(refpmu_model_distance(&model, false, REFPMU_EVENT_CALLS, REFPMU_KERNEL), kNever);
  EXPECT_EQ(refpmu_model_ticks_to_overflow(&model), 200u);
  EXPECT_EQ(refpmu_model_pulse(&model, REFPMU_EVENT_BRANCHES, 29, REFPMU_KERNEL, false).overflowed,
            0u);
  EXPECT_EQ(refpmu_model_distance(&model, false, REFPMU_EVENT_BRANCHES, REFPMU_KERNEL), 1u);
}

TEST(ModelClock, TicksToOverflowAreExact) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 20'000; ++i) {
    const auto width = static_cast<u8>(16 + random() % 49);
    refpmu_model model = Device({1, 3, width});
    refpmu_model_advance(&model, random(), REFPMU_USER, false);
    Write(model, REFPMU_REG_GLOBAL_CTRL, 0x700000001);
    Write(model, REFPMU_REG_EVTSEL(0), kOn | REFPMU_EVENT_INSTRUCTIONS);
    Write(model, REFPMU_REG_FIXED_CTR_CTRL, 0xbbb);
    const u64 mask = refpmu_low_bits(width);
    const u64 near = random() % 2 ? mask >> 2 : 1000;
    Write(model, REFPMU_REG_A_PMC(0), mask - random() % near);
    for (u32 f = 0; f < 3; ++f) Write(model, REFPMU_REG_FIXED_CTR(f), mask - random() % near);
    const u64 ticks = refpmu_model_ticks_to_overflow(&model);
    ASSERT_NE(ticks, kNever);
    refpmu_model shorter = model;
    ASSERT_EQ(refpmu_model_advance(&shorter, ticks - 1, REFPMU_USER, true).overflowed, 0u);
    ASSERT_FALSE(refpmu_model_line(&shorter));
    ASSERT_EQ(refpmu_model_ticks_to_overflow(&shorter), 1u);
    const refpmu_model_step step = refpmu_model_advance(&model, kNever, REFPMU_USER, false);
    ASSERT_EQ(step.done, ticks);
    ASSERT_NE(step.overflowed, 0u);
    ASSERT_TRUE(refpmu_model_line(&model));
  }
}

TEST(ModelClock, PassStopsBeforeAnOverflow) {
  refpmu_model model = Device();
  Write(model, REFPMU_REG_GLOBAL_CTRL, 1);
  Write(model, REFPMU_REG_EVTSEL(0), (kOn & ~REFPMU_EVTSEL_OS) | REFPMU_EVENT_INSTRUCTIONS);
  Write(model, REFPMU_REG_A_PMC(0), 0xfffffffffffd);
  EXPECT_EQ(refpmu_model_pass(&model, 3, REFPMU_USER), 3u);
  EXPECT_EQ(Read(model, REFPMU_REG_PMC(0)), 0xfffffffffffeu);
  EXPECT_EQ(refpmu_model_pass(&model, 100, REFPMU_USER), 2u);
  EXPECT_EQ(Read(model, REFPMU_REG_PMC(0)), 0xffffffffffffu);
  EXPECT_EQ(refpmu_model_pass(&model, 100, REFPMU_USER), 0u);
  // At the other privilege the counter does not count.
  EXPECT_EQ(refpmu_model_pass(&model, 1000, REFPMU_KERNEL), 1000u);
  EXPECT_EQ(Read(model, REFPMU_REG_GLOBAL_STATUS), 0u);
  EXPECT_EQ(refpmu_model_advance(&model, 100, REFPMU_USER, false).done, 1u);
  EXPECT_EQ(Read(model, REFPMU_REG_GLOBAL_STATUS), 1u);
}

TEST(ModelClock, PhaseDoesNotDependOnTheSizeOfSteps) {
  std::mt19937_64 random(9);
  refpmu_model portions = Device();
  Write(portions, REFPMU_REG_GLOBAL_CTRL, 0x700000000);
  Write(portions, REFPMU_REG_FIXED_CTR_CTRL, 0x333);
  refpmu_model whole = portions;
  u64 total = 0;
  for (int i = 0; i < 1000; ++i) {
    const u64 ticks = random() % 9;
    refpmu_model_advance(&portions, ticks, REFPMU_USER, false);
    total += ticks;
  }
  refpmu_model_advance(&whole, total, REFPMU_USER, false);
  // Three more ticks show the phase of each divider.
  for (u64 more = 0; more < 4; ++more) {
    for (refpmu_model* model : {&portions, &whole}) {
      EXPECT_EQ(Read(*model, REFPMU_REG_FIXED_CTR(0)), (total + more) / 2);
      EXPECT_EQ(Read(*model, REFPMU_REG_FIXED_CTR(1)), total + more);
      EXPECT_EQ(Read(*model, REFPMU_REG_FIXED_CTR(2)), (total + more) / 4);
      refpmu_model_advance(model, 1, REFPMU_USER, false);
    }
  }
}

// Edge-triggered: only the driver changes the status.
TEST(ModelLine, DroppedLineRisesWithTheNextOverflow) {
  const refpmu_model_params params = {.general = 1, .width = 48};
  refpmu_model m;
  u64 status = 0;
  ASSERT_EQ(refpmu_model_reset(&m, &params), 0);
  const u64 select = REFPMU_EVTSEL_EN | REFPMU_EVTSEL_INT | REFPMU_EVTSEL_OS | 0xc4;
  refpmu_model_write(&m, REFPMU_REG_EVTSEL(0), select);
  refpmu_model_write(&m, REFPMU_REG_GLOBAL_CTRL, 1);
  for (int round = 0; round < 2; ++round) {
    refpmu_model_write(&m, REFPMU_REG_A_PMC(0), (1ULL << 48) - 1);
    refpmu_model_pulse(&m, 0xc4, 1, REFPMU_KERNEL, false);
    EXPECT_TRUE(refpmu_model_line(&m)) << round;
    refpmu_model_drop_line(&m);
    EXPECT_FALSE(refpmu_model_line(&m)) << round;
    refpmu_model_read(&m, REFPMU_REG_GLOBAL_STATUS, &status);
    EXPECT_EQ(status, 1u) << round;
  }
}

TEST(ModelPulse, OverflowBelowTheMinimumPeriodHasNoEffect) {
  for (const u64 events : {1, 15, 16}) {
    SCOPED_TRACE(events);
    refpmu_model model = Device({4, 3, 48, 0, 16});
    Write(model, REFPMU_REG_EVTSEL(0), 0x12f | kOn);
    Write(model, REFPMU_REG_A_PMC(0), refpmu_low_bits(48) + 1 - events);
    Write(model, REFPMU_REG_GLOBAL_CTRL, 1);
    const refpmu_model_step step = refpmu_model_pulse(&model, 0x12f, events + 5, REFPMU_USER, true);
    EXPECT_EQ(step.done, events + 5);
    EXPECT_EQ(step.overflowed, events < 16 ? 0u : 1u);
    EXPECT_EQ(refpmu_model_line(&model), events >= 16);
    EXPECT_EQ(Read(model, REFPMU_REG_A_PMC(0)), 5u);
  }
}

}  // namespace
}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// The device model: its registers by the manual, its counters against an obvious slow device.
#include <gtest/gtest.h>

#include <map>
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

// Padding too: a refused write must not touch a byte.
bool Same(const refpmu_model& a, const refpmu_model& b) {
  return memcmp(static_cast<const void*>(&a), static_cast<const void*>(&b), sizeof(a)) == 0;
}

TEST(ModelReset, RefusesWhatNoDeviceHasAndTouchesNothing) {
  refpmu_model model;
  memset(&model, 0x5a, sizeof(model));
  const refpmu_model before = model;
  const refpmu_model_params bad[] = {{0, 3, 48}, {33, 3, 48}, {4, 4, 48}, {4, 3, 15}, {4, 3, 65}};
  for (const refpmu_model_params& params : bad) {
    EXPECT_EQ(refpmu_model_reset(&model, &params), -EINVAL);
    EXPECT_TRUE(Same(model, before));
  }
  const refpmu_model_params good[] = {{1, 0, 16}, {32, 3, 64}};
  for (const refpmu_model_params& params : good) {
    EXPECT_EQ(refpmu_model_reset(&model, &params), 0);
  }
}

TEST(ModelReset, IsQuiet) {
  refpmu_model model = Device();
  EXPECT_FALSE(refpmu_model_line(&model));
  EXPECT_EQ(refpmu_model_ticks_to_overflow(&model), kNever);
  EXPECT_EQ(Read(model, REFPMU_REG_GLOBAL_STATUS), 0u);
  EXPECT_EQ(refpmu_model_advance(&model, kNever, REFPMU_USER, false).done, kNever);
  EXPECT_EQ(Read(model, REFPMU_REG_PMC(0)), 0u);
  EXPECT_EQ(Read(model, REFPMU_REG_FIXED_CTR(0)), 0u);
}

TEST(ModelReset, TakesTheDevicesOwnParameters) {
  refpmu_model model = Device({4, 3, 48});
  Write(model, REFPMU_REG_GLOBAL_CTRL, 1);
  EXPECT_EQ(refpmu_model_reset(&model, &model.params), 0);
  EXPECT_TRUE(Same(model, Device({4, 3, 48})));
}

TEST(ModelRegisters, ExactlyThoseOfTheDeviceExist) {
  for (const refpmu_model_params params :
       {refpmu_model_params{1, 0, 16}, {4, 3, 48}, {8, 2, 40}, {32, 3, 64}}) {
    refpmu_model model = Device(params);
    for (u32 reg = 0; reg < 0x600; ++reg) {
      const auto within = [reg](u32 base, u32 n) { return reg >= base && reg < base + n; };
      const bool counter = within(0xc1, params.general) || within(0x4c1, params.general) ||
                           within(0x186, params.general) || within(0x309, params.fixed);
      const bool writable = counter || reg == 0x38d || reg == 0x38f || reg == 0x390 || reg == 0x391;
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

TEST(ModelRegisters, ReservedBitsAreRefusedAndChangeNothing) {
  const std::pair<u32, u64> writable[] = {
      {REFPMU_REG_EVTSEL(3), 0x53ffff},
      {REFPMU_REG_A_PMC(3), 0xffffffffffff},
      {REFPMU_REG_FIXED_CTR(2), 0xffffffffffff},
      {REFPMU_REG_FIXED_CTR_CTRL, 0xbbb},
      {REFPMU_REG_GLOBAL_CTRL, 0x70000000f},
      {REFPMU_REG_GLOBAL_STATUS_SET, 0x70000000f},
      {REFPMU_REG_GLOBAL_STATUS_RESET, 0x70000000f},
  };
  for (const auto& [reg, mask] : writable) {
    for (int bit = 0; bit < 64; ++bit) {
      refpmu_model model = Device();
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

TEST(ModelRegisters, WhatIsWrittenIsRead) {
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

TEST(ModelLine, StaysDownForACounterThatAskedForNoInterrupt) {
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

TEST(ModelPulse, StopsAtTheFirstOverflowOrRunsOn) {
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

TEST(ModelPulse, CountsMoreEventsThanARangeHolds) {
  refpmu_model model = Device({1, 0, 16});
  Write(model, REFPMU_REG_GLOBAL_CTRL, 1);
  Write(model, REFPMU_REG_EVTSEL(0), kOn | 0x1d0);
  EXPECT_EQ(refpmu_model_pulse(&model, 0x1d0, 0x123456789, REFPMU_USER, true).overflowed, 1u);
  EXPECT_EQ(Read(model, REFPMU_REG_PMC(0)), 0x6789u);
}

TEST(ModelPulse, AnEmptyCounterOf64BitsTakesAllButOneOfItsRange) {
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

TEST(ModelClock, CountsOnlyWhileACounterIsSwitchedOnAndNotFrozen) {
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

TEST(ModelClock, DividedEventsNeverWrapTheTicksToTheirOverflow) {
  // Far below the top, a divided event overflows later than ticks can tell.
  for (u16 code : {REFPMU_EVENT_INSTRUCTIONS, REFPMU_EVENT_REF_CYCLES}) {
    refpmu_model model = Device({1, 0, 64});
    Write(model, REFPMU_REG_GLOBAL_CTRL, 1);
    Write(model, REFPMU_REG_EVTSEL(0), kOn | code);
    EXPECT_EQ(refpmu_model_ticks_to_overflow(&model), kNever);
    EXPECT_EQ(refpmu_model_advance(&model, kNever, REFPMU_USER, false).overflowed, 0u);
    const u64 divider = code == REFPMU_EVENT_INSTRUCTIONS ? 2 : 4;
    EXPECT_EQ(Read(model, REFPMU_REG_PMC(0)), kNever / divider);
    // The phase survives: one tick short of a whole event.
    EXPECT_EQ(refpmu_model_advance(&model, 1, REFPMU_USER, false).done, 1u);
    EXPECT_EQ(Read(model, REFPMU_REG_PMC(0)), kNever / divider + 1);
  }
}

TEST(ModelClock, OverflowsBeyondWhatTicksCanTellAreNever) {
  refpmu_model model = Device({1, 0, 64});
  Write(model, REFPMU_REG_GLOBAL_CTRL, 1);
  Write(model, REFPMU_REG_EVTSEL(0), kOn | REFPMU_EVENT_REF_CYCLES);
  // 2^62 events to go are 2^64 ticks; one event less is four ticks less.
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

TEST(ModelClock, PhaseDoesNotDependOnHowTicksArePortioned) {
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
  EXPECT_TRUE(Same(portions, whole));
  EXPECT_EQ(Read(whole, REFPMU_REG_FIXED_CTR(0)), total / 2);
  EXPECT_EQ(Read(whole, REFPMU_REG_FIXED_CTR(1)), total);
  EXPECT_EQ(Read(whole, REFPMU_REG_FIXED_CTR(2)), total / 4);
}

// The same device done the slow way: registers in a map, one event after the other.
class SlowDevice {
 public:
  explicit SlowDevice(refpmu_model_params params) : params_(params) {
    for (u32 i = 0; i < params.general; ++i) regs_[0x186 + i] = regs_[0xc1 + i] = 0;
    for (u32 i = 0; i < params.fixed; ++i) regs_[0x309 + i] = 0;
  }

  u64 Reg(u32 reg) { return regs_[reg]; }
  void SetReg(u32 reg, u64 value) { regs_[reg] = value; }
  void Acknowledge(u64 bits) { status_ &= ~bits, line_ &= ~bits; }
  u64 status() const { return status_; }
  bool line() const { return line_ != 0; }

  // One event for all counters that want it; the status bits of those that overflowed.
  u64 Event(u64 code, bool user) {
    u64 overflowed = 0;
    for (u32 i = 0; i < params_.general; ++i) {
      const u64 select = regs_[0x186 + i];
      const bool on = (select >> 22 & 1) && (regs_[0x38f] >> i & 1);
      if (on && (select & 0xffff) == code && (select >> (user ? 16 : 17) & 1) &&
          Increment(0xc1 + i)) {
        overflowed |= u64{1} << i;
        if (select >> 20 & 1) line_ |= u64{1} << i;
      }
    }
    const u64 fixed_event[] = {0xc0, 0x3c, 0x13c};
    for (u32 i = 0; i < params_.fixed; ++i) {
      const u64 control = regs_[0x38d] >> (4 * i) & 15;
      const bool on = regs_[0x38f] >> (32 + i) & 1;
      if (on && fixed_event[i] == code && (control >> (user ? 1 : 0) & 1) && Increment(0x309 + i)) {
        overflowed |= u64{1} << (32 + i);
        if (control >> 3 & 1) line_ |= u64{1} << (32 + i);
      }
    }
    status_ |= overflowed;
    return overflowed;
  }

  u64 Tick(bool user) {
    ++ticks_;
    u64 overflowed = Event(0x3c, user);
    if (ticks_ % 2 == 0) overflowed |= Event(0xc0, user);
    if (ticks_ % 4 == 0) overflowed |= Event(0x13c, user);
    return overflowed;
  }

 private:
  bool Increment(u32 reg) {
    u64& value = regs_[reg];
    const u64 top = params_.width == 64 ? ~u64{0} : (u64{1} << params_.width) - 1;
    if (value == top) {
      value = 0;
      return true;
    }
    ++value;
    return false;
  }

  refpmu_model_params params_;
  std::map<u32, u64> regs_;
  u64 status_ = 0;
  u64 line_ = 0;
  u64 ticks_ = 0;
};

class ModelAgainstSlowDevice : public testing::TestWithParam<int> {
 protected:
  void Run(refpmu_model_params params, std::mt19937_64& random) {
    refpmu_model model = Device(params);
    SlowDevice slow(params);
    const u64 counters = refpmu_low_bits(params.general) | refpmu_low_bits(params.fixed) << 32;
    const u64 mask = refpmu_low_bits(params.width);
    const u16 codes[] = {0x3c, 0xc0, 0x13c, 0x1d0, 0x1d1};
    for (int i = 0; i < 400; ++i) {
      const auto write = [&](u32 reg, u64 value) {
        Write(model, reg, value);
        slow.SetReg(reg, value);
      };
      const bool user = random() % 2;
      const auto priv = user ? REFPMU_USER : REFPMU_KERNEL;
      const bool run_on = random() % 2;
      const u64 n = random() % 60;
      const u32 general = static_cast<u32>(random() % params.general);
      switch (random() % 8) {
        case 0:
          write(REFPMU_REG_EVTSEL(general), codes[random() % 5] | (random() & 0x530000) |
                                                (random() % 4 ? REFPMU_EVTSEL_EN : 0));
          break;
        case 1: {  // near the top, where it is interesting
          const u64 value = mask - random() % 100;
          Write(model, REFPMU_REG_A_PMC(general), value);
          slow.SetReg(REFPMU_REG_PMC(general), value);
          break;
        }
        case 2:
          if (params.fixed == 0) break;
          write(REFPMU_REG_FIXED_CTR(static_cast<u32>(random() % params.fixed)),
                mask - random() % 100);
          break;
        case 3:
          write(REFPMU_REG_FIXED_CTR_CTRL, random() & 0xbbb & refpmu_low_bits(4u * params.fixed));
          break;
        case 4:
          // Two draws, so that most counters are on.
          write(REFPMU_REG_GLOBAL_CTRL, (random() | ~random()) & counters);
          break;
        case 5: {
          const u64 bits = random() & counters;
          Write(model, REFPMU_REG_GLOBAL_STATUS_RESET, bits);
          slow.Acknowledge(bits);
          break;
        }
        case 6: {
          const u16 code = codes[random() % 5];
          refpmu_model_step want = {0, 0};
          while (want.done < n && (run_on || want.overflowed == 0)) {
            want.overflowed |= slow.Event(code, user);
            ++want.done;
          }
          const refpmu_model_step got = refpmu_model_pulse(&model, code, n, priv, run_on);
          ASSERT_EQ(got.done, want.done);
          ASSERT_EQ(got.overflowed, want.overflowed);
          break;
        }
        default: {
          refpmu_model_step want = {0, 0};
          while (want.done < n && (run_on || want.overflowed == 0)) {
            want.overflowed |= slow.Tick(user);
            ++want.done;
          }
          const refpmu_model_step got = refpmu_model_advance(&model, n, priv, run_on);
          ASSERT_EQ(got.done, want.done);
          ASSERT_EQ(got.overflowed, want.overflowed);
          overflows_ += got.overflowed != 0;
          break;
        }
      }
      for (u32 k = 0; k < params.general; ++k) {
        ASSERT_EQ(Read(model, REFPMU_REG_PMC(k)), slow.Reg(REFPMU_REG_PMC(k))) << "step " << i;
      }
      for (u32 k = 0; k < params.fixed; ++k) {
        ASSERT_EQ(Read(model, REFPMU_REG_FIXED_CTR(k)), slow.Reg(REFPMU_REG_FIXED_CTR(k)));
      }
      ASSERT_EQ(Read(model, REFPMU_REG_GLOBAL_STATUS), slow.status());
      ASSERT_EQ(refpmu_model_line(&model), slow.line());
    }
  }

  int overflows_ = 0;
};

TEST_P(ModelAgainstSlowDevice, RandomProgramsDoTheSame) {
  std::mt19937_64 random(static_cast<u64>(GetParam()));
  const u8 widths[] = {16, 31, 32, 33, 48, 63, 64};
  for (int i = 0; i < 40; ++i) {
    const refpmu_model_params params = {static_cast<u8>(1 + random() % 5),
                                        static_cast<u8>(random() % 4), widths[random() % 7]};
    Run(params, random);
    if (HasFatalFailure()) FAIL() << "program " << i;
  }
  EXPECT_GT(overflows_, 20);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ModelAgainstSlowDevice, testing::Range(100, 105));

}  // namespace
}  // namespace pmuconf

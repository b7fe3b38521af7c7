// SPDX-License-Identifier: Apache-2.0
// Tests core and model together, as a driver uses them: counts, samples and periods are exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "core.h"

namespace pmuconf {
namespace {

struct Event {
  refpmu_request request = {};
  refpmu_period period = {};
  s8 counter = REFPMU_COUNTER_NONE;
  u64 prev = 0;
  u64 count = 0;
  u64 samples = 0;
  u64 sampled = 0;  // sum of the periods of the samples
};

// A minimal driver: opens and starts events, and handles interrupts.
class Driver {
 public:
  explicit Driver(refpmu_model_params params, u64 min_period = 1)
      : caps_{9, params.general, params.fixed, params.width, min_period} {
    EXPECT_EQ(refpmu_model_reset(&model_, &params), 0);
  }

  void Open(u64 config, u64 sample_period) {
    const refpmu_attr attr = {.type = 9, .config = config, .sample_period = sample_period};
    Event event;
    ASSERT_EQ(refpmu_config_parse(&attr, &caps_, &event.request), 0);
    event.period = {event.request.period, static_cast<s64>(event.request.period), 0};
    events_.push_back(event);
  }

  void Start() {
    std::vector<refpmu_want> wants;
    for (const Event& event : events_) {
      wants.push_back({event.request.allowed, event.request.preferred, REFPMU_COUNTER_NONE, false});
    }
    std::vector<refpmu_place> places(wants.size());
    ASSERT_EQ(
        refpmu_constraint_assign(wants.data(), static_cast<unsigned>(wants.size()), places.data()),
        0);
    u64 global = 0;
    u64 fixed = 0;
    for (size_t i = 0; i < events_.size(); ++i) {
      Event& event = events_[i];
      event.counter = places[i].counter;
      global |= BIT_ULL(event.counter);
      Reload(event);
      if (event.counter >= REFPMU_FIXED_BASE) {
        const int f = event.counter - REFPMU_FIXED_BASE;
        fixed |= REFPMU_FIXED_OS(f) | REFPMU_FIXED_USR(f) | REFPMU_FIXED_PMI(f);
      } else {
        Write(REFPMU_REG_EVTSEL(static_cast<u32>(event.counter)),
              event.request.evtsel | REFPMU_EVTSEL_EN);
      }
    }
    Write(REFPMU_REG_FIXED_CTR_CTRL, fixed);
    Write(REFPMU_REG_GLOBAL_CTRL, global);
  }

  // Interrupts are handled @skid events or ticks late.
  void Pulse(u16 code, u64 n, u64 skid = 0) {
    Stimulate(n, skid, [&](u64 part, bool run_on) {
      return refpmu_model_pulse(&model_, code, part, REFPMU_KERNEL, run_on);
    });
  }

  void Advance(u64 n, u64 skid = 0) {
    Stimulate(n, skid, [&](u64 part, bool run_on) {
      return refpmu_model_advance(&model_, part, REFPMU_USER, run_on);
    });
  }

  const Event& Settled(size_t i) {
    Fold(events_[i]);
    return events_[i];
  }

  u64 interrupts() const { return interrupts_; }

 private:
  template <typename Stimulus>
  void Stimulate(u64 n, u64 skid, Stimulus stimulus) {
    while (n > 0) {
      const refpmu_model_step step = stimulus(n, false);
      n -= step.done;
      if (!refpmu_model_line(&model_)) continue;
      n -= stimulus(std::min(n, skid), true).done;
      Interrupt();
      ASSERT_FALSE(refpmu_model_line(&model_));
    }
  }

  void Interrupt() {
    ++interrupts_;
    const u64 status = Read(REFPMU_REG_GLOBAL_STATUS);
    Write(REFPMU_REG_GLOBAL_STATUS_RESET, status);
    for (Event& event : events_) {
      if (!(status & BIT_ULL(event.counter))) continue;
      Fold(event);
      if (!Reload(event) || !event.request.sampling) continue;
      ++event.samples;
      event.sampled += event.period.last;
    }
  }

  u32 CounterRegister(const Event& event) const {
    const u32 i = static_cast<u8>(event.counter);
    return i >= REFPMU_FIXED_BASE ? REFPMU_REG_FIXED_CTR(i - REFPMU_FIXED_BASE)
                                  : REFPMU_REG_A_PMC(i);
  }

  void Fold(Event& event) {
    const u64 now = Read(CounterRegister(event));
    const u64 delta = refpmu_period_delta(event.prev, now, caps_.width);
    event.prev = now;
    event.count += delta;
    event.period.left -= static_cast<s64>(delta);
  }

  bool Reload(Event& event) {
    const refpmu_reload reload = refpmu_period_reload(&event.period, caps_.width, caps_.min_period);
    Write(CounterRegister(event), reload.raw);
    event.prev = reload.raw;
    return reload.elapsed;
  }

  u64 Read(u32 reg) {
    u64 value = 0;
    EXPECT_EQ(refpmu_model_read(&model_, reg, &value), 0);
    return value;
  }

  void Write(u32 reg, u64 value) { EXPECT_EQ(refpmu_model_write(&model_, reg, value), 0); }

  refpmu_caps caps_;
  refpmu_model model_;
  std::vector<Event> events_;
  u64 interrupts_ = 0;
};

constexpr std::array<u8, 6> kWidths = {16, 31, 32, 33, 48, 64};

TEST(Simulation, NumberOfSamplesIsCountDividedByPeriod) {
  for (u8 width : kWidths) {
    for (u64 period : {1ULL, 2ULL, 97ULL, 32767ULL, 32768ULL, 65536ULL, 1'000'003ULL}) {
      SCOPED_TRACE(testing::Message() << "width " << int{width} << " period " << period);
      const u64 n = period * 50 + period / 2;
      Driver driver({4, 3, width});
      driver.Open(0x1d0, period);
      driver.Start();
      driver.Pulse(0x1d0, n);
      const Event& event = driver.Settled(0);
      EXPECT_EQ(event.count, n);
      EXPECT_EQ(event.samples, n / period);
      EXPECT_EQ(event.sampled + (period - static_cast<u64>(event.period.left)), n);
    }
  }
}

TEST(Simulation, CountingAcrossManyWrapsIsExact) {
  Driver driver({1, 0, 16});
  driver.Open(0x1d1, 0);
  driver.Start();
  driver.Pulse(0x1d1, 1'000'000'000);
  EXPECT_EQ(driver.Settled(0).count, 1'000'000'000u);
  EXPECT_EQ(driver.Settled(0).samples, 0u);
  EXPECT_EQ(driver.interrupts(), 1'000'000'000u / 32767);
}

TEST(Simulation, LateInterruptsLoseNoEventAndShiftNoPeriod) {
  std::mt19937_64 random(10);
  for (u8 width : kWidths) {
    for (int i = 0; i < 50; ++i) {
      const u64 period = 500 + random() % 100'000;
      const u64 skid = random() % 500;
      const u64 n = period * 40 + random() % period;
      SCOPED_TRACE(testing::Message()
                   << int{width} << " bits, period " << period << " skid " << skid);
      Driver driver({4, 3, width});
      driver.Open(0x1d0, period);
      driver.Start();
      driver.Pulse(0x1d0, n, skid);
      const Event& event = driver.Settled(0);
      ASSERT_EQ(event.count, n);
      ASSERT_EQ(event.samples, n / period);
    }
  }
}

TEST(Simulation, SumOfPeriodsIsExactWithAMinimumPeriod) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 300; ++i) {
    const u64 period = 100 + random() % 300;
    const u64 skid = random() % 68;  // skid and minimum together stay below a period
    const u64 n = period * 40 + random() % period;
    SCOPED_TRACE(testing::Message() << "period " << period << " skid " << skid);
    Driver driver({4, 3, 48}, 32);
    driver.Open(0x1d0, period);
    driver.Start();
    driver.Pulse(0x1d0, n, skid);
    const Event& event = driver.Settled(0);
    ASSERT_EQ(event.count, n);
    ASSERT_EQ(static_cast<s64>(event.sampled + period) - event.period.left, static_cast<s64>(n));
    // One sample may still be pending: its interrupt is late by at most the minimum period.
    ASSERT_LE(n / period - event.samples, 1u);
  }
}

TEST(Simulation, ClockEventsOnAllCountersAreExact) {
  for (u8 width : kWidths) {
    SCOPED_TRACE(int{width});
    const u64 ticks = 3'000'001;
    Driver driver({4, 3, width});
    driver.Open(0x3c, 1009);     // fixed 1
    driver.Open(0x3c, 0);        // general
    driver.Open(0xc0, 733);      // fixed 0
    driver.Open(0xc0, 101'027);  // general
    driver.Open(0x13c, 251);     // fixed 2
    driver.Open(0x1d2, 10);      // general 0 or 1, not driven by the clock
    driver.Start();
    driver.Advance(ticks);
    const u64 expected[] = {ticks, ticks, ticks / 2, ticks / 2, ticks / 4, 0};
    const u64 periods[] = {1009, 0, 733, 101'027, 251, 10};
    for (size_t i = 0; i < 6; ++i) {
      const Event& event = driver.Settled(i);
      EXPECT_EQ(event.count, expected[i]) << "event " << i;
      EXPECT_EQ(event.samples, periods[i] ? expected[i] / periods[i] : 0) << "event " << i;
    }
  }
}

}  // namespace
}  // namespace pmuconf

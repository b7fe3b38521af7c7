// SPDX-License-Identifier: Apache-2.0
// core/period: no event is lost or counted twice, for any width, period and delay.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstdint>

#include "property.h"

extern "C" {
#include "core/period.h"
}

namespace pmuconf::fuzz {
namespace {

using Wide = __int128;

Wide Range(unsigned width) { return Wide{1} << width; }

u64 AnyBits(FuzzedDataProvider& data, unsigned max_bits) {
  const unsigned bits = data.ConsumeIntegralInRange(1u, max_bits);
  return data.ConsumeIntegral<u64>() & refpmu_low_bits(bits);
}

void CheckDelta(FuzzedDataProvider& data) {
  const unsigned width = data.ConsumeIntegralInRange(1u, 64u);
  const u64 prev = data.ConsumeIntegral<u64>() & refpmu_low_bits(width);
  const u64 events = AnyBits(data, 64) & refpmu_low_bits(width);
  const u64 now = static_cast<u64>((Wide{prev} + events) % Range(width));
  PROPERTY(refpmu_period_delta(prev, now, width) == events,
           "the delta is the number of events since, across one wrap");
  const u64 sign_extended = prev | ~refpmu_low_bits(width);
  PROPERTY(refpmu_period_delta(sign_extended, now, width) == events,
           "bits above the width do not enter the delta");
}

void CheckCounting(unsigned width) {
  const u64 period = refpmu_period_counting(width);
  PROPERTY(Wide{period} == Range(width) / 2 || Wide{period} == Range(width) / 2 - 1,
           "a counting event folds every half range");
}

struct Device {
  unsigned width;
  u64 min_period;
  u64 counter;
};

// Number of events until a counter with the programmed value wraps.
Wide Distance(const Device& device) { return Range(device.width) - device.counter; }

void CheckProgrammed(const Device& device, s64 left, u64 raw) {
  PROPERTY((raw & ~refpmu_low_bits(device.width)) == 0, "the written value fits the counter");
  PROPERTY(raw != 0, "the counter is not programmed as already overflowed");
  const Wide distance = Distance(device);
  PROPERTY(distance <= Range(device.width) / 2, "at most half of the range is programmed");
  PROPERTY(distance >= Wide{device.min_period}, "at least the shortest period is programmed");
  const Wide longest = std::max<Wide>(left, device.min_period);
  PROPERTY(distance <= longest, "at most the remaining events are programmed");
  PROPERTY(distance == longest || distance >= Range(device.width) / 2 - 1,
           "the remaining events, or the allowed maximum, are programmed");
}

// One reload, compared with arithmetic that cannot overflow. True if a period was reported.
refpmu_reload CheckReload(refpmu_period& p, Device& device) {
  const refpmu_period before = p;
  const refpmu_reload reload = refpmu_period_reload(&p, device.width, device.min_period);
  device.counter = reload.raw;

  PROPERTY(reload.elapsed == (before.left <= 0),
           "a period is over if and only if no event remains");
  PROPERTY(p.period == before.period, "a reload does not change the period");
  PROPERTY(p.left >= 1, "after a reload an event remains");
  if (!reload.elapsed) {
    PROPERTY(p.left == before.left && p.last == before.last, "a partial reload changes nothing");
  } else {
    const u64 period = std::max(before.period, device.min_period);
    PROPERTY(p.last == period,
             "the period that elapsed, at least the shortest, is the one reported");
    const Wide carried = Wide{before.left} + period;
    PROPERTY(Wide{p.left} == (carried > 0 ? carried : Wide{period}),
             "the next period is shortened by the overshoot, or restarts");
  }
  CheckProgrammed(device, p.left, reload.raw);
  return reload;
}

// A counter that runs, wraps and is serviced late: events in == periods out + remaining events.
void CheckConservation(FuzzedDataProvider& data) {
  Device device = {};
  device.width = data.ConsumeIntegralInRange(2u, 64u);
  const u64 half = static_cast<u64>(std::min<Wide>(Range(device.width) / 2 - 1, INT64_MAX));
  device.min_period = 1 + (half > 1 ? AnyBits(data, 16) % half : 0);
  refpmu_period p = {};
  p.period = std::max<u64>(1, AnyBits(data, 63));
  const u64 period = std::max(p.period, device.min_period);
  p.left = static_cast<s64>(period);
  CheckReload(p, device);

  Wide events = 0;
  Wide reported = 0;
  while (data.remaining_bytes() > 0 && events < Wide{INT64_MAX}) {
    const Wide distance = Distance(device);
    const Wide late = data.ConsumeBool() ? 0 : AnyBits(data, device.width - 1);
    // The device guarantees that the counter is serviced before it wraps twice.
    const Wide n = data.ConsumeBool() ? std::min(distance + late, Range(device.width) - 1)
                                      : AnyBits(data, 64) % distance;
    if (n > Wide{INT64_MAX} - (p.left < 0 ? -Wide{p.left} : 0)) return;
    const u64 prev = device.counter;
    device.counter = static_cast<u64>((Wide{device.counter} + n) % Range(device.width));
    const u64 delta = refpmu_period_delta(prev, device.counter, device.width);
    PROPERTY(Wide{delta} == n, "every event is in the delta");
    events += n;
    p.left -= static_cast<s64>(delta);

    const bool restarted = Wide{p.left} <= -Wide{period};
    const refpmu_reload reload = CheckReload(p, device);
    if (restarted) return;  // the sum ends here: events beyond a late period are dropped
    if (reload.elapsed) reported += p.last;
    PROPERTY(reported + period - p.left == events, "reported periods and remaining events add up");
  }
}

void CheckAnyState(FuzzedDataProvider& data) {
  Device device = {};
  device.width = data.ConsumeIntegralInRange(2u, 64u);
  device.min_period = 1;
  refpmu_period p = {};
  p.period = std::max<u64>(1, AnyBits(data, 63));
  p.left = data.ConsumeIntegral<s64>();
  p.last = data.ConsumeIntegral<u64>();
  CheckReload(p, device);
}

}  // namespace
}  // namespace pmuconf::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace pmuconf::fuzz;
  FuzzedDataProvider data(bytes, size);
  CheckDelta(data);
  CheckCounting(data.ConsumeIntegralInRange(2u, 64u));
  CheckAnyState(data);
  CheckConservation(data);
  return 0;
}

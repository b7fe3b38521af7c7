// SPDX-License-Identifier: Apache-2.0
// Costs of what a driver does per event: translate, assign, fold and reload, count.
#include <benchmark/benchmark.h>

#include <vector>

#include "core.h"

namespace pmuconf {
namespace {

const refpmu_caps kCaps = {.own_type = 9, .general = 8, .fixed = 3, .width = 48, .min_period = 1};

void ParseAttribute(benchmark::State& state) {
  refpmu_attr attr = {.type = 9, .config = 0xc5, .sample_period = 1000};
  refpmu_request request = {};
  for (auto _ : state) {
    benchmark::DoNotOptimize(attr);
    benchmark::DoNotOptimize(refpmu_config_parse(&attr, &kCaps, &request));
    benchmark::DoNotOptimize(request);
  }
}
BENCHMARK(ParseAttribute);

// Everybody can go anywhere: the usual case.
void AssignEasy(benchmark::State& state) {
  const auto n = static_cast<unsigned>(state.range(0));
  const std::vector<refpmu_want> wants(n, {refpmu_low_bits(n), 0, REFPMU_COUNTER_NONE, false});
  std::vector<s8> counter(n);
  for (auto _ : state) {
    benchmark::DoNotOptimize(refpmu_constraint_assign(wants.data(), n, counter.data()));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(AssignEasy)->Arg(1)->Arg(4)->Arg(8)->Arg(64);

// The last want moves all the others.
void AssignChain(benchmark::State& state) {
  const auto n = static_cast<unsigned>(state.range(0));
  std::vector<refpmu_want> wants;
  for (unsigned i = 0; i + 1 < n; ++i) {
    wants.push_back({BIT_ULL(i) | BIT_ULL(i + 1), 0, REFPMU_COUNTER_NONE, false});
  }
  wants.push_back({1, 0, REFPMU_COUNTER_NONE, false});
  std::vector<s8> counter(n);
  for (auto _ : state) {
    benchmark::DoNotOptimize(refpmu_constraint_assign(wants.data(), n, counter.data()));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(AssignChain)->Arg(4)->Arg(8)->Arg(64);

void FoldAndReload(benchmark::State& state) {
  refpmu_period period = {1000, 1000, 0};
  u64 raw = refpmu_period_reload(&period, 48, 1).raw;
  for (auto _ : state) {
    const u64 now = (raw + 1003) & refpmu_low_bits(48);
    period.left -= static_cast<s64>(refpmu_period_delta(raw, now, 48));
    raw = refpmu_period_reload(&period, 48, 1).raw;
    benchmark::DoNotOptimize(raw);
  }
}
BENCHMARK(FoldAndReload);

void StopAndStart(benchmark::State& state) {
  u8 hes = 0;
  for (auto _ : state) {
    hes = refpmu_state_step(hes, REFPMU_OP_STOP_UPDATE).next;
    benchmark::DoNotOptimize(hes);
    hes = refpmu_state_step(hes, REFPMU_OP_START_RELOAD).next;
    benchmark::DoNotOptimize(hes);
  }
}
BENCHMARK(StopAndStart);

refpmu_model BusyModel() {
  const refpmu_model_params params = {8, 3, 48};
  refpmu_model model;
  refpmu_model_reset(&model, &params);
  for (u32 i = 0; i < params.general; ++i) {
    refpmu_model_write(&model, REFPMU_REG_EVTSEL(i),
                       REFPMU_EVTSEL_EN | REFPMU_EVTSEL_USR | REFPMU_EVTSEL_OS | 0xc0);
  }
  refpmu_model_write(&model, REFPMU_REG_FIXED_CTR_CTRL, 0x333);
  refpmu_model_write(&model, REFPMU_REG_GLOBAL_CTRL, 0x7000000ff);
  return model;
}

void Pulse(benchmark::State& state) {
  refpmu_model model = BusyModel();
  const auto n = static_cast<u64>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(refpmu_model_pulse(&model, 0xc0, n, REFPMU_USER, true));
  }
}
BENCHMARK(Pulse)->Arg(1)->Arg(1'000'000'000);

void Advance(benchmark::State& state) {
  refpmu_model model = BusyModel();
  const auto n = static_cast<u64>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(refpmu_model_advance(&model, n, REFPMU_USER, true));
  }
}
BENCHMARK(Advance)->Arg(1)->Arg(1'000'000'000);

void TicksToOverflow(benchmark::State& state) {
  const refpmu_model model = BusyModel();
  for (auto _ : state) {
    benchmark::DoNotOptimize(refpmu_model_ticks_to_overflow(&model));
  }
}
BENCHMARK(TicksToOverflow);

}  // namespace
}  // namespace pmuconf

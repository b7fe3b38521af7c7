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

refpmu_want Want(u64 allowed, bool wide = false) {
  return {.allowed = allowed, .previous = REFPMU_COUNTER_NONE, .wide = wide};
}

void Assign(benchmark::State& state, const std::vector<refpmu_want>& wants, int expected = 0) {
  const auto n = static_cast<unsigned>(wants.size());
  std::vector<refpmu_place> places(n);
  if (refpmu_constraint_assign(wants.data(), n, places.data()) != expected) {
    state.SkipWithError("not what this is to measure");
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(refpmu_constraint_assign(wants.data(), n, places.data()));
    benchmark::ClobberMemory();
  }
}

// Everybody can go anywhere: the usual case.
void AssignEasy(benchmark::State& state) {
  const auto n = static_cast<unsigned>(state.range(0));
  const std::vector<refpmu_want> wants(n, Want(refpmu_low_bits(n)));
  Assign(state, wants);
}
BENCHMARK(AssignEasy)->Arg(1)->Arg(4)->Arg(8)->Arg(64);

// The last want moves all the others.
void AssignChain(benchmark::State& state) {
  const auto n = static_cast<unsigned>(state.range(0));
  std::vector<refpmu_want> wants;
  for (unsigned i = 0; i + 1 < n; ++i) {
    wants.push_back(Want(BIT_ULL(i) | BIT_ULL(i + 1)));
  }
  wants.push_back(Want(1));
  Assign(state, wants);
}
BENCHMARK(AssignChain)->Arg(4)->Arg(8)->Arg(64);

// What the scheduler asks when one more event comes: all the others run and stay.
void AssignOneMore(benchmark::State& state) {
  const auto n = static_cast<unsigned>(state.range(0));
  std::vector<refpmu_want> wants(n, Want(refpmu_low_bits(n)));
  for (unsigned i = 0; i + 1 < n; ++i) {
    wants[i].previous = static_cast<s8>(i);
    wants[i].pinned = true;
  }
  Assign(state, wants);
}
BENCHMARK(AssignOneMore)->Arg(4)->Arg(8);

// Wide events on the largest device that has no room for one of the others, with the masks that
// events of the device have.
void RefuseWide(benchmark::State& state) {
  std::vector<refpmu_want> wants(8, Want(0x55555555, true));
  wants.insert(wants.end(), 15, Want(0xffffffff));
  wants.insert(wants.end(), 2, Want(0x80000000));
  Assign(state, wants, -ENOSPC);
}
BENCHMARK(RefuseWide);

// The same with masks made to be hard, which no event has: no two pairs are alike.
void RefuseWideHard(benchmark::State& state) {
  std::vector<refpmu_want> wants(8, Want(0x55555555, true));
  for (unsigned i = 0; i < 17; ++i)
    wants.push_back(Want(0xffffffff & ~BIT_ULL(i) & ~BIT_ULL(31 - i)));
  Assign(state, wants, -ENOSPC);
}
BENCHMARK(RefuseWideHard);

void FilterBranches(benchmark::State& state) {
  std::vector<refpmu_pebs_lbr> raw;
  for (u64 i = 0; i < 32; ++i) {
    raw.push_back({0x401000 + i, 0x402000 + i, (i % 6) << REFPMU_LBR_INFO_TYPE_SHIFT | i});
  }
  std::vector<refpmu_branch_sample> samples(raw.size());
  for (auto _ : state) {
    benchmark::DoNotOptimize(refpmu_branch_filter(
        raw.data(), 32, REFPMU_WANT_BRANCH_USER | REFPMU_WANT_BRANCH_ANY_CALL, samples.data()));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(FilterBranches);

// One record with memory, registers and 32 branches.
void DecodeRecord(benchmark::State& state) {
  const u64 data = REFPMU_PEBS_DATA_MEMORY | REFPMU_PEBS_DATA_GPRS | REFPMU_PEBS_DATA_LBRS |
                   31ULL << REFPMU_PEBS_DATA_LBR_SHIFT;
  const u64 bytes = refpmu_record_size(data);
  std::vector<u64> words(bytes / 8);
  words[0] = data | bytes << REFPMU_PEBS_SIZE_SHIFT;
  refpmu_record record;
  for (auto _ : state) {
    u64 offset = 0;
    benchmark::DoNotOptimize(refpmu_record_next(words.data(), bytes, &offset, &record));
    benchmark::DoNotOptimize(record);
  }
}
BENCHMARK(DecodeRecord);

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

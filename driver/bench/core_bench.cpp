// SPDX-License-Identifier: Apache-2.0
// Cost of a driver's operations on an event: parse, assign, fold and reload, sample. For the cost
// of the device see model_bench.cpp.
#include <benchmark/benchmark.h>

#include <vector>

#include "core.h"

namespace pmuconf {
namespace {

const refpmu_caps kCaps = {.own_type = 9,
                           .general = 8,
                           .fixed = 3,
                           .width = 48,
                           .min_period = 1,
                           .lbr = 16,
                           .records = true};

void ParseAttribute(benchmark::State& state, refpmu_attr attr) {
  refpmu_request request = {};
  if (refpmu_config_parse(&attr, &kCaps, &request) != 0) {
    state.SkipWithError("not what this is to measure");
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(attr);
    benchmark::DoNotOptimize(refpmu_config_parse(&attr, &kCaps, &request));
    benchmark::DoNotOptimize(request);
  }
}
BENCHMARK_CAPTURE(ParseAttribute, own, {.type = 9, .config = 0xc5, .sample_period = 1000});
BENCHMARK_CAPTURE(ParseAttribute, generic, {.type = 0, .config = 1});
BENCHMARK_CAPTURE(ParseAttribute, cache, {.type = 3, .config = 0x10006});
BENCHMARK_CAPTURE(ParseAttribute, precise_with_branches,
                  {.type = 9,
                   .config = 0x1cd,
                   .config1 = 30,
                   .sample_period = 1000,
                   .sample_type = 0x48808,
                   .branch_sample_type = 0x9,
                   .precise_ip = 2});

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

// Each want allows all counters: the usual case.
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

// The scheduler's usual request: one event is added while all others run and stay.
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

// Two wide events, two events that need counters of one pair, and others: a usual set on 8
// counters.
void AssignWide(benchmark::State& state) {
  Assign(state, {Want(0x55, true), Want(0x3), Want(0x3), Want(0x55, true), Want(0xff), Want(0x80)});
}
BENCHMARK(AssignWide);

// Six off-core events with two values, a load latency event, and branches; each has a previous
// place.
void AssignWithRegisters(benchmark::State& state) {
  std::vector<refpmu_want> wants(8, Want(0xff));
  for (unsigned i = 0; i < 6; ++i) {
    wants[i].extra = REFPMU_EXTRA_OFFCORE;
    wants[i].extra_value = i % 2;
    wants[i].previous_extra = static_cast<s8>(i % 2);
    wants[i].previous = static_cast<s8>(i);
  }
  wants[6].extra = REFPMU_EXTRA_LOAD_LATENCY;
  wants[7].branches = true;
  Assign(state, wants);
}
BENCHMARK(AssignWithRegisters);

// Wide events on the largest device, without a counter for one of the other events. The masks are
// those of real events.
void RejectWide(benchmark::State& state) {
  std::vector<refpmu_want> wants(8, Want(0x55555555, true));
  wants.insert(wants.end(), 15, Want(0xffffffff));
  wants.insert(wants.end(), 2, Want(0x80000000));
  Assign(state, wants, -ENOSPC);
}
BENCHMARK(RejectWide);

// The same with worst-case masks, which no event has: no two pairs are equivalent.
void RejectWideWorstCase(benchmark::State& state) {
  std::vector<refpmu_want> wants(8, Want(0x55555555, true));
  for (unsigned i = 0; i < 17; ++i)
    wants.push_back(Want(0xffffffff & ~BIT_ULL(i) & ~BIT_ULL(31 - i)));
  Assign(state, wants, -ENOSPC);
}
BENCHMARK(RejectWideWorstCase);

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

void DecodeBranch(benchmark::State& state) {
  const u64 words[] = {0x1000, 0x2000, REFPMU_BTS_PREDICTED};
  refpmu_record_branch branch;
  for (auto _ : state) {
    u64 offset = 0;
    benchmark::DoNotOptimize(refpmu_record_next_branch(words, sizeof(words), &offset, &branch));
    benchmark::DoNotOptimize(branch);
  }
}
BENCHMARK(DecodeBranch);

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

void FindWindow(benchmark::State& state) {
  u64 head = 0;
  for (auto _ : state) {
    refpmu_window window;
    benchmark::DoNotOptimize(refpmu_window_find(head, 0x8000, head + 0x4000, 0x10000, 48, &window));
    benchmark::DoNotOptimize(window);
    head += window.size;
    head += refpmu_window_pad(head, 0x10000, 48);
  }
}
BENCHMARK(FindWindow);

}  // namespace
}  // namespace pmuconf

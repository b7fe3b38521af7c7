// SPDX-License-Identifier: Apache-2.0
// Cost of the modeled hardware: a register access, an event, a tick.
#include <benchmark/benchmark.h>

#include <array>

#include "core.h"

namespace pmuconf {
namespace {

constexpr u64 kOn = REFPMU_EVTSEL_EN | REFPMU_EVTSEL_INT | REFPMU_EVTSEL_USR | REFPMU_EVTSEL_OS;
constexpr u64 kTop = (u64{1} << 48) - 1;

// A device with all features, as the driver configures it by default. Everything is disabled.
class Device {
 public:
  explicit Device(u8 general = 4) {
    const refpmu_model_params params = {general, 3, 48, 16, 1, true, true, Memory, this};
    refpmu_model_reset(&model_, &params);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  refpmu_model* get() { return &model_; }
  void Write(u32 reg, u64 value) { refpmu_model_write(&model_, reg, value); }

  // Enables all counters. They do not overflow for a long time.
  void CountEverything() {
    for (u32 i = 0; i < model_.params.general; ++i) Write(REFPMU_REG_EVTSEL(i), kOn | 0xc0);
    Write(REFPMU_REG_FIXED_CTR_CTRL, 0xbbb);
    Write(REFPMU_REG_GLOBAL_CTRL, 0x700000000 | refpmu_low_bits(model_.params.general));
  }

  // Sets up buffers whose threshold is never reached.
  void Record(u64 data_cfg, u64 pebs_enable, u64 debugctl) {
    ds_ = {};
    ds_.pebs_base = ds_.bts_base = kArea + sizeof(ds_);
    ds_.pebs_maximum = ds_.bts_maximum = ds_.pebs_base + sizeof(buffer_);
    ds_.pebs_threshold = ds_.bts_threshold = ~u64{0};
    for (u64& reset : ds_.reset) reset = kTop;
    Rewind();
    Write(REFPMU_REG_DS_AREA, kArea);
    Write(REFPMU_REG_PEBS_DATA_CFG, data_cfg);
    Write(REFPMU_REG_PEBS_ENABLE, pebs_enable);
    Write(REFPMU_REG_DEBUGCTL, debugctl);
  }

  void Rewind() {
    ds_.pebs_index = ds_.pebs_base;
    ds_.bts_index = ds_.bts_base;
  }

 private:
  static constexpr u64 kArea = 0x1000;

  static void* Memory(void* context, u64 address, u64) {
    return reinterpret_cast<char*>(&static_cast<Device*>(context)->ds_) + (address - kArea);
  }

  refpmu_model model_;
  refpmu_ds ds_ = {};
  std::array<u64, 0x200> buffer_ = {};  // directly after the DS area
};

void WriteRegister(benchmark::State& state, u32 reg, u64 value) {
  Device device;
  device.CountEverything();
  for (auto _ : state) benchmark::DoNotOptimize(refpmu_model_write(device.get(), reg, value));
}
BENCHMARK_CAPTURE(WriteRegister, evtsel, REFPMU_REG_EVTSEL(1), kOn | 0xc0);
BENCHMARK_CAPTURE(WriteRegister, counter, REFPMU_REG_A_PMC(1), 0x1234);
BENCHMARK_CAPTURE(WriteRegister, fixed_counter, REFPMU_REG_FIXED_CTR(1), 0x1234);
BENCHMARK_CAPTURE(WriteRegister, global_ctrl, REFPMU_REG_GLOBAL_CTRL, 0x70000000f);
BENCHMARK_CAPTURE(WriteRegister, status_reset, REFPMU_REG_GLOBAL_STATUS_RESET, 1);
BENCHMARK_CAPTURE(WriteRegister, debugctl, REFPMU_REG_DEBUGCTL, 1);
BENCHMARK_CAPTURE(WriteRegister, lbr_select, REFPMU_REG_LBR_SELECT, 4);

void ReadRegister(benchmark::State& state, u32 reg) {
  Device device;
  device.CountEverything();
  for (auto _ : state) {
    u64 value;
    benchmark::DoNotOptimize(refpmu_model_read(device.get(), reg, &value));
    benchmark::DoNotOptimize(value);
  }
}
BENCHMARK_CAPTURE(ReadRegister, counter, REFPMU_REG_A_PMC(1));
BENCHMARK_CAPTURE(ReadRegister, fixed_counter, REFPMU_REG_FIXED_CTR(1));
BENCHMARK_CAPTURE(ReadRegister, status, REFPMU_REG_GLOBAL_STATUS);
BENCHMARK_CAPTURE(ReadRegister, lbr_from, REFPMU_REG_LBR_FROM(3));

void ReadTheLine(benchmark::State& state) {
  Device device;
  for (auto _ : state) benchmark::DoNotOptimize(refpmu_model_line(device.get()));
}
BENCHMARK(ReadTheLine);

// Cost of a stimulus of @n events, none of which makes a counter overflow.
void Pulse(benchmark::State& state) {
  Device device(8);
  device.CountEverything();
  const auto n = static_cast<u64>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(refpmu_model_pulse(device.get(), 0xc0, n, REFPMU_USER, true));
  }
}
BENCHMARK(Pulse)->Arg(1)->Arg(1'000'000'000);

void Advance(benchmark::State& state) {
  Device device(8);
  device.CountEverything();
  const auto n = static_cast<u64>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(refpmu_model_advance(device.get(), n, REFPMU_USER, true));
  }
}
BENCHMARK(Advance)->Arg(1)->Arg(1'000'000'000);

void AdvanceWithNoCounterEnabled(benchmark::State& state) {
  Device device;
  for (auto _ : state) {
    benchmark::DoNotOptimize(refpmu_model_advance(device.get(), 100, REFPMU_USER, false));
  }
}
BENCHMARK(AdvanceWithNoCounterEnabled);

void TicksToOverflow(benchmark::State& state) {
  Device device(8);
  device.CountEverything();
  for (auto _ : state) {
    benchmark::DoNotOptimize(refpmu_model_ticks_to_overflow(device.get()));
  }
}
BENCHMARK(TicksToOverflow);

// One event that makes a counter overflow and write a record.
void PulseWithARecord(benchmark::State& state) {
  Device device;
  const refpmu_origin origin = {.privilege = REFPMU_USER, .ip = 0x1234};
  const refpmu_stimulus stimulus = {false, 0x1d0, 1, 1, false, &origin};
  device.Record(static_cast<u64>(state.range(0)), 1, 0);
  device.Write(REFPMU_REG_EVTSEL(0), kOn | 0x1d0);
  device.Write(REFPMU_REG_A_PMC(0), kTop);
  device.Write(REFPMU_REG_GLOBAL_CTRL, 1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(refpmu_model_stimulate(device.get(), &stimulus));
    device.Rewind();
  }
}
BENCHMARK(PulseWithARecord)->Arg(0)->Arg(3)->Arg(0xf00000b);

void Branch(benchmark::State& state, u64 debugctl) {
  Device device;
  const refpmu_origin origin = {.privilege = REFPMU_USER};
  const refpmu_branch branch = {0x1000, 0x2000, REFPMU_BRANCH_JCC, 5, false, false, false};
  device.Record(0, 0, debugctl);
  for (auto _ : state) {
    benchmark::DoNotOptimize(refpmu_model_branch(device.get(), &branch, &origin, false));
  }
}
BENCHMARK_CAPTURE(Branch, not_recorded, 0);
BENCHMARK_CAPTURE(Branch, to_the_stack, REFPMU_DEBUGCTL_LBR);
BENCHMARK_CAPTURE(Branch, to_the_trace, REFPMU_DEBUGCTL_TR | REFPMU_DEBUGCTL_BTS);

}  // namespace
}  // namespace pmuconf

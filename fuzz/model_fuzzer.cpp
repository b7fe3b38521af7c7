// SPDX-License-Identifier: Apache-2.0
// The modelled hardware against a slow one that counts event by event and keeps registers in maps.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "property.h"

extern "C" {
#include "model/model.h"
}

namespace pmuconf::fuzz {
namespace {

constexpr u64 kSlowEvents = 60;  // what the slow model steps through one by one
constexpr u64 kNever = ~u64{0};

// One counter of the slow model: general and fixed ones differ only in where their control is.
struct SlowCounter {
  u64 status;
  u16 code;
  bool on[2];  // by privilege
  bool interrupts;
  u64* value;
};

class SlowModel {
 public:
  explicit SlowModel(const refpmu_model_params& params) : params_(params) {
    for (unsigned i = 0; i < params.general; ++i) {
      values_[REFPMU_REG_A_PMC(i)] = 0;
      controls_[REFPMU_REG_EVTSEL(i)] = 0;
      writable_[REFPMU_REG_EVTSEL(i)] = 0x53ffff;  // EN, INT, OS, USR, unit mask, event
      global_ |= u64{1} << i;
    }
    for (unsigned i = 0; i < params.fixed; ++i) {
      values_[REFPMU_REG_FIXED_CTR(i)] = 0;
      writable_[REFPMU_REG_FIXED_CTR_CTRL] |= u64{0xb} << (4 * i);  // PMI, USR, OS
      global_ |= u64{1} << (32 + i);
    }
    controls_[REFPMU_REG_FIXED_CTR_CTRL] = 0;
    controls_[REFPMU_REG_GLOBAL_CTRL] = 0;
    writable_[REFPMU_REG_GLOBAL_CTRL] = global_;
  }

  std::optional<u64> Read(u32 reg) {
    if (u64* value = Value(reg)) return *value;
    if (const auto found = controls_.find(reg); found != controls_.end()) return found->second;
    switch (reg) {
      case REFPMU_REG_GLOBAL_STATUS:
        return status_;
      case REFPMU_REG_GLOBAL_STATUS_RESET:
      case REFPMU_REG_GLOBAL_STATUS_SET:
        return 0;
      case REFPMU_REG_PERF_CAPABILITIES:
        return u64{1} << 13;  // full-width writes
      default:
        return std::nullopt;
    }
  }

  bool Write(u32 reg, u64 value) {
    if (u64* counter = Value(reg)) {
      if (IsLegacy(reg)) {
        *counter =
            ((value & 0xffffffff) | ((value & 0x80000000) != 0 ? ~u64{0xffffffff} : 0)) & Mask();
        return true;
      }
      if ((value & ~Mask()) != 0) return false;
      *counter = value;
      return true;
    }
    if (const auto found = controls_.find(reg); found != controls_.end()) {
      if ((value & ~writable_[reg]) != 0) return false;
      found->second = value;
      return true;
    }
    if (reg != REFPMU_REG_GLOBAL_STATUS_RESET && reg != REFPMU_REG_GLOBAL_STATUS_SET) return false;
    if ((value & ~global_) != 0) return false;
    const bool set = reg == REFPMU_REG_GLOBAL_STATUS_SET;
    status_ = set ? status_ | value : status_ & ~value;
    asserted_ = set ? asserted_ | value : asserted_ & ~value;
    return true;
  }

  refpmu_model_step Pulse(u16 code, u64 n, int privilege, bool run_on) {
    const std::vector<SlowCounter> counters = Counters();
    refpmu_model_step step = {};
    while (step.done < n && (run_on || step.overflowed == 0)) {
      ++step.done;
      step.overflowed |= Happen(counters, code, privilege);
    }
    return step;
  }

  refpmu_model_step Advance(u64 n, int privilege, bool run_on) {
    const std::vector<SlowCounter> counters = Counters();
    refpmu_model_step step = {};
    while (step.done < n && (run_on || step.overflowed == 0)) {
      ++step.done;
      ++ticks_;
      step.overflowed |= Happen(counters, REFPMU_EVENT_CYCLES, privilege);
      if (ticks_ % 2 == 0)
        step.overflowed |= Happen(counters, REFPMU_EVENT_INSTRUCTIONS, privilege);
      if (ticks_ % 4 == 0) step.overflowed |= Happen(counters, REFPMU_EVENT_REF_CYCLES, privilege);
    }
    return step;
  }

  bool Line() const { return asserted_ != 0; }

 private:
  u64 Mask() const { return params_.width == 64 ? ~u64{0} : (u64{1} << params_.width) - 1; }

  bool IsLegacy(u32 reg) const {
    return reg >= REFPMU_REG_PMC(0) && reg < REFPMU_REG_PMC(u32{params_.general});
  }

  u64* Value(u32 reg) {
    if (IsLegacy(reg)) reg = REFPMU_REG_A_PMC(reg - REFPMU_REG_PMC(0));
    const auto found = values_.find(reg);
    return found == values_.end() ? nullptr : &found->second;
  }

  std::vector<SlowCounter> Counters() {
    std::vector<SlowCounter> counters;
    for (unsigned i = 0; i < params_.general; ++i) {
      const u64 select = controls_[REFPMU_REG_EVTSEL(i)];
      const bool enabled = (select & REFPMU_EVTSEL_EN) != 0;
      counters.push_back({u64{1} << i,
                          static_cast<u16>(select & 0xffff),
                          {enabled && (select & REFPMU_EVTSEL_USR) != 0,
                           enabled && (select & REFPMU_EVTSEL_OS) != 0},
                          (select & REFPMU_EVTSEL_INT) != 0,
                          &values_[REFPMU_REG_A_PMC(i)]});
    }
    constexpr u16 kCodes[] = {REFPMU_EVENT_INSTRUCTIONS, REFPMU_EVENT_CYCLES,
                              REFPMU_EVENT_REF_CYCLES};
    const u64 control = controls_[REFPMU_REG_FIXED_CTR_CTRL];
    for (unsigned i = 0; i < params_.fixed; ++i) {
      const u64 field = control >> (4 * i);
      counters.push_back({u64{1} << (32 + i),
                          kCodes[i],
                          {(field & 2) != 0, (field & 1) != 0},
                          (field & 8) != 0,
                          &values_[REFPMU_REG_FIXED_CTR(i)]});
    }
    return counters;
  }

  // One event; the status bits that it set.
  u64 Happen(const std::vector<SlowCounter>& counters, u16 code, int privilege) {
    u64 overflowed = 0;
    for (const SlowCounter& counter : counters) {
      const bool gated = (controls_[REFPMU_REG_GLOBAL_CTRL] & counter.status) == 0;
      if (gated || counter.code != code || !counter.on[privilege]) continue;
      if (*counter.value < Mask()) {
        ++*counter.value;
        continue;
      }
      *counter.value = 0;
      overflowed |= counter.status;
      if (counter.interrupts) asserted_ |= counter.status;
    }
    status_ |= overflowed;
    return overflowed;
  }

  refpmu_model_params params_;
  std::map<u32, u64> values_;
  std::map<u32, u64> controls_;
  std::map<u32, u64> writable_;
  u64 global_ = 0;
  u64 status_ = 0;
  u64 asserted_ = 0;
  u64 ticks_ = 0;
};

bool Same(const refpmu_model_step& a, const refpmu_model_step& b) {
  return a.done == b.done && a.overflowed == b.overflowed;
}

bool Same(const refpmu_model& a, const refpmu_model& b) {
  return std::memcmp(static_cast<const void*>(&a), static_cast<const void*>(&b), sizeof(a)) == 0;
}

std::vector<u32> Registers(const refpmu_model_params& params) {
  std::vector<u32> registers = {REFPMU_REG_PERF_CAPABILITIES,   REFPMU_REG_FIXED_CTR_CTRL,
                                REFPMU_REG_GLOBAL_STATUS,       REFPMU_REG_GLOBAL_CTRL,
                                REFPMU_REG_GLOBAL_STATUS_RESET, REFPMU_REG_GLOBAL_STATUS_SET};
  for (u32 i = 0; i < params.general; ++i) {
    registers.push_back(REFPMU_REG_PMC(i));
    registers.push_back(REFPMU_REG_EVTSEL(i));
    registers.push_back(REFPMU_REG_A_PMC(i));
  }
  for (u32 i = 0; i < params.fixed; ++i) registers.push_back(REFPMU_REG_FIXED_CTR(i));
  return registers;
}

class Session {
 public:
  Session(FuzzedDataProvider& data, const refpmu_model_params& params)
      : data_(data), params_(params), registers_(Registers(params)), slow_(params) {
    HOLDS(refpmu_model_reset(&model_, &params) == 0, "parameters in range are taken");
    CompareAll();
  }

  void Run() {
    for (int step = 0; step < 60 && data_.remaining_bytes() > 0; ++step) {
      switch (data_.ConsumeIntegralInRange(0, 7)) {
        case 0:
        case 1:
          Program();
          break;
        case 2:
          WriteAny();
          break;
        case 3:
          CheckPulse();
          break;
        case 4:
          CheckAdvance();
          break;
        case 5:
          CheckSplit();
          break;
        case 6:
          Signal();
          break;
        default:
          CheckDeadline();
      }
    }
    CompareAll();
  }

 private:
  u64 Mask() const { return refpmu_low_bits(params_.width); }
  u64 Global() const {
    return refpmu_low_bits(params_.general) | refpmu_low_bits(params_.fixed) << 32;
  }

  void Write(u32 reg, u64 value) {
    const refpmu_model before = model_;
    const bool taken = slow_.Write(reg, value);
    HOLDS(refpmu_model_write(&model_, reg, value) == (taken ? 0 : -EINVAL),
          "a write is taken or refused as the register says");
    HOLDS(taken || Same(before, model_), "a refused write changes nothing");
    Compare(reg);
    Compare(REFPMU_REG_GLOBAL_STATUS);
  }

  // A counter that counts and is about to wrap: what random writes alone would seldom reach.
  void Program() {
    const u64 near_top = Mask() - data_.ConsumeIntegralInRange<u64>(0, kSlowEvents);
    const u64 rings = data_.ConsumeIntegralInRange<u64>(0, 3);
    const u64 interrupt = data_.ConsumeBool() ? 1 : 0;
    if (params_.fixed > 0 && data_.ConsumeBool()) {
      const u32 i = data_.ConsumeIntegralInRange<u32>(0, params_.fixed - 1);
      Write(REFPMU_REG_FIXED_CTR(i), near_top);
      Write(REFPMU_REG_FIXED_CTR_CTRL, (rings | interrupt << 3) << (4 * i));
    } else {
      const u32 i = data_.ConsumeIntegralInRange<u32>(0, params_.general - 1);
      Write(REFPMU_REG_A_PMC(i), near_top);
      Write(REFPMU_REG_EVTSEL(i), Code() | rings << 16 | interrupt << 20 | REFPMU_EVTSEL_EN);
    }
    if (data_.ConsumeBool()) Write(REFPMU_REG_GLOBAL_CTRL, Global());
  }

  // Acknowledges or injects, counter bits alone: any other bit would have the write refused.
  void Signal() {
    const u32 reg =
        data_.ConsumeBool() ? REFPMU_REG_GLOBAL_STATUS_RESET : REFPMU_REG_GLOBAL_STATUS_SET;
    Write(reg, data_.ConsumeIntegral<u64>() & Global());
  }

  void WriteAny() {
    const u32 reg =
        data_.ConsumeIntegralInRange(0, 7) == 0
            ? data_.ConsumeIntegral<u32>() % 0x600
            : registers_[data_.ConsumeIntegralInRange<size_t>(0, registers_.size() - 1)];
    Write(reg, data_.ConsumeIntegral<u64>() >> data_.ConsumeIntegralInRange(0, 63));
  }

  u16 Code() {
    return data_.PickValueInArray<u16>(
        {REFPMU_EVENT_CYCLES, REFPMU_EVENT_INSTRUCTIONS, REFPMU_EVENT_REF_CYCLES, 0x01d0, 0x01d1});
  }

  refpmu_privilege Privilege() { return data_.ConsumeBool() ? REFPMU_KERNEL : REFPMU_USER; }

  void CheckPulse() {
    const u16 code = Code();
    const u64 n = data_.ConsumeIntegralInRange<u64>(0, kSlowEvents * 2);
    const refpmu_privilege privilege = Privilege();
    const bool run_on = data_.ConsumeBool();
    HOLDS(Same(refpmu_model_pulse(&model_, code, n, privilege, run_on),
               slow_.Pulse(code, n, privilege, run_on)),
          "a pulse ends where counting one by one ends");
    CompareAll();
  }

  void CheckAdvance() {
    const u64 n = data_.ConsumeIntegralInRange<u64>(0, kSlowEvents * 4);
    const refpmu_privilege privilege = Privilege();
    const bool run_on = data_.ConsumeBool();
    HOLDS(Same(refpmu_model_advance(&model_, n, privilege, run_on),
               slow_.Advance(n, privilege, run_on)),
          "the clock ends where ticking one by one ends");
    CompareAll();
  }

  refpmu_model_step Step(refpmu_model& model, bool clock, u16 code, u64 n,
                         refpmu_privilege privilege, bool run_on) const {
    return clock ? refpmu_model_advance(&model, n, privilege, run_on)
                 : refpmu_model_pulse(&model, code, n, privilege, run_on);
  }

  // Too many to count one by one: the whole and its two parts still agree. On copies.
  void CheckSplit() {
    const bool clock = data_.ConsumeBool();
    const u16 code = Code();
    const u64 n = data_.ConsumeIntegral<u64>() >> data_.ConsumeIntegralInRange(0, 63);
    const u64 first = n == 0 ? 0 : data_.ConsumeIntegral<u64>() % n;
    const refpmu_privilege privilege = Privilege();
    const bool run_on = data_.ConsumeBool();
    refpmu_model whole = model_;
    refpmu_model parts = model_;
    const refpmu_model_step all = Step(whole, clock, code, n, privilege, run_on);
    refpmu_model_step sum = Step(parts, clock, code, first, privilege, run_on);
    if (run_on || sum.overflowed == 0) {
      const refpmu_model_step rest = Step(parts, clock, code, n - first, privilege, run_on);
      sum = {sum.done + rest.done, sum.overflowed | rest.overflowed};
    }
    HOLDS(all.done <= n && (!run_on || all.done == n), "no more happens than was asked for");
    HOLDS(all.done == n || all.overflowed != 0, "only an overflow ends a stimulus early");
    HOLDS(Same(all, sum) && Same(whole, parts), "a stimulus in two parts is the same stimulus");
  }

  // The next overflow is told to the tick: at one privilege it happens then, at none earlier.
  void CheckDeadline() {
    u64 next = kNever;
    for (const refpmu_privilege privilege : {REFPMU_USER, REFPMU_KERNEL}) {
      refpmu_model copy = model_;
      const refpmu_model_step step = refpmu_model_advance(&copy, kNever, privilege, false);
      if (step.overflowed != 0) next = std::min(next, step.done);
    }
    HOLDS(refpmu_model_ticks_to_overflow(&model_) == next, "the next overflow is told to the tick");
  }

  void Compare(u32 reg) {
    u64 value = 0;
    const std::optional<u64> expected = slow_.Read(reg);
    HOLDS(refpmu_model_read(&model_, reg, &value) == (expected ? 0 : -EINVAL),
          "a register is there or it is not");
    HOLDS(!expected || value == *expected, "a register holds what it should");
    HOLDS(refpmu_model_line(&model_) == slow_.Line(), "the line is as it should be");
  }

  void CompareAll() {
    for (const u32 reg : registers_) Compare(reg);
  }

  FuzzedDataProvider& data_;
  refpmu_model_params params_;
  std::vector<u32> registers_;
  refpmu_model model_ = {};
  SlowModel slow_;
};

void CheckReset(const refpmu_model_params& params) {
  refpmu_model model;
  std::memset(&model, 0x5a, sizeof(model));
  const refpmu_model before = model;
  const bool fine = params.general >= 1 && params.general <= REFPMU_MAX_GENERAL &&
                    params.fixed <= REFPMU_MAX_FIXED && params.width >= 16 && params.width <= 64;
  HOLDS(refpmu_model_reset(&model, &params) == (fine ? 0 : -EINVAL),
        "parameters out of range are refused");
  HOLDS(fine || Same(model, before), "a refused reset changes nothing");
}

}  // namespace
}  // namespace pmuconf::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace pmuconf::fuzz;
  FuzzedDataProvider data(bytes, size);
  CheckReset({data.ConsumeIntegral<u8>(), data.ConsumeIntegral<u8>(), data.ConsumeIntegral<u8>()});
  refpmu_model_params params = {};
  params.general = data.PickValueInArray<u8>({1, 2, 4, 4, 4, 32});
  params.fixed = data.ConsumeIntegralInRange<u8>(0, REFPMU_MAX_FIXED);
  params.width = data.PickValueInArray<u8>({16, 32, 40, 48, 48, 63, 64});
  Session(data, params).Run();
  return 0;
}

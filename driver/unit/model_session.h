// SPDX-License-Identifier: Apache-2.0
// A random program for the modeled hardware, compared with the slow device after each step.
#ifndef PMUCONF_DRIVER_UNIT_MODEL_SESSION_H_
#define PMUCONF_DRIVER_UNIT_MODEL_SESSION_H_

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "slow_device.h"

namespace pmuconf {

// @Draw has u64 operator()(u64 low, u64 high), and bool more(), which returns whether to continue.
template <typename Draw>
class ModelSession {
 public:
  ModelSession(Draw& draw, refpmu_model_params params)
      : draw_(draw), params_(params), slow_(params), registers_(slow_.Registers()) {
    params_.memory = Memory::Resolve;
    params_.context = &memory_;
    Check(refpmu_model_reset(&model_, &params_) == 0, "parameters in range are taken");
    SetUpDs();
    CompareAll();
  }

  // Throws std::logic_error with the violated property.
  void Run(int steps) {
    for (int step = 0; step < steps && draw_.more(); ++step) {
      Step();
      CompareAll();
    }
  }

  u64 overflows() const { return overflows_; }
  u64 records() const { return records_; }

 private:
  static constexpr u64 kSlowEvents = 60;  // events that the slow device processes one by one
  static constexpr u64 kArea = Memory::kBase + 64;

  static void Check(bool condition, const char* claim) {
    if (!condition) throw std::logic_error(claim);
  }

  bool Chance(u64 one_in) { return draw_(1, one_in) == 1; }
  u64 Any() { return draw_(0, ~u64{0}) >> draw_(0, 63); }
  u64 Mask() const { return refpmu_low_bits(params_.width); }
  u64 Counters() const {
    return refpmu_low_bits(params_.general) | refpmu_low_bits(params_.fixed) << 32;
  }

  void Step() {
    switch (draw_(0, 11)) {
      case 0:
      case 1:
        return Program();
      case 2:
        return Write(AnyRegister(), Any());
      case 3:
        return Control();
      case 4:
        return SetUpDs();
      case 5:
      case 6:
        return Stimulate(false);
      case 7:
      case 8:
        return Stimulate(true);
      case 9:
        return Branch();
      case 10:
        return CheckSplit();
      default:
        return CheckDeadline();
    }
  }

  u32 AnyRegister() {
    if (Chance(16)) return static_cast<u32>(draw_(0, 0xe00));
    return registers_[draw_(0, registers_.size() - 1)];
  }

  void Write(u32 reg, u64 value) {
    const bool accepted = slow_.Write(reg, value);
    Check(refpmu_model_write(&model_, reg, value) == (accepted ? 0 : -EINVAL),
          "a write is taken or refused as the register says");
  }

  void Poke(u64 address, u64 value) { memory_.At(address) = slow_.memory().At(address) = value; }

  // Enables a counter that is about to overflow. Random writes alone would rarely do that.
  void Program() {
    const u64 near_top = Mask() - draw_(0, kSlowEvents);
    const u64 rings = Chance(4) ? draw_(0, 3) : 3;
    const u64 interrupt = draw_(0, 1);
    if (params_.fixed > 0 && Chance(3)) {
      const u32 i = static_cast<u32>(draw_(0, params_.fixed - 1u));
      Write(REFPMU_REG_FIXED_CTR(i), near_top);
      Write(REFPMU_REG_FIXED_CTR_CTRL, (rings | interrupt << 3) << (4 * i));
    } else {
      const u32 i = static_cast<u32>(draw_(0, params_.general - 1u));
      u64 select = Code() | rings << 16 | interrupt << 20 | REFPMU_EVTSEL_EN;
      if (Chance(4)) select |= draw_(0, 1) << 18 | draw_(0, 1) << 23 | draw_(0, 3) << 24;
      Write(REFPMU_REG_A_PMC(i), near_top);
      Write(REFPMU_REG_EVTSEL(i), select);
      if (Chance(4) && i + 1 < params_.general) {
        Write(REFPMU_REG_EVTSEL(i + 1), REFPMU_EVENT_MERGE | REFPMU_EVTSEL_EN);
      }
    }
    if (Chance(2)) Write(REFPMU_REG_GLOBAL_CTRL, Counters() & ~(Chance(4) ? Any() : 0));
  }

  // Writes status and recording controls. The device must reject registers that it does not have.
  void Control() {
    switch (draw_(0, 7)) {
      case 0:
      case 1:
        return Write(REFPMU_REG_GLOBAL_STATUS_RESET, *slow_.Read(REFPMU_REG_GLOBAL_STATUS));
      case 2:
        return Write(REFPMU_REG_GLOBAL_STATUS_SET, Any() & Counters());
      case 3:
        return Write(REFPMU_REG_DEBUGCTL, draw_(0, 0x1fff) & FeatureBits(0x1000, 0x801, 0x7c0));
      case 4:
        return Write(REFPMU_REG_PEBS_ENABLE, Any() & Counters());
      case 5:
        return Write(REFPMU_REG_PEBS_DATA_CFG, draw_(0, 3) | FeatureBits(0, draw_(0, 15) << 24, 0));
      case 6:
        return Write(REFPMU_REG_LBR_SELECT, draw_(0, 0x3ff) & draw_(0, 0x3ff));
      default:
        return Write(REFPMU_REG_OFFCORE_RSP(0) + static_cast<u32>(draw_(0, 1)), draw_(0, 3));
    }
  }

  u64 FeatureBits(u64 all, u64 lbr, u64 trace) const {
    return all | (params_.lbr ? lbr | (all == 0 ? 8u : 0u) : 0) | (params_.trace ? trace : 0);
  }

  // Sets up a DS area with small buffers at a random position; rarely an invalid one.
  void SetUpDs() {
    const u64 bts = kArea + 0x200;
    const u64 pebs = bts + draw_(0, 6) * 24 + draw_(0, 1) * 8;
    const u64 end = Chance(8) ? memory_.end() + 64 : pebs + draw_(0, 0x800) / 8 * 8;
    const std::array<u64, 8> header = {bts,  bts,  pebs, bts + draw_(0, 6) * 24,
                                       pebs, pebs, end,  pebs + draw_(0, 0x800) / 8 * 8};
    for (u64 i = 0; i < 8; ++i) Poke(kArea + 8 * i, Chance(64) ? Any() : header[i]);
    for (u64 i = 0; i < 35; ++i) Poke(kArea + 64 + 8 * i, Chance(8) ? Any() : 0 - draw_(1, 30));
    Write(REFPMU_REG_DS_AREA, Chance(16) ? Any() : kArea);
  }

  u16 Code() {
    constexpr std::array<u16, 16> kCodes = {REFPMU_EVENT_CYCLES,
                                            REFPMU_EVENT_INSTRUCTIONS,
                                            REFPMU_EVENT_REF_CYCLES,
                                            REFPMU_EVENT_BRANCHES,
                                            REFPMU_EVENT_BRANCH_MISSES,
                                            REFPMU_EVENT_OFFCORE_0,
                                            REFPMU_EVENT_OFFCORE_1,
                                            REFPMU_EVENT_LOAD_LATENCY,
                                            REFPMU_EVENT_WIDE,
                                            REFPMU_EVENT_MERGE,
                                            0x01d0,
                                            0x01d1,
                                            REFPMU_EVENT_INSTRUCTIONS,
                                            REFPMU_EVENT_CYCLES,
                                            0x01d0,
                                            REFPMU_EVENT_REF_CYCLES};
    return kCodes[draw_(0, kCodes.size() - 1)];
  }

  refpmu_origin Origin() {
    refpmu_origin origin = {};
    origin.privilege = draw_(0, 1) ? REFPMU_KERNEL : REFPMU_USER;
    if (Chance(2)) {
      origin.latency = static_cast<u16>(draw_(0, 20));
      origin.response = draw_(0, 3);
      origin.ip = draw_(0, 0xffff);
      origin.addr = draw_(0, 0xffff);
      origin.source = draw_(0, 0xffff);
      origin.time = draw_(0, 0xffff);
      origin.flags = draw_(0, 0xffff);
      for (u64& gpr : origin.gpr) gpr = origin.time + static_cast<u64>(&gpr - origin.gpr);
    }
    return origin;
  }

  refpmu_stimulus RandomStimulus(bool clock, const refpmu_origin& origin) {
    refpmu_stimulus s = {};
    s.clock = clock;
    s.code = Code();
    s.per_pulse = static_cast<u8>(Chance(2) ? draw_(0, 3) : draw_(0, 70));
    s.n = draw_(0, kSlowEvents * (clock ? 4 : 2));
    s.run_on = Chance(2);
    s.origin = &origin;
    return s;
  }

  void Compare(const refpmu_model_step& fast, const refpmu_model_step& slow) {
    Check(fast.done == slow.done, "a step ends where counting one by one ends");
    Check(fast.overflowed == slow.overflowed, "a step returns the status that it sets");
    overflows_ += slow.overflowed != 0;
  }

  void Stimulate(bool clock) {
    const refpmu_origin origin = Origin();
    const refpmu_stimulus s = RandomStimulus(clock, origin);
    Compare(refpmu_model_stimulate(&model_, &s), slow_.Stimulate(s));
  }

  void Branch() {
    for (u64 n = draw_(1, 12); n > 0; --n) {
      const refpmu_origin origin = Origin();
      refpmu_branch b = {};
      b.from = draw_(0, 0xffff);
      b.to = draw_(0, 0xffff);
      b.kind = static_cast<refpmu_branch_kind>(draw_(0, REFPMU_BRANCH_MAX - 1));
      b.cycles = static_cast<u16>(draw_(0, 0xffff));
      const u64 flags = draw_(0, 7);
      b.mispredicted = flags & 1;
      b.in_tx = flags & 2;
      b.abort = flags & 4;
      Compare(refpmu_model_branch(&model_, &b, &origin, false), slow_.Branch(b, origin));
    }
  }

  // An independent copy of the device.
  struct Copy {
    explicit Copy(const ModelSession& session) : memory(session.memory_), model(session.model_) {
      model.params.context = &memory;
    }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;
    Memory memory;
    refpmu_model model;
  };

  void CheckSame(Copy& a, Copy& b, const char* claim) {
    Check(a.memory == b.memory, claim);
    Check(refpmu_model_line(&a.model) == refpmu_model_line(&b.model), claim);
    Check(refpmu_model_ticks_to_overflow(&a.model) == refpmu_model_ticks_to_overflow(&b.model),
          claim);
    for (const u32 reg : registers_) {
      u64 left = 0;
      u64 right = 1;
      refpmu_model_read(&a.model, reg, &left);
      refpmu_model_read(&b.model, reg, &right);
      Check(left == right, claim);
    }
  }

  // For numbers that are too large for the slow device: one stimulus must equal the sum of its two
  // parts. Works on copies.
  void CheckSplit() {
    const refpmu_origin origin = Origin();
    refpmu_stimulus s = RandomStimulus(draw_(0, 1), origin);
    s.n = Any();
    const u64 first = s.n == 0 ? 0 : draw_(0, s.n);
    Copy whole(*this);
    Copy parts(*this);
    const refpmu_model_step all = refpmu_model_stimulate(&whole.model, &s);
    refpmu_stimulus part = s;
    part.n = first;
    refpmu_model_step sum = refpmu_model_stimulate(&parts.model, &part);
    if (s.run_on || sum.overflowed == 0) {
      part.n = s.n - first;
      const refpmu_model_step rest = refpmu_model_stimulate(&parts.model, &part);
      sum = {sum.done + rest.done, sum.overflowed | rest.overflowed};
    }
    Check(all.done <= s.n && (!s.run_on || all.done == s.n), "no more happens than was asked for");
    Check(all.done == s.n || all.overflowed != 0, "only an overflow ends a stimulus early");
    Check(all.done == sum.done && all.overflowed == sum.overflowed,
          "a stimulus in two parts is the same stimulus");
    CheckSame(whole, parts, "a stimulus in two parts leaves the same state");
  }

  // The predicted tick of the next overflow is exact: at one privilege it overflows then, at no
  // privilege earlier.
  void CheckDeadline() {
    Write(REFPMU_REG_PEBS_ENABLE, 0);
    u64 next = ~u64{0};
    for (const refpmu_privilege privilege : {REFPMU_USER, REFPMU_KERNEL}) {
      Copy copy(*this);
      const refpmu_model_step step = refpmu_model_advance(&copy.model, ~u64{0}, privilege, false);
      if (step.overflowed != 0) next = std::min(next, step.done);
    }
    Check(refpmu_model_ticks_to_overflow(&model_) == next, "the next overflow is told to the tick");
    CheckPass(draw_(0, 1) ? REFPMU_KERNEL : REFPMU_USER);
  }

  // refpmu_model_pass() must stop right before the tick that overflows a counter.
  void CheckPass(refpmu_privilege privilege) {
    Copy stepped(*this);
    Copy passed(*this);
    const u64 n = Any();
    refpmu_model_step step = refpmu_model_advance(&stepped.model, n, privilege, false);
    if (step.overflowed != 0) {
      stepped.model = model_;
      stepped.model.params.context = &stepped.memory;
      step = refpmu_model_advance(&stepped.model, step.done - 1, privilege, false);
    }
    Check(refpmu_model_pass(&passed.model, n, privilege) == step.done,
          "time that passes ends before an overflow");
    CheckSame(stepped, passed, "time that passes is time");
  }

  void CompareAll() {
    for (const u32 reg : registers_) {
      u64 value = 0;
      Check(refpmu_model_read(&model_, reg, &value) == 0, "a register is there");
      Check(value == slow_.Read(reg), "a register holds what it should");
    }
    Check(refpmu_model_line(&model_) == slow_.Line(), "the line is as it should be");
    Check(memory_ == slow_.memory(), "memory holds the records that it should");
    const u64 area = *slow_.Read(REFPMU_REG_GLOBAL_STATUS);
    records_ += area >> 62 & 1;
  }

  Draw& draw_;
  refpmu_model_params params_;
  Memory memory_;
  SlowDevice slow_;
  std::vector<u32> registers_;
  refpmu_model model_ = {};
  u64 overflows_ = 0;
  u64 records_ = 0;  // steps after which the record buffer had reached its threshold
};

}  // namespace pmuconf

#endif  // PMUCONF_DRIVER_UNIT_MODEL_SESSION_H_

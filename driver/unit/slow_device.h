// SPDX-License-Identifier: Apache-2.0
// A slow implementation of the modeled hardware: registers in a map, one cycle after the other.
#ifndef PMUCONF_DRIVER_UNIT_SLOW_DEVICE_H_
#define PMUCONF_DRIVER_UNIT_SLOW_DEVICE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

extern "C" {
#include "model.h"
}

namespace pmuconf {

// Memory of a device: its DS area and the buffers.
class Memory {
 public:
  static constexpr u64 kBase = 0x7000;

  explicit Memory(size_t words = 0x400) : words_(words) {}

  u64& At(u64 address) { return words_.at((address - kBase) / 8); }
  u64 end() const { return kBase + words_.size() * 8; }
  bool operator==(const Memory& other) const { return words_ == other.words_; }

  // The function for params.memory; its context is a Memory.
  static void* Resolve(void* context, u64 address, u64 size) {
    auto& words = static_cast<Memory*>(context)->words_;
    const u64 bytes = words.size() * 8;
    if (address < kBase || address - kBase > bytes || bytes - (address - kBase) < size) {
      return nullptr;
    }
    return reinterpret_cast<char*>(words.data()) + (address - kBase);
  }

 private:
  std::vector<u64> words_;
};

class SlowDevice {
 public:
  explicit SlowDevice(const refpmu_model_params& params) : params_(params) {
    for (u32 i = 0; i < params.general; ++i) {
      counters_ |= u64{1} << i;
      Add(0x186 + i, 0xfff7ffff);
      Add(0x4c1 + i, Mask());
    }
    u64 control = 0;
    for (u32 i = 0; i < params.fixed; ++i) {
      counters_ |= u64{1} << (32 + i);
      control |= u64{15} << (4 * i);
      Add(0x309 + i, Mask());
    }
    Add(0x38d, control);
    Add(0x38f, counters_);
    Add(0x1d9, 0x1000 | (params.lbr ? 0x801 : 0) | (params.trace ? 0x7c0 : 0));
    if (params.records) {
      for (u32 reg : {0x1a6, 0x1a7}) Add(reg, 0x3fffff8fff);
      Add(0x3f6, 0xffff);
      Add(0x3f1, counters_);
      Add(0x3f2, 3 | (params.lbr ? 0xff000008 : 0));
    }
    if (params.records || params.trace) Add(0x600, ~u64{7});
    if (params.lbr) {
      Add(0x1c8, 0x3ff);
      Add(0x1c9, params.lbr - 1u);
      for (u32 i = 0; i < params.lbr; ++i) {
        Add(0x680 + i, ~u64{0});
        Add(0x6c0 + i, ~u64{0});
        Add(0xdc0 + i, 0xef0000000000ffff);
      }
    }
  }

  Memory& memory() { return memory_; }
  bool Line() const { return asserted_ != 0; }

  // Returns all registers of the device.
  std::vector<u32> Registers() const {
    std::vector<u32> all = {0x345, 0x38e, 0x390, 0x391};
    for (u32 i = 0; i < params_.general; ++i) all.push_back(0xc1 + i);
    for (const auto& [reg, writable] : writable_) all.push_back(reg);
    return all;
  }

  std::optional<u64> Read(u32 reg) const {
    switch (reg) {
      case 0x345:
        return 0x2000u | (params_.lbr ? 5u : 0u) | (params_.records ? 0x4580u : 0u);
      case 0x38e:
        return status_;
      case 0x390:
      case 0x391:
        return 0;
      default:
        break;
    }
    const auto found = values_.find(Full(reg));
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }

  bool Write(u32 reg, u64 value) {
    if (reg == 0x390 || reg == 0x391) {
      if ((value & ~Status()) != 0) return false;
      if (reg == 0x391) {
        status_ |= value;
        Assert(value & ~kFrozen);
      } else {
        status_ &= ~value;
        asserted_ &= ~value;
      }
      return true;
    }
    const auto found = writable_.find(Full(reg));
    if (found == writable_.end()) return false;
    if (Full(reg) != reg) {
      const u64 low = value & 0xffffffff;
      value = (low >= 0x80000000 ? low - 0x100000000 : low) & Mask();
    }
    if ((value & ~found->second) != 0) return false;
    values_[Full(reg)] = value;
    NoteNearness(Full(reg));
    return true;
  }

  refpmu_model_step Stimulate(const refpmu_stimulus& s) {
    const u64 occurrences = s.per_pulse == 0 ? 1 : std::min<u64>(s.per_pulse, 63);
    refpmu_model_step step = {0, 0};
    while (step.done < s.n && (s.run_on || step.overflowed == 0)) {
      ++step.done;
      if (s.clock) {
        step.overflowed |= Tick(*s.origin);
      } else {
        step.overflowed |= Occur({s.code}, occurrences, *s.origin);
      }
    }
    return step;
  }

  refpmu_model_step Branch(const refpmu_branch& b, const refpmu_origin& origin) {
    const u64 control = values_[0x1d9];
    const bool user = origin.privilege == REFPMU_USER;
    if ((control & 1) != 0 && (status_ >> 58 & 1) == 0) Record(b, user);
    std::set<u16> codes = {0xc4};
    if (b.mispredicted) codes.insert(0xc5);
    u64 overflowed = Occur(codes, 1, origin);
    if ((control & 0xc0) == 0xc0 && (control >> (user ? 10 : 9) & 1) == 0) {
      overflowed |= Trace(b, (control & 0x100) != 0);
    }
    return {1, overflowed};
  }

 private:
  static constexpr u64 kFrozen = u64{3} << 58;
  static constexpr u64 kDs = u64{1} << 62;

  // A counter, with all that determines its increment.
  struct Counter {
    u64 status;
    u64 select;  // in the format of a general counter
    u32 reg;
    u64* value;
    u64 reset;  // index of its reset value
  };

  void Add(u32 reg, u64 writable) {
    values_[reg] = 0;
    writable_[reg] = writable;
  }

  u64 Mask() const { return params_.width == 64 ? ~u64{0} : (u64{1} << params_.width) - 1; }

  u64 Status() const {
    return counters_ | u64{1} << 59 | (params_.lbr ? u64{1} << 58 : 0) |
           (params_.records || params_.trace ? kDs : 0);
  }

  u32 Full(u32 reg) const {
    return reg >= 0xc1 && reg < 0xc1u + params_.general ? reg + 0x400 : reg;
  }

  void Assert(u64 bits) {
    if (bits != 0 && asserted_ == 0) {
      if ((values_[0x1d9] & 0x1000) != 0) status_ |= u64{1} << 59;
      if ((values_[0x1d9] & 0x800) != 0) status_ |= u64{1} << 58;
    }
    asserted_ |= bits;
  }

  // Checks whether a counter was written so close to its maximum that its next overflow has no
  // effect.
  void NoteNearness(u32 reg) {
    deaf_.erase(reg);
    const bool counter = (reg >= 0x4c1 && reg < 0x4c1u + params_.general) ||
                         (reg >= 0x309 && reg < 0x309u + params_.fixed);
    u64 events = 1;  // number of events that overflow it
    for (u64 value = values_[reg]; counter && value != Mask() && events < params_.min_period; ++value) {
      ++events;
    }
    if (counter && events < params_.min_period) deaf_.insert(reg);
  }

  // Returns the counters that are enabled at a privilege.
  std::vector<Counter> On(bool user) {
    std::vector<Counter> on;
    if ((status_ >> 59 & 1) != 0) return on;
    for (u32 i = 0; i < params_.general; ++i) {
      const u64 select = values_[0x186 + i];
      if ((select >> 22 & 1) != 0 && (select >> (user ? 16 : 17) & 1) != 0 && Enabled(i)) {
        on.push_back({u64{1} << i, select, 0x4c1 + i, &values_[0x4c1 + i], i});
      }
    }
    constexpr u64 kCodes[] = {0xc0, 0x3c, 0x13c};
    for (u32 i = 0; i < params_.fixed; ++i) {
      const u64 control = values_[0x38d] >> (4 * i);
      if ((control >> (user ? 1 : 0) & 1) != 0 && Enabled(32 + i)) {
        on.push_back({u64{1} << (32 + i), kCodes[i] | (control >> 3 & 1) << 20, 0x309 + i,
                      &values_[0x309 + i], 32 + i});
      }
    }
    return on;
  }

  bool Enabled(u32 bit) const { return (values_.at(0x38f) >> bit & 1) != 0; }

  bool Wanted(u16 code, const std::set<u16>& codes, const refpmu_origin& origin) {
    if (code == 0xffff) return false;
    if (!params_.records) return codes.contains(code);
    if (code == 0x1b7 || code == 0x1bb) {
      if (!codes.contains(0x1b7) && !codes.contains(0x1bb)) return false;
      const u64 wanted = values_[code == 0x1b7 ? 0x1a6 : 0x1a7];
      return origin.response != 0 && (origin.response | wanted) == wanted;
    }
    if (code == 0x1cd && origin.latency <= values_[0x3f6]) return false;
    return codes.contains(code);
  }

  u64 TakenIn(const Counter& counter, u64 occurrences) {
    if ((counter.select & 0xffff) != 0x1d4 || occurrences <= 15) return occurrences;
    const u64 i = counter.reset;
    const bool pair = i % 2 == 0 && i + 1 < params_.general && Enabled(static_cast<u32>(i) + 1) &&
                      (values_[static_cast<u32>(0x187 + i)] & 0x40ffff) == 0x40ffff;
    return pair ? occurrences : 15;
  }

  // Returns the increment in a cycle with @now occurrences after a cycle with @before.
  static u64 Gain(const Counter& counter, u64 before, u64 now) {
    const bool edge = (counter.select >> 18 & 1) != 0;
    u64 cmask = counter.select >> 24 & 0xff;
    if (cmask == 0 && !edge) return now;
    if (cmask == 0) cmask = 1;
    const bool inverse = (counter.select >> 23 & 1) != 0;
    const bool was = (before >= cmask) != inverse;
    const bool is = (now >= cmask) != inverse;
    return edge ? is && !was : is;
  }

  // A pulse: a cycle with occurrences, and an idle one.
  u64 Occur(const std::set<u16>& codes, u64 occurrences, const refpmu_origin& origin) {
    std::vector<std::pair<Counter, u64>> gains;
    for (const Counter& counter : On(origin.privilege == REFPMU_USER)) {
      if (!Wanted(static_cast<u16>(counter.select & 0xffff), codes, origin)) continue;
      const u64 seen = TakenIn(counter, occurrences);
      gains.push_back({counter, Gain(counter, 0, seen) + Gain(counter, seen, 0)});
    }
    return Apply(gains, origin);
  }

  u64 Tick(const refpmu_origin& origin) {
    const u64 before = ticks_++;
    std::vector<std::pair<Counter, u64>> gains;
    for (const Counter& counter : On(origin.privilege == REFPMU_USER)) {
      const u64 code = counter.select & 0xffff;
      if (code != 0x3c && code != 0xc0 && code != 0x13c) continue;
      const u64 every = code == 0x3c ? 1 : code == 0xc0 ? 2 : 4;
      gains.push_back({counter, Gain(counter, before % every == 0, ticks_ % every == 0)});
    }
    return Apply(gains, origin);
  }

  // Returns the status bits that this sets.
  u64 Apply(const std::vector<std::pair<Counter, u64>>& gains, const refpmu_origin& origin) {
    const u64 precise = values_.contains(0x3f1) ? values_[0x3f1] : 0;
    u64 overflowed = 0;
    u64 asserting = 0;
    u64 recorded = 0;
    for (const auto& [counter, gain] : gains) {
      const u64 room = Mask() - *counter.value;
      *counter.value = (*counter.value + gain) & Mask();
      if (gain <= room || deaf_.erase(counter.reg) != 0) continue;
      if ((precise & counter.status) != 0) {
        if (!HasDs()) continue;
        *counter.value = memory_.At(values_[0x600] + 64 + 8 * counter.reset) & Mask();
        recorded |= counter.status;
      } else {
        overflowed |= counter.status;
        if ((counter.select >> 20 & 1) != 0) asserting |= counter.status;
      }
    }
    if (recorded != 0 && WriteRecord(origin, recorded)) {
      overflowed |= kDs;
      asserting |= kDs;
    }
    status_ |= overflowed;
    Assert(asserting);
    return overflowed;
  }

  bool Mapped(u64 address, u64 size) { return Memory::Resolve(&memory_, address, size) != nullptr; }
  bool HasDs() { return values_[0x600] != 0 && Mapped(values_[0x600], 43 * 8); }
  u64& Ds(u64 word) { return memory_.At(values_[0x600] + 8 * word); }

  bool Fits(u64 index, u64 maximum, u64 size) {
    return index % 8 == 0 && index <= maximum && maximum - index >= size && Mapped(index, size);
  }

  // Returns true if the record was written and the buffer has reached its threshold.
  bool WriteRecord(const refpmu_origin& origin, u64 counters) {
    const u64 config = values_[0x3f2];
    std::vector<u64> record = {0, origin.ip, counters, origin.time};
    if ((config & 1) != 0) {
      record.insert(record.end(), {origin.addr, origin.source, origin.latency, 0});
    }
    if ((config & 2) != 0) {
      record.insert(record.end(), {origin.flags, origin.ip});
      record.insert(record.end(), std::begin(origin.gpr), std::end(origin.gpr));
    }
    for (u64 i = 0; (config & 8) != 0 && i <= config >> 24; ++i) {
      const u32 entry = static_cast<u32>((values_[0x1c9] - i) % params_.lbr);
      const bool there = i < params_.lbr;
      for (u32 base : {0x680, 0x6c0, 0xdc0}) record.push_back(there ? values_[base + entry] : 0);
    }
    record[0] = config | record.size() * 8 << 48;
    u64& index = Ds(5);
    if (!Fits(index, Ds(6), record.size() * 8)) return false;
    for (u64 word : record) memory_.At(index) = word, index += 8;
    return index >= Ds(7);
  }

  // Returns the status bits that this sets.
  u64 Trace(const refpmu_branch& b, bool interrupts) {
    if (!HasDs()) return 0;
    u64& index = Ds(1);
    const u64 before = index;
    if (!interrupts && !Fits(index, Ds(2), 24)) index = Ds(0);
    if (!Fits(index, Ds(2), 24)) {
      index = before;
      return 0;
    }
    for (u64 word : {b.from, b.to, b.mispredicted ? u64{0} : u64{16}}) {
      memory_.At(index) = word;
      index += 8;
    }
    if (!interrupts) {
      if (index + 24 > Ds(2)) index = Ds(0);
      return 0;
    }
    if (index < Ds(3)) return 0;
    status_ |= kDs;
    Assert(kDs);
    return kDs;
  }

  void Record(const refpmu_branch& b, bool user) {
    const u64 select = values_[0x1c8];
    constexpr int kBit[] = {2, 3, 4, 5, 6, 7, 8};
    if ((select >> (user ? 1 : 0) & 1) != 0 || (select >> kBit[b.kind] & 1) != 0) return;
    u64& top = values_[0x1c9];
    if ((select >> 9 & 1) != 0 && b.kind == REFPMU_BRANCH_RET) {
      const u32 i = static_cast<u32>(top);
      if (values_[0x680 + i] == 0) return;
      for (u32 base : {0x680, 0x6c0, 0xdc0}) values_[base + i] = 0;
      top = (top + params_.lbr - 1) % params_.lbr;
      return;
    }
    top = (top + 1) % params_.lbr;
    const u32 i = static_cast<u32>(top);
    values_[0x680 + i] = b.from;
    values_[0x6c0 + i] = b.to;
    constexpr u64 kType[] = {0, 4, 3, 5, 1, 2, 8};
    values_[0xdc0 + i] = b.cycles | kType[b.kind] << 56 | u64{b.abort} << 61 | u64{b.in_tx} << 62 |
                         u64{b.mispredicted} << 63;
  }

  refpmu_model_params params_;
  Memory memory_;
  std::map<u32, u64> values_;
  std::map<u32, u64> writable_;
  std::set<u32> deaf_;  // counters whose next overflow has no effect
  u64 counters_ = 0;
  u64 status_ = 0;
  u64 asserted_ = 0;
  u64 ticks_ = 0;
};

}  // namespace pmuconf

#endif  // PMUCONF_DRIVER_UNIT_SLOW_DEVICE_H_

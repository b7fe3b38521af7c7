// SPDX-License-Identifier: Apache-2.0
// Tests that each access to the device model is atomic against an NMI on the same CPU. An intruder
// may interrupt an access at any instruction. The result must equal that of both accesses in
// sequence.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "core.h"
#include "single_step.h"
#include "slow_device.h"

namespace pmuconf {
namespace {

#if defined(__SANITIZE_ADDRESS__)
// instructions at which an access is interrupted: single steps are slow here
constexpr u64 kPlaces = 60;
#else
constexpr u64 kPlaces = 1'000'000;  // all instructions
#endif
constexpr u64 kLooks = 1'500;   // intrusions into an access, unless it has more instructions
constexpr u64 kSteps = 40'000;  // intrusions in accesses with two intrusions each

constexpr u64 kArea = Memory::kBase + 64;
constexpr u64 kBts = kArea + 0x200;
constexpr u64 kPebs = kBts + 0x60;
constexpr u64 kTop = (u64{1} << 48) - 1;
constexpr u64 kOn = REFPMU_EVTSEL_EN | REFPMU_EVTSEL_INT | REFPMU_EVTSEL_USR | REFPMU_EVTSEL_OS;

using Words = std::vector<u64>;

// Result of an access. It uses no heap memory, because the access may interrupt malloc().
struct Returned {
  std::array<u64, 4> words = {};
  bool operator<(const Returned& other) const { return words < other.words; }
};

// A device with all features enabled and all overflows near.
class Device {
 public:
  explicit Device(u64 freeze) {
    refpmu_model_params params = {4, 3, 48, 8, 1, true, true, Memory::Resolve, &memory_};
    EXPECT_EQ(refpmu_model_reset(&model_, &params), 0);
    for (const u64 word :
         {kBts, kBts, kBts + 0x60, kBts + 0x30, kPebs, kPebs, kPebs + 0x800, kPebs + 0x200}) {
      memory_.At(kArea + 8 * header_++) = word;
    }
    for (u64 i = 0; i < 35; ++i) memory_.At(kArea + 64 + 8 * i) = kTop - 1;
    Write(REFPMU_REG_DS_AREA, kArea);
    Write(REFPMU_REG_PEBS_DATA_CFG, REFPMU_PEBS_DATA_LBRS | 3u << 24);
    Write(REFPMU_REG_PEBS_ENABLE, 2);
    Write(REFPMU_REG_DEBUGCTL, REFPMU_DEBUGCTL_LBR | REFPMU_DEBUGCTL_TR | REFPMU_DEBUGCTL_BTS |
                                   REFPMU_DEBUGCTL_BTINT | freeze);
    Branch(0x10);
    Branch(0x20);
    Write(REFPMU_REG_EVTSEL(0), kOn | 0x1d0);
    Write(REFPMU_REG_A_PMC(0), kTop - 2);
    Write(REFPMU_REG_EVTSEL(1), kOn | 0x1d0);
    Write(REFPMU_REG_A_PMC(1), kTop);
    Write(REFPMU_REG_EVTSEL(2), kOn | REFPMU_EVENT_BRANCHES);
    Write(REFPMU_REG_A_PMC(2), kTop);
    Write(REFPMU_REG_FIXED_CTR_CTRL, 0xbbb);
    Write(REFPMU_REG_FIXED_CTR(1), kTop - 5);
    Write(REFPMU_REG_GLOBAL_CTRL, 0x70000000f);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  Returned Write(u32 reg, u64 value) {
    if (refpmu_model_write(&model_, reg, value) != 0) std::abort();
    return {};
  }

  Returned Read(u32 reg) {
    Returned returned;
    if (refpmu_model_read(&model_, reg, returned.words.data()) != 0) std::abort();
    return returned;
  }

  Returned Pulse(u64 n, bool run_on) {
    const refpmu_origin origin = {.privilege = REFPMU_USER, .ip = 0x1234, .time = n};
    const refpmu_stimulus s = {false, 0x1d0, 1, n, run_on, &origin};
    return Step(refpmu_model_stimulate(&model_, &s));
  }

  Returned Advance(u64 n) { return Step(refpmu_model_advance(&model_, n, REFPMU_KERNEL, false)); }

  Returned Pass(u64 n) { return {{refpmu_model_pass(&model_, n, REFPMU_KERNEL)}}; }

  Returned Branch(u64 from) {
    const refpmu_origin origin = {.privilege = REFPMU_USER, .ip = from};
    const refpmu_branch b = {from, from + 1, REFPMU_BRANCH_JCC, 7, true, false, false};
    return Step(refpmu_model_branch(&model_, &b, &origin, false));
  }

  Returned Line() { return {{refpmu_model_line(&model_)}}; }
  Returned Deadline() { return {{refpmu_model_ticks_to_overflow(&model_)}}; }

  // The work of an overflow handler: takes the records out of their buffers, with the device
  // disabled.
  Returned HandleInterrupt() {
    Returned returned = Read(REFPMU_REG_GLOBAL_STATUS);
    Write(REFPMU_REG_GLOBAL_CTRL, 0);
    returned.words[1] = memory_.At(kArea + 8);
    returned.words[2] = memory_.At(kArea + 40);
    ForRecords([&](u64 word) { returned.words[3] = returned.words[3] * 31 + word; });
    memory_.At(kArea + 8) = kBts;
    memory_.At(kArea + 40) = kPebs;
    Write(REFPMU_REG_GLOBAL_STATUS_RESET, returned.words[0]);
    Write(REFPMU_REG_GLOBAL_CTRL, 0x70000000f);
    return returned;
  }

  // Returns all visible state. It changes the device, so it must be the last call.
  Words State() {
    Words all = {Line().words[0], Deadline().words[0]};
    for (const u32 reg : SlowDevice(model_.params).Registers()) all.push_back(Read(reg).words[0]);
    for (u64 i = 0; i < header_; ++i) all.push_back(memory_.At(kArea + 8 * i));
    ForRecords([&](u64 word) { all.push_back(word); });
    // The phase of the clock dividers.
    Write(REFPMU_REG_GLOBAL_STATUS_RESET, Read(REFPMU_REG_GLOBAL_STATUS).words[0]);
    Write(REFPMU_REG_EVTSEL(3), kOn | REFPMU_EVENT_REF_CYCLES);
    Write(REFPMU_REG_A_PMC(3), kTop);
    Write(REFPMU_REG_GLOBAL_CTRL, 8);
    all.push_back(Deadline().words[0]);
    return all;
  }

 private:
  static Returned Step(const refpmu_model_step& step) { return {{step.done, step.overflowed}}; }

  template <typename Visitor>
  void ForRecords(Visitor visit) {
    for (u64 at = kBts; at < memory_.At(kArea + 8); at += 8) visit(memory_.At(at));
    for (u64 at = kPebs; at < memory_.At(kArea + 40); at += 8) visit(memory_.At(at));
  }

  Memory memory_{0x200};
  u64 header_ = 0;
  refpmu_model model_ = {};
};

struct Access {
  const char* name;
  Returned (*run)(Device&);
};

const std::vector<Access>& Accesses() {
  static const std::vector<Access> all = {
      {"write of a counter", [](Device& d) { return d.Write(REFPMU_REG_A_PMC(0), 0x77); }},
      {"write of a selector", [](Device& d) { return d.Write(REFPMU_REG_EVTSEL(0), 0x1234); }},
      {"write of control", [](Device& d) { return d.Write(REFPMU_REG_GLOBAL_CTRL, 0x2); }},
      {"reset of status", [](Device& d) { return d.Write(REFPMU_REG_GLOBAL_STATUS_RESET, 0x5); }},
      {"set of status", [](Device& d) { return d.Write(REFPMU_REG_GLOBAL_STATUS_SET, 0x9); }},
      {"write of a branch record", [](Device& d) { return d.Write(REFPMU_REG_LBR_TO(3), 0x99); }},
      {"switch of records", [](Device& d) { return d.Write(REFPMU_REG_PEBS_ENABLE, 0x5); }},
      {"read of a counter", [](Device& d) { return d.Read(REFPMU_REG_PMC(0)); }},
      {"read of status", [](Device& d) { return d.Read(REFPMU_REG_GLOBAL_STATUS); }},
      {"read of a branch record", [](Device& d) { return d.Read(REFPMU_REG_LBR_FROM(3)); }},
      {"look at the line", [](Device& d) { return d.Line(); }},
      {"look at the deadline", [](Device& d) { return d.Deadline(); }},
      {"pulse", [](Device& d) { return d.Pulse(2, false); }},
      {"pulses past overflows", [](Device& d) { return d.Pulse(9, true); }},
      {"ticks", [](Device& d) { return d.Advance(7); }},
      {"time that passes", [](Device& d) { return d.Pass(7); }},
      {"branch", [](Device& d) { return d.Branch(0x30); }},
  };
  return all;
}

const Access& InterruptHandling() {
  static const Access serving = {"handler", [](Device& d) { return d.HandleInterrupt(); }};
  return serving;
}

// Results of @accesses, and the state after them, when they run in @order.
using Outcome = std::pair<std::vector<Returned>, Words>;

Outcome InOrder(u64 freeze, const std::vector<const Access*>& accesses,
                const std::vector<size_t>& order) {
  Device device(freeze);
  std::vector<Returned> returned(accesses.size());
  for (const size_t i : order) returned[i] = accesses[i]->run(device);
  return {returned, device.State()};
}

std::set<Outcome> AllOrders(u64 freeze, const std::vector<const Access*>& accesses) {
  std::vector<size_t> order(accesses.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::set<Outcome> all;
  do all.insert(InOrder(freeze, accesses, order));
  while (std::next_permutation(order.begin(), order.end()));
  return all;
}

// Interrupts the first access at @places[0] by the second one, which the third one interrupts at
// @places[1].
Outcome Nested(u64 freeze, const std::vector<const Access*>& accesses,
               const std::vector<u64>& places, bool* reached) {
  Device device(freeze);
  std::vector<Returned> returned(accesses.size());
  *reached = true;
  const std::function<void(size_t)> run = [&](size_t i) {
    const auto access = [&] { returned[i] = accesses[i]->run(device); };
    if (i + 1 == accesses.size()) return access();
    if (RunInterrupted(access, places[i], [&] { run(i + 1); }) < places[i]) *reached = false;
  };
  run(0);
  return {returned, device.State()};
}

// Returns the number of instructions of @access.
u64 Length(u64 freeze, const Access& access) {
  Device device(freeze);
  return RunInterrupted([&] { access.run(device); }, ~u64{0}, [] {});
}

class ModelAtomicity : public testing::TestWithParam<size_t> {};

constexpr u64 kFreezes[] = {0, 0x1800};  // no freezing; freezing of counters and branch records

// An interrupting access, and all allowed outcomes, by the freeze bits.
struct Intrusion {
  const Access* inner;
  std::map<u64, std::set<Outcome>> orders;
};

std::vector<Intrusion> Intrusions(const Access& outer) {
  std::vector<const Access*> inner = {&InterruptHandling()};
  for (const Access& access : Accesses()) inner.push_back(&access);
  std::vector<Intrusion> all;
  for (const Access* access : inner) {
    all.push_back({access, {}});
    for (const u64 freeze : kFreezes) {
      all.back().orders[freeze] = AllOrders(freeze, {&outer, access});
    }
  }
  return all;
}

// Interrupts at every instruction. The interrupting access varies with the instruction. For short
// accesses, every intrusion happens at each instruction.
TEST_P(ModelAtomicity, InterruptingAccessTakesEffectBeforeOrAfter) {
  const Access& outer = Accesses()[GetParam()];
  const std::vector<Intrusion> intrusions = Intrusions(outer);
  const u64 length = Length(0, outer);
  const u64 looks = std::clamp<u64>(kLooks / length, 1, intrusions.size());
  for (const u64 freeze : kFreezes) {
    for (u64 look = 0; look < looks; ++look) {
      // 7 and the number of intrusions, 18, are coprime.
      const auto at = [&](u64 place) -> const Intrusion& {
        return intrusions[(place + 7 * look) % intrusions.size()];
      };
      Device device(freeze);
      Outcome outcome = {{{}, {}}, {}};
      const u64 failed = RunInterruptedEverywhere(
          [&] { outcome.first[0] = outer.run(device); }, 1 + length / kPlaces,
          [&](u64 place) { outcome.first[1] = at(place).inner->run(device); },
          [&](u64 place) {
            outcome.second = device.State();
            return at(place).orders.at(freeze).contains(outcome);
          });
      ASSERT_EQ(failed, 0u) << at(failed).inner->name << " at instruction " << failed << " of "
                            << outer.name;
    }
  }
}

TEST_P(ModelAtomicity, NestedInterruptsTakeEffectInSomeOrder) {
  std::mt19937_64 random(GetParam());
  const Access& outer = Accesses()[GetParam()];
  const u64 length = Length(0, outer);
  for (u64 steps = 0; steps < kSteps;) {
    const Access& middle = Accesses()[random() % Accesses().size()];
    const Access& inner =
        random() % 4 ? Accesses()[random() % Accesses().size()] : InterruptHandling();
    const std::vector<const Access*> accesses = {&outer, &middle, &inner};
    const std::set<Outcome> orders = AllOrders(0, accesses);
    const u64 middle_length = Length(0, middle);
    for (int k = 0; k < 6 && steps < kSteps; ++k) {
      const std::vector<u64> places = {1 + random() % length, 1 + random() % middle_length};
      bool reached = false;
      const Outcome outcome = Nested(0, accesses, places, &reached);
      steps += places[0] + places[1];
      if (!reached) continue;
      ASSERT_TRUE(orders.contains(outcome))
          << inner.name << " at instruction " << places[1] << " of " << middle.name
          << " at instruction " << places[0] << " of " << outer.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Accesses, ModelAtomicity, testing::Range<size_t>(0, 17));

// If an interrupted access leaked its version, later accesses would run out of versions.
TEST(ModelVersions, InterruptedAccessesLeakNoVersion) {
  std::mt19937_64 random(5);
  Device device(0);
  for (int i = 0; i < 300; ++i) {
    const Access& outer = Accesses()[random() % Accesses().size()];
    const Access& inner =
        random() % 4 ? Accesses()[random() % Accesses().size()] : InterruptHandling();
    RunInterrupted([&] { outer.run(device); }, 1 + random() % 300, [&] { inner.run(device); });
    InterruptHandling().run(device);
    device.Write(REFPMU_REG_A_PMC(3), static_cast<u64>(i));
    ASSERT_EQ(device.Read(REFPMU_REG_A_PMC(3)).words[0], static_cast<u64>(i));
  }
}

}  // namespace
}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// A plugin of QEMU that counts the work of a guest's CPUs into the work page.
//
// An inline operation costs little, but its counter is common to all CPUs, and since QEMU 9.0 it
// cannot be in memory that the guest reads. A callback knows the CPU. Both come before their
// instruction, so that an instruction counts even if it faults.
//
// QEMU's filter of accesses by direction is wrong in versions with interface 1: in
// translated code, R means stores and W means all accesses, but in helpers both are correct. So
// every registration is for both directions. The decoder finds the direction if an instruction has
// only one, and otherwise a callback asks.
//
// Accesses of near branches are counted like their instruction. In the same versions, the memory
// callbacks of an indirect branch stay active after it: if an interrupt follows, they get the
// accesses of its delivery.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "tcg/cache.h"
#include "tcg/options.h"
#include "tcg/page.h"
#include "tcg/qemu_plugin.h"
#include "tcg/taken.h"
#include "tcg/x86.h"

namespace pmuconf::work {
namespace {

constexpr int kInterface = QEMU_PLUGIN_VERSION;

constexpr std::uint32_t Bit(unsigned event) { return 1U << event; }
constexpr std::uint32_t kAccesses = Bit(REFPMU_WORK_LOADS) | Bit(REFPMU_WORK_STORES);
constexpr std::uint32_t kDataMisses =
    Bit(REFPMU_WORK_L1D_LOAD_MISSES) | Bit(REFPMU_WORK_L1D_STORE_MISSES);

struct Cpu {
  TakenBranches branches;
  Cache data, code;
  bool returned = false;  // the last block ended with a return from an interrupt or a fault
};

struct State {
  Options options;
  Page page;
  std::vector<std::unique_ptr<Cpu>> cpus;
  std::mutex lock;  // several CPUs may translate at a time
  std::map<std::tuple<std::uint64_t, std::uint64_t>, std::unique_ptr<ConditionalBranch>> branches;

  std::uint64_t* Word(unsigned cpu, unsigned event, unsigned privilege) const {
    return page.Word(options.each ? cpu : 0, event, privilege);
  }
};

// QEMU calls functions without an object.
State* state = nullptr;

// The counts that a callback adds, in the bits of its argument.
struct Addends {
  std::uint32_t events = 0;  // one of each
  unsigned instructions = 0;
  unsigned privilege = 0;

  void* Packed() const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the interface has only this argument.
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(events) << 32U | instructions << 1U |
                                   privilege);
  }
  static Addends Of(const void* packed) {
    const auto bits = reinterpret_cast<std::uintptr_t>(packed);
    return {static_cast<std::uint32_t>(bits >> 32U), static_cast<std::uint32_t>(bits) >> 1U,
            static_cast<unsigned>(bits & 1U)};
  }
};

void CountInstructions(unsigned cpu, void* packed) {
  const Addends addends = Addends::Of(packed);
  *state->Word(cpu, REFPMU_WORK_INSTRUCTIONS, addends.privilege) += addends.instructions;
  for (std::uint32_t left = addends.events; left != 0; left &= left - 1) {
    ++*state->Word(cpu, static_cast<unsigned>(__builtin_ctz(left)), addends.privilege);
  }
}

void CountAccess(unsigned cpu, qemu_plugin_meminfo_t access, std::uint64_t /*address*/,
                 void* packed) {
  const Addends wanted = Addends::Of(packed);
  const unsigned event = qemu_plugin_mem_is_store(access) ? REFPMU_WORK_STORES : REFPMU_WORK_LOADS;
  if ((wanted.events & Bit(event)) != 0) ++*state->Word(cpu, event, wanted.privilege);
}

void AccessData(unsigned cpu, qemu_plugin_meminfo_t access, std::uint64_t address, void* packed) {
  const Addends wanted = Addends::Of(packed);
  const qemu_plugin_hwaddr* const place = qemu_plugin_get_hwaddr(access, address);
  if (place == nullptr || qemu_plugin_hwaddr_is_io(place)) return;
  const unsigned event =
      qemu_plugin_mem_is_store(access) ? REFPMU_WORK_L1D_STORE_MISSES : REFPMU_WORK_L1D_LOAD_MISSES;
  const std::uint64_t begin = qemu_plugin_hwaddr_phys_addr(place);
  const std::uint64_t end = begin + (1ULL << qemu_plugin_mem_size_shift(access));
  const std::uint64_t line = 1ULL << Cache::kLineShift;
  for (std::uint64_t at = begin & ~(line - 1); at < end; at += line) {
    const bool missing = state->cpus[cpu]->data.Misses(at);
    if (missing && (wanted.events & Bit(event)) != 0) ++*state->Word(cpu, event, wanted.privilege);
  }
}

void FetchUserLine(unsigned cpu, void* line) {
  if (state->cpus[cpu]->code.Misses(reinterpret_cast<std::uintptr_t>(line))) {
    ++*state->Word(cpu, REFPMU_WORK_L1I_MISSES, 0);
  }
}

void FetchKernelLine(unsigned cpu, void* line) {
  if (state->cpus[cpu]->code.Misses(reinterpret_cast<std::uintptr_t>(line))) {
    ++*state->Word(cpu, REFPMU_WORK_L1I_MISSES, 1);
  }
}

void ExecuteConditional(unsigned cpu, void* branch) {
  state->cpus[cpu]->branches.Execute(static_cast<const ConditionalBranch*>(branch));
}

void ReturnFromInterrupt(unsigned cpu, void* /*nothing*/) {
  state->cpus[cpu]->branches.ReturnFromInterrupt();
}

void NoteReturn(unsigned cpu, void* /*nothing*/) { state->cpus[cpu]->returned = true; }

void StartUserBlock(unsigned cpu, void* /*nothing*/) {
  if (!std::exchange(state->cpus[cpu]->returned, false)) return;
  *state->Word(cpu, REFPMU_WORK_INSTRUCTIONS, 0) += state->options.overcount;
}

void StartKernelBlock(unsigned cpu, void* /*nothing*/) { state->cpus[cpu]->returned = false; }

void StartBlock(unsigned cpu, void* address) {
  const ConditionalBranch* const taken =
      state->cpus[cpu]->branches.Start(reinterpret_cast<std::uintptr_t>(address));
  if (taken != nullptr) ++*state->Word(cpu, REFPMU_WORK_TAKEN, taken->privilege);
}

// Adds `n` to the word at each execution of the instruction, and at each of its accesses.
#if QEMU_PLUGIN_VERSION == 1
void AddInline(qemu_plugin_insn* at, std::uint64_t* word, unsigned n) {
  qemu_plugin_register_vcpu_insn_exec_inline(at, QEMU_PLUGIN_INLINE_ADD_U64, word, n);
}
void AddInlineForAccess(qemu_plugin_insn* at, std::uint64_t* word) {
  qemu_plugin_register_vcpu_mem_inline(at, QEMU_PLUGIN_MEM_RW, QEMU_PLUGIN_INLINE_ADD_U64, word, 1);
}
#else
void AddInline(qemu_plugin_insn* /*at*/, std::uint64_t* /*word*/, unsigned /*n*/) {}
void AddInlineForAccess(qemu_plugin_insn* /*at*/, std::uint64_t* /*word*/) {}
#endif

// Whether all counts need callbacks.
bool NeedsCallbacks() { return kInterface != 1 || state->options.each; }

Instruction DecodeAt(const qemu_plugin_insn* at) {
  const std::size_t size = qemu_plugin_insn_size(at);
#if QEMU_PLUGIN_VERSION == 1
  return Decode({static_cast<const std::uint8_t*>(qemu_plugin_insn_data(at)), size});
#else
  std::array<std::uint8_t, 16> bytes = {};
  return Decode(
      {bytes.data(), std::min(size, qemu_plugin_insn_data(at, bytes.data(), bytes.size()))});
#endif
}

ConditionalBranch* Known(const ConditionalBranch& branch) {
  const std::scoped_lock held(state->lock);
  auto& found = state->branches[{branch.target, branch.fallthrough}];
  if (!found) found = std::make_unique<ConditionalBranch>(branch);
  return found.get();
}

// Instruments one block. Instructions that always complete count together with the next one, at the
// first of them: no exception, interrupt or end of the block can come between them.
class Translation {
 public:
  explicit Translation(qemu_plugin_tb* block) : block_(block) {}

  void Instrument() {
    if (state->options.Counts(REFPMU_WORK_TAKEN)) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the interface has only this argument.
      void* const address = reinterpret_cast<void*>(qemu_plugin_tb_vaddr(block_));
      qemu_plugin_register_vcpu_tb_exec_cb(block_, StartBlock, QEMU_PLUGIN_CB_NO_REGS, address);
    }
    const bool overcounts = state->options.overcount > 0;
    if (overcounts) {
      const bool user = qemu_plugin_tb_vaddr(block_) >> 63U == 0;
      qemu_plugin_register_vcpu_tb_exec_cb(block_, user ? StartUserBlock : StartKernelBlock,
                                           QEMU_PLUGIN_CB_NO_REGS, nullptr);
    }
    const std::size_t n = qemu_plugin_tb_n_insns(block_);
    for (std::size_t i = 0; i < n; ++i) {
      qemu_plugin_insn* const here = qemu_plugin_tb_get_insn(block_, i);
      const Instruction decoded = DecodeAt(here);
      const auto address = qemu_plugin_insn_vaddr(here);
      const auto privilege = static_cast<unsigned>(address >> 63U);
      if (first_ == nullptr) first_ = here;
      ++run_;
      std::uint32_t events = EventsOf(decoded);
      if (decoded.displacement && state->options.Counts(REFPMU_WORK_TAKEN)) {
        const std::uint64_t next = address + qemu_plugin_insn_size(here);
        const std::uint64_t target = next + static_cast<std::uint64_t>(*decoded.displacement);
        if (target == next) events &= ~Bit(REFPMU_WORK_TAKEN);
        if (decoded.branch == Branch::kConditional) {
          qemu_plugin_register_vcpu_insn_exec_cb(here, ExecuteConditional, QEMU_PLUGIN_CB_NO_REGS,
                                                 Known({target, next, privilege}));
        }
      }
      if (decoded.branch == Branch::kInterruptReturn && overcounts) {
        qemu_plugin_register_vcpu_insn_exec_cb(here, NoteReturn, QEMU_PLUGIN_CB_NO_REGS, nullptr);
      }
      if (decoded.branch == Branch::kInterruptReturn && state->options.Counts(REFPMU_WORK_TAKEN)) {
        qemu_plugin_register_vcpu_insn_exec_cb(here, ReturnFromInterrupt, QEMU_PLUGIN_CB_NO_REGS,
                                               nullptr);
      }
      if (!decoded.always_completes || i + 1 == n)
        Count(std::exchange(first_, nullptr), {0, std::exchange(run_, 0), privilege});
      if (IsNearBranch(decoded.branch)) events |= AccessesOf(decoded);
      if (events != 0) Count(here, {events, 0, privilege});
      InstrumentAccesses(here, decoded, privilege);
      InstrumentFetch(here, privilege);
    }
  }

 private:
  // The events of each execution of an instruction, without accesses and misses. Transfers to
  // another segment or privilege are not branches.
  static std::uint32_t EventsOf(const Instruction& decoded) {
    if (decoded.branch == Branch::kNone || decoded.branch == Branch::kFar ||
        decoded.branch == Branch::kInterruptReturn) {
      return 0;
    }
    std::uint32_t events = Bit(REFPMU_WORK_BRANCHES);
    if (decoded.branch == Branch::kCall) events |= Bit(REFPMU_WORK_CALLS);
    if (decoded.branch == Branch::kReturn) events |= Bit(REFPMU_WORK_RETURNS);
    if (decoded.branch != Branch::kConditional) events |= Bit(REFPMU_WORK_TAKEN);
    return events & state->options.events;
  }

  static bool IsNearBranch(Branch branch) {
    return branch == Branch::kConditional || branch == Branch::kJump || branch == Branch::kCall ||
           branch == Branch::kReturn;
  }

  // The accesses of a near branch: an indirect call through memory is the only one that does both.
  static std::uint32_t AccessesOf(const Instruction& branch) {
    std::uint32_t accesses = 0;
    if (branch.memory == Memory::kLoads || branch.memory == Memory::kMixed) {
      accesses |= Bit(REFPMU_WORK_LOADS);
    }
    if (branch.memory == Memory::kStores || branch.memory == Memory::kMixed) {
      accesses |= Bit(REFPMU_WORK_STORES);
    }
    return accesses & state->options.events;
  }

  static void Count(qemu_plugin_insn* at, const Addends& addends) {
    if (NeedsCallbacks()) {
      qemu_plugin_register_vcpu_insn_exec_cb(at, CountInstructions, QEMU_PLUGIN_CB_NO_REGS,
                                             addends.Packed());
      return;
    }
    const auto add = [&](unsigned event, unsigned n) {
      AddInline(at, state->Word(0, event, addends.privilege), n);
    };
    if (addends.instructions > 0) add(REFPMU_WORK_INSTRUCTIONS, addends.instructions);
    for (std::uint32_t left = addends.events; left != 0; left &= left - 1) {
      add(static_cast<unsigned>(__builtin_ctz(left)), 1);
    }
  }

  static void InstrumentAccesses(qemu_plugin_insn* here, const Instruction& decoded,
                                 unsigned privilege) {
    const Memory memory = decoded.memory;
    if (memory == Memory::kNone) return;
    const std::uint32_t counted =
        IsNearBranch(decoded.branch) ? 0 : state->options.events & kAccesses;
    const std::uint32_t missed = state->options.events & kDataMisses;
    const unsigned only = memory == Memory::kLoads ? REFPMU_WORK_LOADS : REFPMU_WORK_STORES;
    if (counted != 0 && (memory == Memory::kMixed || NeedsCallbacks())) {
      qemu_plugin_register_vcpu_mem_cb(here, CountAccess, QEMU_PLUGIN_CB_NO_REGS,
                                       QEMU_PLUGIN_MEM_RW, Addends{counted, 0, privilege}.Packed());
    } else if ((counted & Bit(only)) != 0) {
      AddInlineForAccess(here, state->Word(0, only, privilege));
    }
    if (missed != 0) {
      qemu_plugin_register_vcpu_mem_cb(here, AccessData, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                       Addends{missed, 0, privilege}.Packed());
    }
  }

  // An instruction fetches the lines that the one before it has not fetched.
  void InstrumentFetch(qemu_plugin_insn* here, unsigned privilege) {
    if (!state->options.Counts(REFPMU_WORK_L1I_MISSES)) return;
    const auto begin = reinterpret_cast<std::uintptr_t>(qemu_plugin_insn_haddr(here));
    if (begin == 0) return;  // code of a device
    const std::uintptr_t last = (begin + qemu_plugin_insn_size(here) - 1) >> Cache::kLineShift;
    for (std::uintptr_t line = begin >> Cache::kLineShift; line <= last; ++line) {
      if (line == line_) continue;
      line_ = line;
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the interface has only this argument.
      void* const address = reinterpret_cast<void*>(line << Cache::kLineShift);
      qemu_plugin_register_vcpu_insn_exec_cb(here, privilege == 0 ? FetchUserLine : FetchKernelLine,
                                             QEMU_PLUGIN_CB_NO_REGS, address);
    }
  }

  qemu_plugin_tb* block_;
  qemu_plugin_insn* first_ = nullptr;
  unsigned run_ = 0;
  std::uintptr_t line_ = 0;
};

void Translate(qemu_plugin_id_t /*id*/, qemu_plugin_tb* block) { Translation(block).Instrument(); }

// Returns the message of a failure, or "".
std::string Install(const qemu_info_t& info, std::span<const char* const> words) {
  if (info.version.min > kInterface || info.version.cur < kInterface) {
    return "the emulator has plugin interfaces " + std::to_string(info.version.min) + " to " +
           std::to_string(info.version.cur) + ", not " + std::to_string(kInterface);
  }
  if (!info.system_emulation || info.target_name != kTargetName) {
    return std::string("the emulator is for ") + info.target_name +
           (info.system_emulation ? "" : " programs") + ", not for " + std::string(kTargetName) +
           " machines";
  }
  auto parsed = ParseOptions(words);
  if (const auto* const failure = std::get_if<std::string>(&parsed)) return *failure;
  auto ready = std::make_unique<State>();
  ready->options = std::get<Options>(std::move(parsed));
  const int cpus = info.system.max_vcpus;
  if (ready->options.each && cpus > REFPMU_WORK_CPUS) {
    return "cpus=each: the page has blocks for 16 CPUs, the machine has " + std::to_string(cpus);
  }
  for (int i = 0; i < cpus; ++i) ready->cpus.push_back(std::make_unique<Cpu>());
  std::string failure =
      ready->page.Open(ready->options, ready->options.each ? static_cast<unsigned>(cpus) : 1);
  if (failure.empty()) state = ready.release();
  return failure;
}

}  // namespace
}  // namespace pmuconf::work

extern "C" {

__attribute__((visibility("default"))) extern const int qemu_plugin_version;
const int qemu_plugin_version = QEMU_PLUGIN_VERSION;

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                               const qemu_info_t* info, int argc,
                                                               char** argv) {
  const std::string failure = pmuconf::work::Install(*info, {argv, static_cast<std::size_t>(argc)});
  if (!failure.empty()) {
    std::fprintf(stderr, "work: %s\n", failure.c_str());
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, pmuconf::work::Translate);
  return 0;
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// Most operations concern an event that is open, and often the one that has just changed. Numbers
// are mostly small, so that periods, limits and buffers reach their ends.
#include "tools/specify/generate.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>
#include <vector>

namespace pmuconf {
namespace {

constexpr std::uint64_t kMixSeed = 0x9e37'79b9'7f4a'7c15;

enum class Act {
  kOpen,
  kEnable,
  kDisable,
  kReset,
  kRefresh,
  kPeriod,
  kId,
  kSetOutput,
  kPause,
  kMap,
  kUnmap,
  kRead,
  kDrain,
  kPoll,
  kClose,
  kDuplicate,
  kTasks,
  kFork,
  kChildPulse,
  kChildExit,
  kPulse,
  kAdvance,
  kWork,
  kSendSignals,
  kTakeSignals,
};
constexpr std::array<std::pair<Act, unsigned>, 25> kWeights = {
    {{Act::kOpen, 16},      {Act::kEnable, 12}, {Act::kDisable, 9},    {Act::kReset, 5},
     {Act::kRefresh, 3},    {Act::kPeriod, 4},  {Act::kId, 2},         {Act::kSetOutput, 2},
     {Act::kPause, 2},      {Act::kMap, 6},     {Act::kUnmap, 1},      {Act::kRead, 22},
     {Act::kDrain, 8},      {Act::kPoll, 4},    {Act::kClose, 4},      {Act::kDuplicate, 1},
     {Act::kTasks, 2},      {Act::kFork, 2},    {Act::kChildPulse, 4}, {Act::kChildExit, 2},
     {Act::kPulse, 24},     {Act::kAdvance, 6}, {Act::kWork, 2},       {Act::kSendSignals, 2},
     {Act::kTakeSignals, 4}}};

// The indices in ProgramIoctls().
constexpr unsigned kEnable = 0, kDisable = 1, kRefresh = 2, kReset = 3, kPeriod = 4, kSetOutput = 5,
                   kId = 7, kPause = 9;

class Drawing {
 public:
  Drawing(const TargetKinds& kinds, std::uint64_t seed)
      : kinds_(kinds), chance_(seed), own_(kinds.events.front().type == kProgramOwnType) {
    inherits_ = OneIn(5);
    crowded_ = OneIn(6);
  }

  Program Draw(const std::string& target) {
    Program program;
    program.target = target;
    const std::size_t length = kShortestProgram + Below(kLongestProgram - kShortestProgram + 1);
    program.steps.push_back(Open());
    while (program.steps.size() < length) {
      Step step;
      if (!follow_up_.empty()) {
        program.steps.push_back(std::move(follow_up_.back()));
        follow_up_.pop_back();
      } else if (Next(&step)) {
        program.steps.push_back(std::move(step));
      }
    }
    return program;
  }

 private:
  struct Slot {
    bool open = false;
    perf_event_attr attr = {};
    EventKind kind;
    OpenWho who = OpenWho::kThisTask;
    OpenCpu cpu = OpenCpu::kAny;
    bool leads = true;
    bool mapped = false;
  };

  std::uint64_t Below(std::uint64_t n) { return chance_() % n; }
  bool OneIn(std::uint64_t n) { return Below(n) == 0; }
  template <typename T, std::size_t N>
  T Choose(const std::array<T, N>& values) {
    return values[Below(N)];
  }

  // Returns the slot of an event that is open, often the last one; rarely any slot.
  unsigned SomeSlot() {
    std::vector<unsigned> open;
    for (unsigned i = 0; i < slots_.size(); ++i) {
      if (slots_[i].open) open.push_back(i);
    }
    if (open.empty() || OneIn(40)) return static_cast<unsigned>(Below(kProgramSlots));
    if (slots_[last_].open && OneIn(2)) return last_;
    return last_ = open[Below(open.size())];
  }

  // Returns the slot of a buffer that is mapped, if there is one.
  unsigned SomeMappedSlot() {
    std::vector<unsigned> mapped;
    for (unsigned i = 0; i < slots_.size(); ++i) {
      if (slots_[i].mapped) mapped.push_back(i);
    }
    if (mapped.empty() || OneIn(20)) return SomeSlot();
    return mapped[Below(mapped.size())];
  }

  Act SomeAct() {
    unsigned total = 0;
    for (const auto& [act, weight] : kWeights) total += weight;
    std::uint64_t at = Below(total);
    for (const auto& [act, weight] : kWeights) {
      if (at < weight) return act;
      at -= weight;
    }
    return Act::kRead;
  }

  Step Ioctl(unsigned which, std::uint64_t value = 0) {
    Step step;
    step.operation = Operation::kIoctl;
    step.slot = SomeSlot();
    step.which = which;
    step.value = value;
    return step;
  }

  std::uint64_t GroupFlag() {
    // Bits other than the first have no meaning.
    if (OneIn(40)) return 2 + 2 * Below(8);
    return OneIn(3) ? PERF_IOC_FLAG_GROUP : 0;
  }

  std::uint64_t Number() {
    constexpr std::array<std::uint64_t, 10> kUsual = {1, 1, 2, 3, 4, 7, 10, 50, 100, 256};
    return OneIn(3) ? 1 + Below(kProgramWork) : Choose(kUsual);
  }

  std::uint64_t SomePeriod() {
    constexpr std::array<std::uint64_t, 12> kPeriods = {1,  1,  1,   2,    3,      7,
                                                        10, 50, 100, 1000, 65'536, 1ull << 40};
    return Choose(kPeriods);
  }

  static constexpr std::uint64_t kTrailerFields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                                  PERF_SAMPLE_ID | PERF_SAMPLE_CPU |
                                                  PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_IDENTIFIER;

  void SetSampling(perf_event_attr& attr) {
    constexpr std::uint64_t kFields = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                      PERF_SAMPLE_ADDR | PERF_SAMPLE_READ | PERF_SAMPLE_ID |
                                      PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID;
    attr.sample_period = SomePeriod();
    attr.sample_type = chance_() & kFields;
    if (OneIn(3)) attr.sample_type |= PERF_SAMPLE_READ;
    if (inherits_) attr.sample_type &= ~static_cast<std::uint64_t>(PERF_SAMPLE_READ);
    if (!OneIn(3)) attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
    attr.wakeup_events = static_cast<std::uint32_t>(Below(4));
    if (OneIn(8)) {
      attr.watermark = 1;
      attr.wakeup_watermark = static_cast<std::uint32_t>(8 * Below(256));
    }
  }

  // Most events that write records get a buffer, and are enabled.
  void FollowUp(unsigned slot) {
    const perf_event_attr& attr = slots_[slot].attr;
    if ((attr.sample_period == 0 && !attr.task) || OneIn(4)) return;
    Step step;
    step.slot = slot;
    if (attr.disabled && !OneIn(3)) {
      step.operation = Operation::kIoctl;
      step.which = kEnable;
      follow_up_.push_back(step);
    }
    if (attr.sample_period != 0 && OneIn(4)) {
      step.operation = Operation::kSignals;
      step.which = 0;
      follow_up_.push_back(step);
    }
    step.operation = Operation::kMap;
    step.which = 0;
    slots_[slot].mapped = true;
    follow_up_.push_back(step);
  }

  Step Open() {
    Step step;
    step.operation = Operation::kOpen;
    step.slot = static_cast<unsigned>(Below(kProgramSlots));
    // Mostly into an empty slot.
    for (unsigned i = 0; i < 4 && slots_[step.slot].open; ++i) {
      step.slot = static_cast<unsigned>(Below(kProgramSlots));
    }
    Slot slot;
    slot.open = true;
    slot.kind = kinds_.events[Below(kinds_.events.size())];
    unsigned hardware = 0;
    for (const Slot& other : slots_) hardware += other.open && other.kind.kind.hardware() ? 1 : 0;
    constexpr unsigned kFew = 4;
    while (!crowded_ && hardware >= kFew && slot.kind.kind.hardware()) {
      slot.kind = kinds_.events[Below(kinds_.events.size())];
    }
    perf_event_attr& attr = slot.attr;
    attr.size = PERF_ATTR_SIZE_VER7;
    attr.type = slot.kind.type;
    attr.config = slot.kind.config;
    attr.disabled = OneIn(2);
    attr.inherit = inherits_ && !OneIn(8);
    attr.read_format = Below(32);
    attr.sample_id_all = OneIn(2);
    if (OneIn(20)) attr.exclusive = 1;
    if (OneIn(14)) attr.pinned = 1;
    const bool own = attr.type == kProgramOwnType;
    if (!own || kinds_.excludes) {
      if (OneIn(8)) attr.exclude_kernel = 1;
      if (OneIn(8)) attr.exclude_user = 1;
    }
    if (own && kinds_.sampling && !OneIn(3)) SetSampling(attr);
    if (OneIn(8)) attr.task = 1;
    if (attr.task && attr.sample_period == 0) attr.sample_type = chance_() & kTrailerFields;
    SetPlace(slot, own);
    if (OneIn(slot.who == OpenWho::kOtherTask ? 2 : 30)) attr.enable_on_exec = attr.disabled;
    if (OneIn(slot.who == OpenWho::kOtherTask ? 4 : 60) && !attr.enable_on_exec) {
      attr.remove_on_exec = 1;
    }
    ChooseLeader(step, slot);
    step.call.attr.resize(256);
    step.call.Edit([&attr](perf_event_attr& to) { to = attr; });
    step.call.who = slot.who;
    step.call.cpu = slot.cpu;
    last_ = step.slot;
    slots_[step.slot] = slot;
    FollowUp(step.slot);
    return step;
  }

  void SetPlace(Slot& slot, bool own) {
    constexpr std::uint64_t kSixteenth = 16;
    const std::uint64_t place = Below(kSixteenth);
    if ((own && !kinds_.tasks) || place < 3) {
      slot.who = OpenWho::kAllTasks;
      slot.cpu = OpenCpu::kFirst;
    } else if (place < 5 && child_) {
      slot.who = OpenWho::kOtherTask;
    } else if (inherits_ && OneIn(2)) {
      slot.cpu = OpenCpu::kFirst;
    }
    if (slot.who == OpenWho::kAllTasks) slot.attr.task = 0;
  }

  void ChooseLeader(Step& step, Slot& slot) {
    if (!OneIn(2)) return;
    std::vector<unsigned> leaders;
    for (unsigned i = 0; i < slots_.size(); ++i) {
      const Slot& other = slots_[i];
      const bool same = other.open && other.leads && other.who == slot.who &&
                        other.cpu == slot.cpu && other.attr.inherit == slot.attr.inherit;
      if (same && i != step.slot) leaders.push_back(i);
    }
    if (leaders.empty()) return;
    step.other = leaders[Below(leaders.size())];
    step.call.group = OpenGroup::kLeader;
    slot.leads = false;
    slot.attr.pinned = 0;
    slot.attr.exclusive = 0;
    if (!OneIn(4)) slot.attr.disabled = 0;
  }

  // Returns an index in ProgramPulses() that an open event counts, if there is one.
  unsigned SomePulse() {
    std::vector<unsigned> pulses;
    for (const Slot& slot : slots_) {
      if (slot.open && slot.kind.kind.hardware()) pulses.push_back(slot.kind.pulse);
    }
    if (pulses.empty() || OneIn(10)) {
      pulses.clear();
      for (const EventKind& kind : kinds_.events) {
        if (kind.kind.hardware()) pulses.push_back(kind.pulse);
      }
    }
    return pulses[Below(pulses.size())];
  }

  // Returns whether it drew an operation.
  bool Next(Step* step) {
    const Act act = SomeAct();
    switch (act) {
      case Act::kOpen:
        *step = Open();
        return true;
      case Act::kEnable:
        *step = Ioctl(kEnable, GroupFlag());
        return true;
      case Act::kDisable:
        *step = Ioctl(kDisable, GroupFlag());
        return true;
      case Act::kReset:
        *step = Ioctl(kReset, GroupFlag());
        return true;
      case Act::kRefresh:
        *step = Ioctl(kRefresh, Below(4));
        return true;
      case Act::kPeriod:
        *step = Ioctl(kPeriod, OneIn(12) ? (OneIn(2) ? 0 : 1ull << 63) : SomePeriod());
        return true;
      case Act::kId:
        *step = Ioctl(kId);
        return true;
      case Act::kPause:
        *step = Ioctl(kPause, Below(2));
        return true;
      case Act::kSetOutput:
        *step = Ioctl(kSetOutput);
        step->other = static_cast<unsigned>(Below(kProgramSlots));
        return true;
      default:
        return NextOther(act, step);
    }
  }

  bool NextOther(Act act, Step* step) {
    constexpr std::uint64_t kLongRead = 240;
    step->slot = SomeSlot();
    Slot& slot = slots_[step->slot];
    switch (act) {
      case Act::kMap:
        step->operation = Operation::kMap;
        step->which = static_cast<unsigned>(OneIn(3) ? Below(kProgramPageOrder + 1) : 0);
        step->value = OneIn(20) ? 1 : 0;
        slot.mapped = slot.open;
        return true;
      case Act::kUnmap:
        step->operation = Operation::kUnmap;
        slot.mapped = false;
        return true;
      case Act::kRead:
        step->operation = Operation::kRead;
        step->value = OneIn(10) ? 8 * Below(32) : kLongRead;
        return true;
      case Act::kDrain:
        step->slot = SomeMappedSlot();
        step->operation = Operation::kDrain;
        return true;
      case Act::kPoll:
        step->slot = SomeMappedSlot();
        step->operation = Operation::kPoll;
        return true;
      case Act::kSendSignals:
      case Act::kTakeSignals:
        if (!kinds_.sampling || !own_) return false;
        step->operation = Operation::kSignals;
        step->which = act == Act::kTakeSignals ? 1 : 0;
        return true;
      case Act::kClose:
        step->operation = Operation::kClose;
        slot.open = false;
        return true;
      case Act::kDuplicate:
        step->operation = Operation::kDuplicate;
        step->other = static_cast<unsigned>(Below(kProgramSlots));
        if (slot.open && !slots_[step->other].open) slots_[step->other] = slot;
        return true;
      default:
        step->slot = 0;
        return NextStimulus(act, step);
    }
  }

  bool NextStimulus(Act act, Step* step) {
    switch (act) {
      case Act::kTasks:
        step->operation = Operation::kTasks;
        step->which = static_cast<unsigned>(Below(2));
        return true;
      case Act::kFork:
        step->operation = Operation::kFork;
        child_ = true;
        return true;
      case Act::kChildPulse:
        if (!child_ || !own_) return false;
        step->operation = Operation::kChildPulse;
        step->which = SomePulse();
        step->value = Number();
        return true;
      case Act::kChildExit:
        if (!child_) return false;
        step->operation = Operation::kChild;
        step->which = OneIn(2) ? 1 : 0;
        child_ = false;
        return true;
      case Act::kPulse:
        if (!own_) return false;
        step->operation = Operation::kPulse;
        step->which = SomePulse();
        step->value = Number();
        return true;
      case Act::kAdvance:
        if (!kinds_.clock) return false;
        step->operation = Operation::kAdvance;
        step->which = static_cast<unsigned>(Below(2));
        step->value = Number();
        return true;
      default:
        step->operation = Operation::kWork;
        step->which = OneIn(2) ? 3 : static_cast<unsigned>(Below(2));
        step->value = Number();
        return true;
    }
  }

  const TargetKinds& kinds_;
  std::mt19937_64 chance_;
  bool own_, inherits_ = false, crowded_ = false, child_ = false;
  std::array<Slot, kProgramSlots> slots_;
  unsigned last_ = 0;
  std::vector<Step> follow_up_;  // the last one comes first
};

}  // namespace

Program DrawProgram(const TargetKinds& kinds, const std::string& target, std::uint64_t seed,
                    std::uint64_t number) {
  return Drawing(kinds, seed * kMixSeed + number).Draw(target);
}

}  // namespace pmuconf

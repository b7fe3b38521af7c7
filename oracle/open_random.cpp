// SPDX-License-Identifier: Apache-2.0
// Draws calls. Most errors come from the list of violations, so that every check occurs often
// enough. Random bit flips find errors that are not in the list.
#include "oracle/open_random.h"

#include <linux/hw_breakpoint.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pmuconf {
namespace {

constexpr std::size_t kAttrBytes = 136;  // size of the attr in the newest kernel
constexpr std::uint32_t kUnusedType = 0x4000'0000;
constexpr std::uint64_t kNoTracepoint = 1ull << 40;
constexpr std::uint64_t kDisabled = 1;

// Returns a number whose width is uniformly distributed, or a number next to a power of two.
std::uint64_t Number(RandomSource& random) {
  const auto width = static_cast<unsigned>(random.Below(64)) + 1;
  switch (random.Below(4)) {
    case 0:
      return 0;
    case 1:
      return (std::uint64_t{1} << (width - 1)) - random.Below(2);
    case 2:
      return random.Below(16);
    default:
      return random.Bits(width);
  }
}

// Returns at most four random bits below `width`.
std::uint64_t SomeBits(RandomSource& random, unsigned width) {
  std::uint64_t bits = 0;
  for (std::uint64_t n = random.Below(5); n > 0; --n) bits |= 1ull << random.Below(width);
  return bits;
}

const OpenPmu& AnyPmu(const OpenModel& model, RandomSource& random) {
  std::vector<const OpenPmu*> known;
  for (const OpenPmu& pmu : model.pmus()) {
    if (!pmu.events.empty()) known.push_back(&pmu);
  }
  return known.empty() || random.Below(2) == 0 ? model.pmu() : *known[random.Below(known.size())];
}

OpenEvent AnyEvent(const OpenPmu& pmu, RandomSource& random) {
  if (pmu.events.empty()) return {pmu.type, pmu.config, pmu.config1, pmu.config2};
  return pmu.events[random.Below(pmu.events.size())];
}

void Put(OpenCall& call, const OpenEvent& event) {
  call.Edit([&event](perf_event_attr& attr) {
    attr.type = event.type;
    attr.config = event.config;
    attr.config1 = event.config1;
    attr.config2 = event.config2;
    attr.bp_type = event.bp_type;
  });
}

// Chooses task and CPU. Events of a PMU without tasks are CPU-wide.
void SetTaskAndCpu(OpenCall& call, const OpenModel& model, const OpenPmu& pmu,
                   RandomSource& random) {
  constexpr std::array kCpus = {OpenCpu::kAny, OpenCpu::kFirst, OpenCpu::kSecond,
                                OpenCpu::kInvalid};
  constexpr std::array kWho = {OpenWho::kOtherTask, OpenWho::kAllTasks, OpenWho::kAllTasks,
                               OpenWho::kNoTask,    OpenWho::kExited,   OpenWho::kCgroup,
                               OpenWho::kFile};
  call.who = OpenWho::kThisTask;
  call.cpu = OpenCpu::kAny;
  if (!pmu.tasks || random.OneIn(3)) {
    call.who = OpenWho::kAllTasks;
    call.cpu = OpenCpu::kFirst;
  }
  if (random.OneIn(6)) call.who = kWho[random.Below(kWho.size())];
  if (random.OneIn(6)) call.cpu = kCpus[random.Below(kCpus.size() - (random.OneIn(4) ? 0 : 1))];
  if (model.system().offline_cpu >= 0 && random.OneIn(4)) call.cpu = OpenCpu::kOffline;
  const bool descriptor = call.who == OpenWho::kCgroup || call.who == OpenWho::kFile;
  if (descriptor || random.OneIn(24)) {
    call.flags |= PERF_FLAG_PID_CGROUP;
    if (!random.OneIn(4)) call.cpu = OpenCpu::kFirst;
  }
  if (model.pmu().cpus < 2 && call.cpu == OpenCpu::kSecond) call.cpu = OpenCpu::kFirst;
}

// Chooses the event behind group_fd: an event of a PMU, mostly for the same task or CPU.
void SetGroup(OpenCall& call, const OpenModel& model, RandomSource& random) {
  constexpr std::array kGroups = {
      OpenGroup::kLeader,     OpenGroup::kLeader,        OpenGroup::kBuffer,
      OpenGroup::kSibling,    OpenGroup::kClosed,        OpenGroup::kFile,
      OpenGroup::kExitedTask, OpenGroup::kReadSizeLimit, OpenGroup::kAllCounters};
  constexpr std::array<unsigned long, 4> kLikelyFlags = {
      0, 0, PERF_FLAG_FD_NO_GROUP, PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT};
  if (!random.OneIn(3)) return;
  call.group = kGroups[random.Below(kGroups.size())];
  call.flags |=
      random.OneIn(8) ? PERF_FLAG_FD_OUTPUT : kLikelyFlags[random.Below(kLikelyFlags.size())];
  if (call.group == OpenGroup::kBuffer && random.OneIn(2)) {
    call.flags |= PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT;
  }
  // A breakpoint needs more fields than a type to open, so it is no leader.
  const OpenPmu& any = AnyPmu(model, random);
  const OpenPmu& leader = any.type == PERF_TYPE_BREAKPOINT ? model.pmu() : any;
  call.group_type = leader.type;
  call.group_software = leader.software;
  const bool task = call.who != OpenWho::kAllTasks;
  const bool same = random.OneIn(8) ? !task : task;
  const bool of_task = leader.tasks && same;
  call.group_who = of_task ? OpenWho::kThisTask : OpenWho::kAllTasks;
  call.group_cpu = of_task ? OpenCpu::kAny : OpenCpu::kFirst;
}

// Changes each field that checks read with a probability of 1 / `one_in`.
void ChangeFields(OpenCall& call, RandomSource& random, std::uint64_t one_in) {
  constexpr std::array<std::int32_t, 7> kClocks = {
      CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI, 2, 99};
  const auto now = [&] { return random.OneIn(one_in); };
  call.Edit([&](perf_event_attr& attr) {
    if (now()) attr.sample_period = Number(random);
    if (now()) attr.sample_type = SomeBits(random, random.OneIn(8) ? 64 : 25);
    if (now()) attr.read_format = SomeBits(random, random.OneIn(8) ? 64 : 5);
    if (now()) attr.branch_sample_type = SomeBits(random, random.OneIn(8) ? 64 : 20);
    if (now()) attr.sample_regs_user = random.OneIn(2) ? 1 : SomeBits(random, 64);
    if (now()) attr.sample_regs_intr = random.OneIn(2) ? 1 : SomeBits(random, 64);
    if (now()) attr.sample_stack_user = static_cast<std::uint32_t>(Number(random));
    if (now()) attr.sample_max_stack = static_cast<std::uint16_t>(Number(random));
    if (now()) attr.clockid = kClocks[random.Below(kClocks.size())];
    if (now()) attr.use_clockid = 1;
    if (now()) attr.precise_ip = random.Below(4);
    if (now()) attr.freq = 1;
    if (now()) attr.inherit = 1;
    if (now()) attr.exclude_kernel = 1;
    if (now()) attr.wakeup_events = static_cast<std::uint32_t>(Number(random));
    if (now()) attr.config1 = Number(random);
    if (now()) attr.config2 = Number(random);
    if (now()) attr.config ^= Number(random);
    if (now()) attr.bp_type = static_cast<std::uint32_t>(random.Below(9));
    if (now()) attr.sig_data = Number(random);
    if (one_in > 1 && random.OneIn(one_in * 4)) attr.aux_sample_size = 4'096;
  });
  if (now()) {
    constexpr std::array<std::uint32_t, 13> kSizes = {0,   63,  64,  72,  80,  96,   104,
                                                      112, 120, 128, 136, 256, 4'096};
    call.Put(offsetof(perf_event_attr, size), kSizes[random.Below(kSizes.size())]);
  }
  if (now()) call.Put(kOpenReserved3, static_cast<std::uint32_t>(SomeBits(random, 4)));
}

// Changes one or two fields that drivers check, which is a small step away from a valid event.
void ChangeDriverFields(OpenCall& call, RandomSource& random) {
  constexpr std::array<std::uint64_t, 6> kLengths = {0, 1, 2, 4, 8, 64};
  constexpr std::array<std::uint64_t, 8> kBranches = {
      PERF_SAMPLE_BRANCH_ANY,
      PERF_SAMPLE_BRANCH_CALL_STACK,
      PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_ANY,
      PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER,
      PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_USER,
      PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL,
      PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER | 1u << 19,
      PERF_SAMPLE_BRANCH_COND};
  call.Edit([&](perf_event_attr& attr) {
    switch (random.Below(9)) {
      case 0:
        attr.config ^= 1ull << random.Below(33);
        break;
      case 1:
        attr.config = (attr.config & ~0xffull) | random.Below(14);
        break;
      case 2:
        attr.config1 ^= 1ull << random.Below(40);
        break;
      case 3:
        attr.config |= std::uint64_t{random.Below(48)} << 32;
        break;
      case 4:
      case 5:
        attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
        attr.branch_sample_type = kBranches[random.Below(kBranches.size())];
        break;
      case 6:
        attr.sample_type |= random.OneIn(3) ? PERF_SAMPLE_PHYS_ADDR : PERF_SAMPLE_RAW;
        break;
      case 7:
        attr.precise_ip = 1 + random.Below(3);
        attr.sample_period = random.OneIn(2) ? 0 : 1 + random.Below(20);
        break;
      default:
        if (attr.type == PERF_TYPE_BREAKPOINT) {
          attr.bp_len = kLengths[random.Below(kLengths.size())];
          if (random.OneIn(2)) attr.bp_addr &= ~63ull;
          if (random.OneIn(3)) attr.bp_type = static_cast<std::uint32_t>(random.Below(9));
        } else {
          attr.config ^= random.Below(3) << 8;
        }
        break;
    }
  });
}

std::uint64_t FlagBits(const OpenCall& call) {
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < 8; ++i) {
    bits |= std::to_integer<std::uint64_t>(call.attr[kOpenFlagBits + i]) << (8 * i);
  }
  return bits;
}

void FlipBit(OpenCall& call, std::uint64_t bit) {
  call.attr[bit / 8] ^= std::byte{static_cast<unsigned char>(1u << bit % 8)};
}

// Changes the call into one that a case can execute and the model can predict.
void MakePredictable(OpenCall& call, const OpenModel& model) {
  call.Put(kOpenFlagBits, FlagBits(call) | kDisabled);
  if (call.cpu == OpenCpu::kOffline && model.system().offline_cpu < 0) call.cpu = OpenCpu::kInvalid;
  // The model has no list of checks for an exclusive PMU, so another event never matters.
  call.other = OpenOther::kNone;
  // A case prepares only one event of each of these kinds, and it is the target's.
  if (call.group == OpenGroup::kExitedTask || call.group == OpenGroup::kReadSizeLimit ||
      call.group == OpenGroup::kAllCounters) {
    const OpenCall good = model.ValidCall();
    call.group_type = good.group_type;
    call.group_software = good.group_software;
    call.group_who = good.group_who;
    call.group_cpu = good.group_cpu;
  }
  // On a PMU without tasks no event can belong to an exited task.
  if (call.group == OpenGroup::kExitedTask && !model.pmu().tasks) call.group = OpenGroup::kClosed;
  perf_event_attr attr = call.Attr();
  const auto& pmus = model.pmus();
  const auto of_type = [&](const OpenPmu& pmu) { return pmu.type == attr.type; };
  const auto owner = std::find_if(pmus.begin(), pmus.end(), of_type);
  const bool known = owner != pmus.end() && (owner == pmus.begin() || !owner->events.empty());
  if (owner != pmus.end() && !known) attr.type |= kUnusedType;
  if (attr.type == PERF_TYPE_TRACEPOINT && known) {
    const auto is = [&](const OpenEvent& event) { return event.config == attr.config; };
    if (std::none_of(owner->events.begin(), owner->events.end(), is)) attr.config |= kNoTracepoint;
  }
  // The valid kernel addresses differ from boot to boot, so use a fixed address.
  if (attr.type == PERF_TYPE_BREAKPOINT && attr.bp_addr >> 46 != 0) {
    attr.bp_addr = 0xffff'ffff'8000'0000 | (attr.bp_addr & 0xfff);
  }
  call.Edit([&attr](perf_event_attr& out) { out = attr; });
}

}  // namespace

SeededSource::SeededSource(std::uint64_t seed, std::uint64_t number) : state_(seed) {
  state_ = Next() ^ number;
}

// SplitMix64, a generator that needs no warm-up.
std::uint64_t SeededSource::Next() {
  std::uint64_t x = state_ += 0x9e37'79b9'7f4a'7c15;
  x = (x ^ x >> 30) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ x >> 27) * 0x94d0'49bb'1331'11eb;
  return x ^ x >> 31;
}

std::uint64_t SeededSource::Bits(unsigned n) { return n == 0 ? 0 : Next() >> (64 - n); }

OpenCall OpenCallGenerator::Random(RandomSource& random) const {
  const OpenModel& model = *model_;
  OpenCall call = model.ValidCall();
  const OpenPmu& pmu = AnyPmu(model, random);
  SetTaskAndCpu(call, model, pmu, random);
  SetGroup(call, model, random);
  OpenEvent event = AnyEvent(pmu, random);
  if (random.OneIn(2)) event.config = Number(random);
  if (random.OneIn(4)) event.config |= std::uint64_t{AnyPmu(model, random).type} << 32;
  if (random.OneIn(16)) event.type = static_cast<std::uint32_t>(Number(random));
  Put(call, event);
  // Changes either about half of all fields or only a few.
  ChangeFields(call, random, random.OneIn(4) ? 1 : 2 + random.Below(12));
  std::uint64_t flags = SomeBits(random, 38) | (random.OneIn(2) ? SomeBits(random, 38) : 0);
  if (random.OneIn(16)) flags |= SomeBits(random, 64);
  call.Put(kOpenFlagBits, FlagBits(call) | flags);
  if (random.OneIn(32)) call.flags |= SomeBits(random, 64);
  if (random.OneIn(64)) call.readable = 8 * random.Below(33);
  if (random.OneIn(64)) call.descriptors_available = false;
  return call;
}

OpenCall OpenCallGenerator::Mutated(RandomSource& random) const {
  const OpenModel& model = *model_;
  OpenCall call = model.ValidCall();
  const OpenPmu& pmu = AnyPmu(model, random);
  Put(call, AnyEvent(pmu, random));
  if (!pmu.tasks) {
    call.who = OpenWho::kAllTasks;
    call.cpu = OpenCpu::kFirst;
  }
  if (random.OneIn(4)) SetTaskAndCpu(call, model, pmu, random);
  if (random.OneIn(2)) SetGroup(call, model, random);
  ChangeFields(call, random, 40);
  if (random.OneIn(2)) call.Edit([](perf_event_attr& attr) { attr.exclude_kernel = 1; });
  // Random register masks are almost never valid.
  if (model.system().lockdown && random.OneIn(8)) {
    call.Edit([](perf_event_attr& attr) {
      attr.sample_type |= PERF_SAMPLE_REGS_INTR;
      attr.sample_regs_intr = 1;
    });
  }
  for (std::uint64_t n = random.Below(3); n > 0; --n) ChangeDriverFields(call, random);
  for (std::uint64_t n = random.OneIn(2) ? random.Below(4) : 0; n > 0; --n) {
    violations_[random.Below(violations_.size())]->apply(call);
  }
  if (random.OneIn(8)) FlipBit(call, random.Below(8 * kAttrBytes));
  if (random.OneIn(4)) FlipBit(call, 8 * kOpenFlagBits + random.Below(38));
  return call;
}

OpenCall OpenCallGenerator::Call(OpenCallKind kind, RandomSource& random) const {
  OpenCall call = kind == OpenCallKind::kRandom ? Random(random) : Mutated(random);
  MakePredictable(call, *model_);
  return call;
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// The first byte of an operation selects its act, and the next bytes its arguments. Calls of
// perf_event_open(2) are drawn as for the errno model, so most are almost valid.
#include "tools/repro/grammar.h"

#include <algorithm>
#include <array>
#include <utility>

#include "oracle/open_driver.h"
#include "target/target.h"

namespace pmuconf {
namespace {

// The frequency of each act, out of 64. Slow acts are rare.
constexpr std::array<std::pair<Operation, unsigned>, kDrawnOperations> kShares = {
    {{Operation::kOpen, 21},
     {Operation::kIoctl, 13},
     {Operation::kMap, 5},
     {Operation::kMapAux, 1},
     {Operation::kUnmap, 1},
     {Operation::kRead, 3},
     {Operation::kDrain, 2},
     {Operation::kPoll, 1},
     {Operation::kClose, 2},
     {Operation::kTasks, 2},
     {Operation::kFork, 2},
     {Operation::kChild, 2},
     {Operation::kWork, 2},
     {Operation::kPulse, 3},
     {Operation::kBranch, 1},
     {Operation::kAttach, 2},
     {Operation::kCpu, 1}}};
constexpr unsigned kShareTotal = 64;
constexpr unsigned kSimple = 16;  // of 32 calls
constexpr unsigned kTraces = 8;   // one of this many simple calls opens an event with an AUX area

constexpr unsigned Total() {
  unsigned total = 0;
  for (const auto& [operation, share] : kShares) total += share;
  return total;
}
static_assert(Total() == kShareTotal);

Operation OperationFor(unsigned byte) {
  unsigned remaining = byte % kShareTotal;
  for (const auto& [operation, share] : kShares) {
    if (remaining < share) return operation;
    remaining -= share;
  }
  return Operation::kOpen;
}

// Uses one byte for a value from a small range. After the end of the bytes it returns values that
// cause no further errors.
class StepSource : public RandomSource {
 public:
  explicit StepSource(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  std::uint64_t Bits(unsigned n) override {
    const std::uint64_t mask = n >= 64 ? ~0ull : (1ull << n) - 1;
    if (n <= 16) return (at_ < bytes_.size() ? bytes_[at_++] + 1u : 1u) & mask;
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < 8; ++i) {
      bits |= std::uint64_t{at_ < bytes_.size() ? bytes_[at_++] : 0u} << (8 * i);
    }
    return bits & mask;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

OpenSystem SomeSystem() { return {}; }

OpenPmu Tracepoints() {
  return TracepointPmu(
      {{.type = PERF_TYPE_TRACEPOINT, .config = kProgramTracepoints},
       {.type = PERF_TYPE_TRACEPOINT, .config = kProgramTracepoints + 1, .cap_any = true}});
}

OpenModel ModelOf(const std::string& target) {
  if (target == "refpmu") {
    return OpenModel(SomeSystem(), ReferencePmu(kProgramOwnType),
                     {SoftwarePmu(), Tracepoints(), BreakpointPmu()});
  }
  if (target == "software") {
    return OpenModel(SomeSystem(), SoftwarePmu(), {Tracepoints(), BreakpointPmu()});
  }
  throw ConfigError("no programs for target '" + target + "' (known: refpmu, software)");
}

// A PMU of the kernel has its usual type, and any other one a placeholder.
OpenModel ModelOf(OpenPmu own) {
  std::vector<OpenPmu> others;
  for (OpenPmu& pmu : std::vector<OpenPmu>{SoftwarePmu(), Tracepoints(), BreakpointPmu()}) {
    if (pmu.type == own.type) own = pmu;
    if (pmu.type != own.type) others.push_back(pmu);
  }
  if (own.type >= PERF_TYPE_MAX || own.type == PERF_TYPE_RAW) own.type = kProgramOwnType;
  if (own.events.empty()) {
    own.events.push_back({own.type, own.config, own.config1, own.config2, own.bp_type, false});
  }
  for (OpenEvent& event : own.events) event.type = own.type;
  return OpenModel(SomeSystem(), std::move(own), std::move(others));
}

// Changes the content of samples on the reference device. After the end of the bytes it changes
// nothing.
void Refine(perf_event_attr& attr, bool own, StepSource& random) {
  constexpr std::uint64_t kRarely = 8, kFastest = 1'000;
  constexpr std::array<std::uint64_t, 4> kBranches = {
      PERF_SAMPLE_BRANCH_ANY, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER,
      PERF_SAMPLE_BRANCH_COND, PERF_SAMPLE_BRANCH_CALL_STACK};
  if (random.OneIn(kRarely)) attr.exclude_user = 1;
  if (random.OneIn(kRarely)) attr.exclude_kernel = 1;
  if (attr.sample_period == 0) return;
  if (random.OneIn(kRarely)) {
    attr.freq = 1;
    attr.sample_freq = 1 + random.Below(kFastest);
  }
  if (!own) return;
  if (random.OneIn(kRarely)) attr.precise_ip = 1 + random.Below(3);
  if (random.OneIn(kRarely)) {
    attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
    attr.branch_sample_type = kBranches[random.Below(kBranches.size())];
  }
}

// Returns a valid call. Its random fields change the behaviour of the event, not whether it opens.
OpenCall Simple(const OpenModel& model, StepSource& random) {
  // The model does not know the trace PMU, so the result of the open is not compared.
  const bool trace = model.pmu().type == kProgramOwnType && random.Below(kTraces) == 0;
  constexpr std::array<std::uint64_t, 8> kPeriods = {0, 0, 1, 7, 100, 4'000, 100'000, 1ull << 40};
  constexpr std::array<std::uint64_t, 8> kSamples = {
      0,
      PERF_SAMPLE_IP | PERF_SAMPLE_TID,
      PERF_SAMPLE_READ | PERF_SAMPLE_PERIOD,
      PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
      PERF_SAMPLE_RAW | PERF_SAMPLE_ADDR,
      PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR,
      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_ID | PERF_SAMPLE_CODE_PAGE_SIZE};
  OpenCall call = model.ValidCall();
  const OpenPmu& pmu = model.pmus()[random.Below(2) == 0 ? random.Below(model.pmus().size()) : 0];
  const OpenEvent event = pmu.events[random.Below(4) == 0 ? random.Below(pmu.events.size()) : 0];
  const std::uint64_t period = kPeriods[random.Below(kPeriods.size())];
  const std::uint64_t samples = kSamples[random.Below(kSamples.size())];
  // Each of 16 flag bits is equally likely, for example inherit, pinned, enable_on_exec and the
  // side-band records.
  const std::uint64_t flags = random.Below(4) == 0 ? random.Bits(8) << 1 | random.Bits(8) << 9 : 0;
  call.Edit([&](perf_event_attr& attr) {
    attr.type = event.type;
    const bool plain = pmu.type == model.pmu().type && random.Below(2) == 0;
    attr.config = plain ? pmu.config : event.config;
    attr.config1 = plain ? pmu.config1 : event.config1;
    attr.config2 = plain ? pmu.config2 : event.config2;
    attr.bp_type = event.bp_type;
    attr.sample_period = period;
    attr.sample_type = samples;
    attr.read_format = random.Below(32);
    attr.wakeup_events = static_cast<std::uint32_t>(random.Below(4));
    if (!trace) return;
    attr.type = kProgramTraceType;
    attr.config = attr.config1 = attr.config2 = attr.bp_type = 0;
  });
  // Flags that require other fields are left to the calls that the errno model draws.
  constexpr std::uint64_t kCopiedFlags = 0x3b0f;
  call.attr[kOpenFlagBits] |= static_cast<std::byte>(flags & kCopiedFlags & 0xff);
  call.attr[kOpenFlagBits + 1] |= static_cast<std::byte>((flags & kCopiedFlags) >> 8);
  if (random.Below(4) == 0) {
    call.who = OpenWho::kAllTasks;
    call.cpu = random.Below(4) == 0 ? OpenCpu::kSecond : OpenCpu::kFirst;
    if (random.Below(4) == 0) {
      call.who = OpenWho::kCgroup;
      call.flags |= PERF_FLAG_PID_CGROUP;
    }
  } else if (random.Below(4) == 0) {
    call.who = OpenWho::kOtherTask;
  }
  if (random.Below(2) == 0) call.group = OpenGroup::kLeader;
  call.Edit([&](perf_event_attr& attr) { Refine(attr, attr.type == kProgramOwnType, random); });
  return call;
}

// Returns mostly small numbers, and sometimes one next to a power of two.
std::uint64_t Number(StepSource& random) {
  switch (random.Below(4)) {
    case 0:
      return random.Below(256);
    case 1:
      return (1ull << random.Below(64)) - random.Below(2);
    case 2:
      return random.Below(256) << 8;
    default:
      return random.Bits(64);
  }
}

}  // namespace

Grammar::Grammar(const std::string& target)
    : target_(target), model_(ModelOf(target)), generator_(model_) {}

Grammar::Grammar(std::string target, OpenPmu own)
    : target_(std::move(target)), model_(ModelOf(std::move(own))), generator_(model_) {}

Program Grammar::Decode(std::span<const std::uint8_t> bytes) const {
  Program program;
  program.target = target_;
  while (!bytes.empty() && program.steps.size() < kProgramSteps) {
    std::array<std::uint8_t, kStepBytes> own = {};
    const std::size_t size = std::min(bytes.size(), own.size());
    std::copy_n(bytes.begin(), size, own.begin());
    bytes = bytes.subspan(size);
    StepSource random(std::span<const std::uint8_t>(own).subspan(3));
    Step step;
    step.operation = OperationFor(own[0]);
    if (step.operation == Operation::kOpen) {
      step.slot = own[1] % kProgramSlots;
      step.other = own[1] / kProgramSlots % kProgramSlots;
      step.rights = own[2] % 8 != 7;
      const unsigned way = own[2] / 8;
      step.call = way < kSimple ? Simple(model_, random)
                                : generator_.Call(way == kSimple ? OpenCallKind::kRandom
                                                                 : OpenCallKind::kMutated,
                                                  random);
    } else {
      const bool of_event =
          step.operation < Operation::kTasks || step.operation == Operation::kAttach;
      if (of_event) step.slot = own[1] % kProgramSlots;
      if (step.operation == Operation::kIoctl) step.other = own[1] / kProgramSlots % kProgramSlots;
      step.which = own[2] % (step.operation == Operation::kPulse ? kDrawnPulses
                                                                 : ChoiceCount(step.operation));
      if (step.operation == Operation::kIoctl) step.value = Number(random);
      if (step.operation == Operation::kMap || step.operation == Operation::kMapAux) {
        step.value = random.Below(4) == 3 ? 1 : 0;
      }
      if (step.operation == Operation::kRead) step.value = random.Below(256);
      if (step.operation == Operation::kWork || step.operation == Operation::kPulse ||
          step.operation == Operation::kBranch) {
        step.value = 1 + random.Below(kProgramWork);
      }
    }
    program.steps.push_back(std::move(step));
  }
  return program;
}

}  // namespace pmuconf

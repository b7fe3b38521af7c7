// SPDX-License-Identifier: Apache-2.0
// Two thirds of the events belong to the PMU, with fields near the ends of their ranges. The
// grammar draws the others, which are events of any PMU or calls with an error.
#include "tools/fuzz/generate.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>
#include <vector>

#include "oracle/open_random.h"

namespace pmuconf {
namespace {

constexpr std::array<std::pair<Operation, unsigned>, 23> kWeights = {
    {{Operation::kOpen, 22},   {Operation::kIoctl, 22},   {Operation::kMap, 7},
     {Operation::kMapAux, 3},  {Operation::kUnmap, 3},    {Operation::kRead, 10},
     {Operation::kDrain, 5},   {Operation::kPoll, 2},     {Operation::kClose, 6},
     {Operation::kTasks, 2},   {Operation::kFork, 3},     {Operation::kChild, 4},
     {Operation::kWork, 6},    {Operation::kPulse, 8},    {Operation::kBranch, 2},
     {Operation::kAttach, 1},  {Operation::kCpu, 1},      {Operation::kDuplicate, 2},
     {Operation::kSignals, 2}, {Operation::kAffinity, 3}, {Operation::kMapAny, 2},
     {Operation::kRemap, 1},   {Operation::kTail, 1}}};

constexpr std::size_t kShortest = 8;
constexpr std::uint64_t kMostRounds = 24;

constexpr std::array<std::uint64_t, 16> kPeriods = {0,
                                                    0,
                                                    0,
                                                    0,
                                                    1,
                                                    2,
                                                    100,
                                                    1'000,
                                                    4'096,
                                                    65'537,
                                                    1ull << 31,
                                                    1ull << 32,
                                                    (1ull << 47) - 1,
                                                    (1ull << 63) - 1,
                                                    1ull << 63,
                                                    ~0ull};
constexpr std::array<std::uint64_t, 6> kFrequencies = {1, 99, 1'999, 2'000, 2'001, ~0ull};
constexpr std::array<std::uint32_t, 6> kSizes = {0, 64, 127, 136, 144, 152};

struct Seeded : SeededSource {
  using SeededSource::SeededSource;
  template <typename T, std::size_t N>
  T Choose(const std::array<T, N>& values) {
    return values[Below(N)];
  }
};

class Drawing {
 public:
  Drawing(const FuzzedPmu& pmu, const Grammar& grammar, Seeded random)
      : pmu_(pmu), grammar_(grammar), random_(std::move(random)) {
    tasks_ = random_.OneIn(3);
  }

  Program Draw() {
    Program program;
    program.target = std::string(kProgramPmu) + pmu_.name;
    const std::size_t length = kShortest + random_.Below(kLongestFuzzed - kShortest - 2);
    const bool races = random_.OneIn(4);
    const std::size_t race_at = 3 + random_.Below(length - 4);
    program.steps.push_back(Open());
    while (program.steps.size() < length) {
      if (races && program.steps.size() == race_at) {
        racing_ = true;
        Step race;
        race.operation = Operation::kRace;
        race.value = 1 + random_.Below(kMostRounds);
        program.steps.push_back(race);
      }
      program.steps.push_back(Next());
    }
    return program;
  }

 private:
  // Returns a number next to an end of a range of `width` bits, or any number.
  std::uint64_t Edge(unsigned width) {
    const std::uint64_t most = width >= 64 ? ~0ull : (1ull << width) - 1;
    switch (random_.Below(6)) {
      case 0:
        return 0;
      case 1:
        return most;
      case 2:
        return most - 1;
      case 3:
        return most & 1;
      case 4:
        return 1ull << random_.Below(width);
      default:
        return random_.Bits(64) & most;
    }
  }

  unsigned SomeSlot() {
    std::vector<unsigned> open;
    for (unsigned i = 0; i < kProgramSlots; ++i) {
      if (open_[i]) open.push_back(i);
    }
    if (open.empty() || random_.OneIn(24)) {
      return static_cast<unsigned>(random_.Below(kProgramSlots));
    }
    if (open_[last_] && random_.OneIn(2)) return last_;
    return last_ = open[random_.Below(open.size())];
  }

  // Returns an operation that the grammar decodes from random bytes.
  Step Decoded(Operation operation, unsigned slot, unsigned other) {
    std::array<std::uint8_t, kStepBytes> bytes;
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_.Bits(8));
    bytes[1] = static_cast<std::uint8_t>(slot + kProgramSlots * other);
    for (unsigned first = 0; first < 256; ++first) {
      bytes[0] = static_cast<std::uint8_t>(first);
      Step step = grammar_.Decode(bytes).steps.front();
      if (step.operation == operation) return step;
    }
    return {};
  }

  // `fields`: how many fields of format/ change at most.
  void SetConfig(OpenCall& call, std::uint64_t fields) {
    const Configs event = pmu_.events[random_.Below(pmu_.events.size())];
    std::array<std::uint64_t, 5> words = {event.config, event.config1, event.config2, event.config3,
                                          event.config4};
    for (std::uint64_t n = random_.Below(fields + 1); n > 0 && !pmu_.fields.empty(); --n) {
      const FormatField& field = pmu_.fields[random_.Below(pmu_.fields.size())];
      std::uint64_t& word = words.at(static_cast<std::size_t>(field.config));
      const std::uint64_t all =
          field.Encode(Edge(static_cast<unsigned>(field.width()))).value_or(0);
      word = random_.OneIn(2) ? word | all : all;
    }
    if (fields > 1 && random_.OneIn(8)) words[random_.Below(words.size())] ^= Bit(64);
    call.Edit([&words](perf_event_attr& attr) {
      attr.config = words[0];
      attr.config1 = words[1];
      attr.config2 = words[2];
    });
    call.Put(kOpenConfig3, words[3]);
    call.Put(kOpenConfig4, words[4]);
  }

  std::uint64_t Bit(unsigned width) { return 1ull << random_.Below(width); }

  // Fields that most PMUs with interrupts accept.
  void SetSampling(perf_event_attr& attr) {
    constexpr std::uint64_t kUsual =
        PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_READ |
        PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
        PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_RAW | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_IDENTIFIER |
        PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
        PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE;
    attr.sample_period = random_.Choose(kPeriods);
    if (random_.OneIn(2)) attr.sample_type = random_.Bits(25) & kUsual;
    if (attr.inherit) attr.sample_type &= ~std::uint64_t{PERF_SAMPLE_READ};
    if (random_.OneIn(4)) attr.wakeup_events = static_cast<std::uint32_t>(Edge(32));
    if (random_.OneIn(8)) attr.watermark = 1;
    attr.sample_id_all = random_.OneIn(2);
  }

  void SetFlags(perf_event_attr& attr) {
    attr.disabled = random_.OneIn(2);
    attr.read_format = random_.Below(32);
    attr.inherit = random_.OneIn(4);
    attr.pinned = random_.OneIn(8);
    attr.exclusive = random_.OneIn(12);
    attr.enable_on_exec = random_.OneIn(10);
    if (!attr.enable_on_exec && random_.OneIn(10)) attr.remove_on_exec = 1;
    attr.task = random_.OneIn(6);
    attr.comm = random_.OneIn(6);
    attr.mmap = random_.OneIn(6);
    attr.mmap2 = random_.OneIn(12);
    attr.context_switch = random_.OneIn(8);
    attr.ksymbol = random_.OneIn(16);
    attr.bpf_event = random_.OneIn(16);
    attr.write_backward = random_.OneIn(16);
  }

  // One field that many PMUs refuse.
  void SetUnusual(perf_event_attr& attr) {
    switch (random_.Below(20)) {
      case 0:
        attr.freq = 1;
        attr.sample_freq = random_.Choose(kFrequencies);
        break;
      case 1:
        attr.precise_ip = random_.Below(pmu_.precise + 1) & 3;
        break;
      case 2:
        attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
        attr.branch_sample_type = Bit(20) | PERF_SAMPLE_BRANCH_ANY;
        break;
      case 3:
        attr.sample_type |= PERF_SAMPLE_REGS_USER;
        attr.sample_regs_user = Edge(20);
        break;
      case 4:
        attr.sample_type |= PERF_SAMPLE_REGS_INTR;
        attr.sample_regs_intr = Edge(20);
        break;
      case 5:
        attr.sample_type |= PERF_SAMPLE_STACK_USER;
        attr.sample_stack_user = static_cast<std::uint32_t>(Edge(16)) & ~7u;
        break;
      case 6:
        attr.sample_type |= PERF_SAMPLE_AUX;
        attr.aux_sample_size = static_cast<std::uint32_t>(Edge(16)) & ~7u;
        break;
      case 7:
        attr.aux_watermark = static_cast<std::uint32_t>(Edge(32));
        break;
      case 8:
        attr.sigtrap = attr.remove_on_exec = 1;
        attr.enable_on_exec = 0;
        attr.sig_data = Edge(64);
        break;
      case 9:
        attr.use_clockid = 1;
        attr.clockid = static_cast<int>(random_.Below(12));
        break;
      case 10:
        attr.exclude_user = 1;
        break;
      case 11:
        attr.exclude_kernel = 1;
        break;
      case 12:
        attr.exclude_hv = attr.exclude_idle = 1;
        break;
      case 13:
        attr.exclude_guest = 1;
        break;
      case 14:
        attr.aux_output = 1;
        break;
      case 15:
        attr.inherit = attr.inherit_stat = attr.inherit_thread = 1;
        break;
      case 16:
        attr.namespaces = attr.cgroup = attr.build_id = 1;
        break;
      case 17:
        attr.text_poke = 1;
        break;
      case 18:
        attr.sample_type |= random_.OneIn(2) ? PERF_SAMPLE_WEIGHT : PERF_SAMPLE_WEIGHT_STRUCT;
        break;
      default:
        attr.size = random_.Choose(kSizes);
        break;
    }
  }

  void SetPlace(OpenCall& call) {
    const bool tasks = pmu_.pmu.tasks;
    if (!tasks || random_.OneIn(4)) {
      call.who = OpenWho::kAllTasks;
      call.cpu = random_.OneIn(3) ? OpenCpu::kSecond : OpenCpu::kFirst;
    } else if (child_ && random_.OneIn(2)) {
      call.who = random_.OneIn(5) ? OpenWho::kExited : OpenWho::kOtherTask;
    } else if (random_.OneIn(6)) {
      call.cpu = random_.OneIn(2) ? OpenCpu::kSecond : OpenCpu::kFirst;
    } else if (random_.OneIn(12)) {
      call.who = OpenWho::kCgroup;
      call.cpu = OpenCpu::kFirst;
      call.flags |= PERF_FLAG_PID_CGROUP;
    }
    if (random_.OneIn(open_[last_] ? 2 : 12)) call.group = OpenGroup::kLeader;
    if (call.group == OpenGroup::kLeader && random_.OneIn(6)) {
      call.flags |= random_.OneIn(2) ? PERF_FLAG_FD_OUTPUT : PERF_FLAG_FD_NO_GROUP;
      call.flags |= PERF_FLAG_FD_OUTPUT;
    }
    if (random_.OneIn(16)) call.flags ^= PERF_FLAG_FD_CLOEXEC;
  }

  Step Open() {
    const auto slot = static_cast<unsigned>(random_.Below(kProgramSlots));
    const unsigned other = SomeSlot();
    Step step;
    if (random_.OneIn(3)) {
      step = Decoded(Operation::kOpen, slot, other);
    } else {
      step.slot = slot;
      step.other = other;
      step.rights = !random_.OneIn(16);
      step.call.attr.resize(256);
      const bool usual = !random_.OneIn(3);
      step.call.Edit([this, usual](perf_event_attr& attr) {
        attr.size = PERF_ATTR_SIZE_VER7;
        attr.type = TypeInProgram();
        SetFlags(attr);
        if (!random_.OneIn(3)) SetSampling(attr);
        if (!usual) SetUnusual(attr);
      });
      SetConfig(step.call, usual ? 1 : 3);
      SetPlace(step.call);
      const OpenPmu& own = pmu_.pmu;
      if (own.type == PERF_TYPE_BREAKPOINT) {
        step.call.Edit([&own](perf_event_attr& attr) { attr.bp_type = own.bp_type; });
      }
    }
    open_[step.slot] = true;
    last_ = step.slot;
    return step;
  }

  std::uint32_t TypeInProgram() const {
    return pmu_.type >= PERF_TYPE_MAX || pmu_.type == PERF_TYPE_RAW ? kProgramOwnType : pmu_.type;
  }

  Operation SomeOperation() {
    unsigned total = 0;
    for (const auto& [operation, weight] : kWeights) total += weight;
    auto remaining = static_cast<unsigned>(random_.Below(total));
    for (const auto& [operation, weight] : kWeights) {
      if (remaining < weight) return operation;
      remaining -= weight;
    }
    return Operation::kOpen;
  }

  bool Possible(Operation operation) const {
    const bool port = operation == Operation::kPulse || operation == Operation::kBranch;
    if (port) return pmu_.port;
    if (operation == Operation::kCpu) return pmu_.cpus && !racing_;
    return true;
  }

  Step Next() {
    Operation operation = SomeOperation();
    while (!Possible(operation)) operation = SomeOperation();
    Step step = operation == Operation::kOpen ? Open() : Other(operation);
    const bool first_alone = operation == Operation::kFork || operation == Operation::kChild ||
                             operation == Operation::kCpu;
    if ((tasks_ || racing_) && !first_alone) {
      step.task = static_cast<unsigned>(random_.Below(kProgramTasks));
    }
    return step;
  }

  Step Other(Operation operation) {
    const unsigned slot = SomeSlot();
    Step step;
    switch (operation) {
      case Operation::kIoctl: {
        step = Decoded(operation, slot, SomeSlot());
        constexpr unsigned kEnable = 0, kDisable = 1, kReset = 3;
        if (random_.OneIn(3)) step.which = random_.OneIn(3) ? kDisable : kEnable;
        const bool group = step.which == kEnable || step.which == kDisable || step.which == kReset;
        if (group) step.value = random_.OneIn(3) ? PERF_IOC_FLAG_GROUP : 0;
        return step;
      }
      case Operation::kDuplicate:
      case Operation::kSignals:
      case Operation::kAffinity:
      case Operation::kMapAny:
      case Operation::kRemap:
      case Operation::kTail:
        step.operation = operation;
        if (operation != Operation::kAffinity) step.slot = slot;
        step.which = static_cast<unsigned>(random_.Below(ChoiceCount(operation)));
        if (operation == Operation::kTail) step.value = Edge(64);
        if (operation == Operation::kMapAny) step.value = random_.OneIn(4);
        if (operation == Operation::kDuplicate) {
          step.other = static_cast<unsigned>(random_.Below(kProgramSlots));
        }
        return step;
      default:
        step = Decoded(operation, slot, 0);
        if (operation == Operation::kFork) child_ = true;
        if (operation == Operation::kRead) step.value = random_.OneIn(8) ? random_.Below(256) : 240;
        if (operation == Operation::kClose) open_[slot] = false;
        return step;
    }
  }

  const FuzzedPmu& pmu_;
  const Grammar& grammar_;
  Seeded random_;
  bool tasks_ = false, racing_ = false, child_ = false;
  std::array<bool, kProgramSlots> open_ = {};
  unsigned last_ = 0;
};

}  // namespace

FuzzGenerator::FuzzGenerator(FuzzedPmu pmu)
    : pmu_(std::move(pmu)), grammar_(std::string(kProgramPmu) + pmu_.name, pmu_.pmu) {}

Program FuzzGenerator::Draw(std::uint64_t seed, std::uint64_t number) const {
  return Drawing(pmu_, grammar_, Seeded(seed, number)).Draw();
}

Program FuzzGenerator::DrawBlind(std::uint64_t seed, std::uint64_t number) const {
  Seeded random(seed, number);
  std::array<std::uint8_t, kProgramSteps * kStepBytes> bytes;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.Bits(8));
  Program program = grammar_.Decode(bytes);
  std::erase_if(program.steps, [this](const Step& step) {
    return step.operation == Operation::kCpu && !pmu_.cpus;
  });
  return program;
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Every byte string is a program within limits, and its text parses to the same program.
#include "tools/repro/grammar.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/open_driver.h"
#include "target/target.h"
#include "tools/repro/event_slots.h"
#include "tools/repro/machine.h"
#include "tools/repro/run.h"

namespace pmuconf {
namespace {

std::vector<std::uint8_t> Chance(std::uint32_t seed, std::size_t size) {
  std::mt19937 chance(seed);
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(chance());
  return bytes;
}

OpenPmu Own() { return ReferencePmu(31); }
constexpr std::uint64_t kSwitch = 315, kEnter = 17;

OpenSystem SystemOf() { return {}; }

ProgramMachine SomeMachine() {
  return {SystemOf(),
          {Own(), SoftwarePmu(),
           TracepointPmu({{.type = PERF_TYPE_TRACEPOINT, .config = kSwitch},
                          {.type = PERF_TYPE_TRACEPOINT, .config = kEnter, .cap_any = true}}),
           BreakpointPmu(), OpaquePmu(8)},
          "/dev/null"};
}

TEST(ProgramGrammar, InputOfAnyLengthDecodesWithinLimits) {
  const Grammar grammar("refpmu");
  std::set<Operation> seen;
  for (std::uint32_t size = 0; size < 2'000; ++size) {
    const Program program = grammar.Decode(Chance(size, size));
    const std::size_t whole = (size + kStepBytes - 1) / kStepBytes;
    ASSERT_EQ(program.steps.size(), std::min(whole, kProgramSteps));
    for (const Step& step : program.steps) {
      seen.insert(step.operation);
      ASSERT_LT(step.slot, kProgramSlots);
      ASSERT_LT(step.other, kProgramSlots);
      ASSERT_LT(step.which, ChoiceCount(step.operation));
      if (step.operation == Operation::kWork || step.operation == Operation::kPulse ||
          step.operation == Operation::kBranch) {
        ASSERT_GE(step.value, 1u);
        ASSERT_LE(step.value, kProgramWork);
      }
      if (step.operation == Operation::kOpen) {
        ASSERT_EQ(step.call.attr.size(), 256u);
        ASSERT_LE(step.call.readable, 256u);
      }
    }
  }
  EXPECT_EQ(seen.size(), kDrawnOperations);
}

TEST(ProgramGrammar, DecodingIsDeterministic) {
  const Grammar grammar("software"), another("software");
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const auto bytes = Chance(seed, 640);
    EXPECT_EQ(PrintProgram(grammar.Decode(bytes)), PrintProgram(another.Decode(bytes)));
  }
}

TEST(ProgramGrammar, MissingBytesOfLastOperationAreZero) {
  const Grammar grammar("refpmu");
  auto bytes = Chance(3, kStepBytes + 5);
  const std::string cut = PrintProgram(grammar.Decode(bytes));
  bytes.resize(2 * kStepBytes);
  EXPECT_EQ(PrintProgram(grammar.Decode(bytes)), cut);
}

// Half of the calls are simple. Most of these open, and each flag that changes how an event works
// occurs among them.
TEST(ProgramGrammar, OpensEventsOfEachKind) {
  const ProgramMachine machine = SomeMachine();
  const Grammar grammar("refpmu");
  std::map<std::string, unsigned> open;
  unsigned calls = 0;
  for (std::uint32_t seed = 0; seed < 2'000; ++seed) {
    auto bytes = Chance(seed, kStepBytes);
    bytes[0] = 0;
    bytes[2] = 0;
    OpenCall call = machine.Bind(grammar.Decode(bytes).steps.at(0).call);
    if (call.Attr().type != Own().type || call.who != OpenWho::kThisTask) continue;
    call.group = OpenGroup::kNone;
    ++calls;
    if (machine.model(true).Predict(call).error != 0) continue;
    const perf_event_attr attr = call.Attr();
    ++open["any"];
    open["exclude_user"] += attr.exclude_user;
    open["exclude_kernel"] += attr.exclude_kernel;
    open["freq"] += attr.freq;
    open["precise"] += attr.precise_ip > 0 ? 1 : 0;
    open["branches"] += (attr.sample_type & PERF_SAMPLE_BRANCH_STACK) != 0 ? 1 : 0;
  }
  EXPECT_GT(open["any"] * 2, calls);
  for (const auto& [kind, n] : open) EXPECT_GE(n * 50, open["any"]) << kind;
  EXPECT_EQ(open.size(), 6u);
}

TEST(ProgramGrammar, UnsupportedTargetIsRejected) {
  EXPECT_THROW(Grammar("armv8_pmuv3"), ConfigError);
}

TEST(ProgramText, ParsesToTheSameProgram) {
  for (const char* target : {"refpmu", "software"}) {
    const Grammar grammar(target);
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
      const Program program = grammar.Decode(Chance(seed, kProgramSteps * kStepBytes));
      const Program reparsed = ParseProgram(PrintProgram(program));
      ASSERT_EQ(reparsed.target, target);
      ASSERT_EQ(reparsed.steps.size(), program.steps.size());
      for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const Step &one = program.steps[i], &other = reparsed.steps[i];
        ASSERT_EQ(one.operation, other.operation);
        ASSERT_EQ(std::tie(one.slot, one.other, one.which, one.value),
                  std::tie(other.slot, other.other, other.which, other.value));
        if (one.operation != Operation::kOpen) continue;
        ASSERT_EQ(one.rights, other.rights);
        const OpenCall &call = one.call, &parsed = other.call;
        ASSERT_EQ(call.attr, parsed.attr);
        ASSERT_EQ(std::tie(call.readable, call.who, call.cpu, call.group, call.flags,
                           call.descriptors_available),
                  std::tie(parsed.readable, parsed.who, parsed.cpu, parsed.group, parsed.flags,
                           parsed.descriptors_available));
      }
    }
  }
}

TEST(ProgramText, ErrorNamesTheInvalidLine) {
  const auto refused = [](const std::string& lines) {
    try {
      ParseProgram("pmuconf program for refpmu\n" + lines);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refused("# nothing\n\nfork\n"), "taken");
  EXPECT_EQ(refused("fork\nspoon\n"), "program, line 3: unknown operation 'spoon'");
  EXPECT_EQ(refused("close slot=8\n"), "program, line 2: 'slot' is 8, and must be below 8");
  EXPECT_EQ(refused("close slot=x\n"), "program, line 2: 'x' is not a number");
  EXPECT_EQ(refused("close slot\n"), "program, line 2: 'slot' is not NAME=VALUE");
  EXPECT_EQ(refused("close slot=1 slot=1\n"), "program, line 2: 'slot' is given twice");
  EXPECT_EQ(refused("close slat=1\n"),
            "program, line 2: 'slat' is not an argument of this operation");
  EXPECT_EQ(refused("map which=4\n"), "program, line 2: 'which' is 4, and must be below 4");
  EXPECT_EQ(refused("work value=0x102\n"),
            "program, line 2: 'value' is 0x102, and must be below 257");
  EXPECT_EQ(refused("open attr=0\n"), "program, line 2: attr has an invalid length");
  EXPECT_EQ(refused("open attr=0g\n"), "program, line 2: attr is not hexadecimal");
  std::string many;
  for (std::size_t i = 0; i <= kProgramTextSteps; ++i) many += "fork\n";
  EXPECT_EQ(refused(many), "program, line 66: too many operations");
  EXPECT_THROW(ParseProgram("fork\n"), ConfigError);
}

TEST(ProgramMachine, ReplacesPlaceholders) {
  const ProgramMachine machine = SomeMachine();
  const auto bound = [&machine](std::uint32_t type, std::uint64_t config) {
    OpenCall call = machine.model(true).ValidCall();
    call.Edit([&](perf_event_attr& attr) {
      attr.type = type;
      attr.config = config;
    });
    const perf_event_attr attr = machine.Bind(call).Attr();
    return std::pair<std::uint32_t, std::uint64_t>(attr.type, attr.config);
  };
  using Pair = std::pair<std::uint32_t, std::uint64_t>;
  EXPECT_EQ(bound(kProgramOwnType, 7), Pair(31, 7));
  EXPECT_EQ(bound(PERF_TYPE_HARDWARE, std::uint64_t{kProgramOwnType} << 32 | 1),
            Pair(PERF_TYPE_HARDWARE, 31ull << 32 | 1));
  EXPECT_EQ(bound(PERF_TYPE_TRACEPOINT, kProgramTracepoints), Pair(PERF_TYPE_TRACEPOINT, kSwitch));
  EXPECT_EQ(bound(PERF_TYPE_TRACEPOINT, kProgramTracepoints + 1),
            Pair(PERF_TYPE_TRACEPOINT, kEnter));
  EXPECT_EQ(bound(PERF_TYPE_TRACEPOINT, 1), Pair(PERF_TYPE_TRACEPOINT, 1ull << 40 | 1));
  EXPECT_EQ(bound(8, 3), Pair(0x4000'0008, 3));
  EXPECT_EQ(bound(PERF_TYPE_SOFTWARE, 3), Pair(PERF_TYPE_SOFTWARE, 3));
}

// The model predicts nothing for a PMU that is absent or that it does not know.
TEST(ProgramMachine, IdentifiesTraceEventsByType) {
  constexpr std::uint32_t kTrace = 9;
  const ProgramMachine with(SystemOf(), {Own(), SoftwarePmu(), OpaquePmu(kTrace)}, "/dev/null",
                            Fd(), kTrace);
  const ProgramMachine without = SomeMachine();
  OpenCall call = with.model(true).ValidCall();
  call.Edit([](perf_event_attr& attr) {
    attr = {};
    attr.type = kProgramTraceType;
    attr.size = sizeof(attr);
    attr.disabled = 1;
  });
  EXPECT_EQ(with.Bind(call).Attr().type, kTrace);
  EXPECT_EQ(without.Bind(call).Attr().type, 0x4000'0000 | kProgramTraceType);
  EXPECT_TRUE(with.IsTrace(kTrace));
  EXPECT_FALSE(without.IsTrace(kTrace));
  EXPECT_EQ(with.trace_port(), "/dev/null_trace");
  EXPECT_FALSE(EventSlots().ModelCall(with, with.Bind(call), 0));
  EXPECT_TRUE(EventSlots().ModelCall(without, without.Bind(call), 0));
  EXPECT_FALSE(IsPlainLeader(with, with.Bind(call)));
}

TEST(ProgramGrammar, OnlyTargetsWithTracePmuGetTraceEvents) {
  const auto traces = [](const char* target) {
    const Grammar grammar(target);
    std::size_t found = 0;
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
      for (const Step& step : grammar.Decode(Chance(seed, kProgramSteps * kStepBytes)).steps) {
        found += step.operation == Operation::kOpen && step.call.Attr().type == kProgramTraceType
                     ? 1
                     : 0;
      }
    }
    return found;
  };
  EXPECT_GT(traces("refpmu"), 0u);
  EXPECT_EQ(traces("software"), 0u);
}

TEST(EventSlots, EmptySlotIsClosedDescriptor) {
  const ProgramMachine machine = SomeMachine();
  OpenCall call = machine.model(true).ValidCall();
  call.group = OpenGroup::kReadSizeLimit;
  const auto model_call = EventSlots().ModelCall(machine, call, 2);
  ASSERT_TRUE(model_call);
  EXPECT_EQ(model_call->group, OpenGroup::kClosed);
  EXPECT_EQ(machine.model(true).Predict(*model_call).error, EBADF);
}

TEST(EventSlots, OnlyPlainLeaderWithoutMembersIsPredictable) {
  const ProgramMachine machine = SomeMachine();
  const OpenCall good = machine.model(true).ValidCall();
  OpenCall member = good;
  member.group = OpenGroup::kSibling;
  EventSlots slots;
  slots.Opened(machine, good, 1, 0);
  const auto model_call = slots.ModelCall(machine, member, 1);
  ASSERT_TRUE(model_call);
  EXPECT_EQ(model_call->group, OpenGroup::kLeader);
  EXPECT_EQ(model_call->group_type, 31u);
  EXPECT_EQ(machine.model(true).Predict(*model_call).error, 0);
  slots.Mapped(1);
  EXPECT_EQ(slots.ModelCall(machine, member, 1)->group, OpenGroup::kBuffer);
  slots.Opened(machine, *model_call, 2, 1);
  EXPECT_FALSE(slots.ModelCall(machine, member, 1));
  EXPECT_FALSE(slots.ModelCall(machine, member, 2));
  slots.Closed(2);
  EXPECT_FALSE(slots.ModelCall(machine, member, 1));
  OpenCall pinned = good;
  pinned.Edit([](perf_event_attr& attr) { attr.pinned = 1; });
  slots.Opened(machine, pinned, 3, 0);
  EXPECT_FALSE(slots.ModelCall(machine, member, 3));
}

TEST(EventSlots, BreakpointsAreNotPredictedAfterTheFirst) {
  const ProgramMachine machine = SomeMachine();
  OpenCall call = machine.model(true).ValidCall();
  call.Edit([](perf_event_attr& attr) { attr.type = PERF_TYPE_BREAKPOINT; });
  EventSlots slots;
  EXPECT_TRUE(slots.ModelCall(machine, call, 0));
  slots.Opened(machine, call, 0, 0);
  slots.Closed(0);
  EXPECT_FALSE(slots.ModelCall(machine, call, 0));
}

// This test needs no event to show that a program runs in its own process and ends.
TEST(RunProgram, OperationsDoNotAffectThisProcess) {
  const ProgramMachine machine = SomeMachine();
  const Program program = ParseProgram(
      "pmuconf program for refpmu\nwork which=3 value=5\nfork\nfork\nchild which=2\nchild which=1\n"
      "child\nclose slot=1\ncpu\nunmap\nunmap which=1\nmap_aux\nbranch value=1\npoll\n");
  const RunResult result = RunProgram(machine, program, {});
  ASSERT_EQ(result.outcomes.size(), program.steps.size());
  EXPECT_TRUE(result.Passed());
  std::vector<int> errors;
  for (const Outcome& outcome : result.outcomes) {
    EXPECT_TRUE(outcome.ran);
    errors.push_back(outcome.error);
  }
  EXPECT_EQ(errors, (std::vector<int>{0, 0, EBUSY, 0, 0, ECHILD, EBADF, EPERM, ENOENT, ENOENT,
                                      EBADF, ENOTTY, 0}));
}

TEST(RunProgram, ReportsHang) {
  const ProgramMachine machine = SomeMachine();
  RunOptions options;
  options.limit_s = 0.05;
  options.begin = [] { pause(); };
  const RunResult result =
      RunProgram(machine, ParseProgram("pmuconf program for refpmu\nfork\n"), options);
  EXPECT_TRUE(result.hung);
  EXPECT_FALSE(result.stuck);
  EXPECT_FALSE(result.Passed());
  EXPECT_FALSE(result.outcomes[0].ran);
}

// Shared memory through which the processes of programs report to the test.
struct Noted {
  pid_t pid;
  bool dies;
  int seen;
};

class ProgramProcessTest : public testing::Test {
 protected:
  ProgramProcessTest() {
    // Longer than the time limit of the test: a process that dies must end the wait at once.
    options_.limit_s = 600;
    options_.begin = [this] {
      noted_->pid = getpid();
      noted_->seen = here_;
      if (noted_->dies) raise(SIGKILL);
    };
    process_.emplace(
        machine_,
        [](std::span<const std::uint8_t> bytes) {
          return ParseProgram("pmuconf program for refpmu\n" +
                              std::string(bytes.begin(), bytes.end()));
        },
        options_);
  }
  ~ProgramProcessTest() override { munmap(noted_, sizeof(Noted)); }

  std::vector<int> Errors(std::string_view text, bool last = false) {
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    const RunResult result = process_->Run(bytes, last);
    EXPECT_TRUE(result.Passed());
    std::vector<int> errors;
    for (const Outcome& outcome : result.outcomes) errors.push_back(outcome.error);
    return errors;
  }

  ProgramMachine machine_ = SomeMachine();
  Noted* noted_ = static_cast<Noted*>(
      mmap(nullptr, sizeof(Noted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  int here_ = 1;
  RunOptions options_;
  std::optional<ProgramProcess> process_;
};

TEST_F(ProgramProcessTest, UndoesEffectsOfEachProgram) {
  EXPECT_EQ(Errors("fork\nfork\n"), (std::vector<int>{0, EBUSY}));
  const pid_t first = noted_->pid;
  EXPECT_EQ(Errors("child\nfork\n"), (std::vector<int>{ECHILD, 0}));
  EXPECT_EQ(noted_->pid, first);
}

TEST_F(ProgramProcessTest, IsReplacedAfterLastProgram) {
  EXPECT_EQ(Errors("fork\n", true), std::vector<int>{0});
  const pid_t first = noted_->pid;
  EXPECT_EQ(kill(first, 0), -1);
  EXPECT_EQ(errno, ESRCH);
  EXPECT_EQ(Errors("poll\npoll\n"), (std::vector<int>{0, 0}));
  EXPECT_NE(noted_->pid, first);
}

TEST_F(ProgramProcessTest, IsReplacedAfterItDied) {
  noted_->dies = true;
  EXPECT_EQ(Errors("poll\n"), std::vector<int>{0});
  const pid_t first = noted_->pid;
  noted_->dies = false;
  EXPECT_EQ(Errors("poll\npoll\n"), (std::vector<int>{0, 0}));
  EXPECT_NE(noted_->pid, first);
}

TEST_F(ProgramProcessTest, HasMemoryOfConstructionTime) {
  here_ = 2;
  for (const bool last : {true, false}) {
    EXPECT_EQ(Errors("poll\n", last), std::vector<int>{0});
    EXPECT_EQ(noted_->seen, 1);
  }
}

TEST_F(ProgramProcessTest, LeavesNoChildProcess) {
  EXPECT_EQ(Errors("fork\n"), std::vector<int>{0});
  process_.reset();
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(ProgramOutcome, MismatchNeedsDifferentPredictedErrno) {
  Outcome outcome;
  outcome.ran = outcome.known = true;
  outcome.error = EINVAL;
  EXPECT_TRUE(outcome.Mismatch());
  outcome.predicted = EINVAL;
  EXPECT_FALSE(outcome.Mismatch());
  outcome.predicted = 0;
  outcome.known = false;
  EXPECT_FALSE(outcome.Mismatch());
}

}  // namespace
}  // namespace pmuconf

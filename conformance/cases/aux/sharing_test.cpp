// SPDX-License-Identifier: Apache-2.0
// Sharing of a trace: exclusive use of the PMU, software events in its group, redirected output,
// invalid attrs, and pausing.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "cases/aux/trace.h"
#include "cases/module.h"
#include "rules/AUX.h"
#include "rules/DRC.h"
#include "rules/GRP.h"
#include "stimulus/stimuli.h"

namespace pmuconf {
namespace {

// Bits of the attr's field aux_action.
constexpr std::uint32_t kStartPaused = 1U << 0;
constexpr std::uint32_t kPause = 1U << 1;
constexpr std::uint32_t kResume = 1U << 2;

OpenResult TryTrace(const OpenOptions& options = {}) { return TryOpen(target().Trace(), options); }

CONFORMANCE_CASE(Aux, SecondTraceIsBusy, .rules = {rule::AUX_019}, .needs = {Cap::kTrace}) {
  const OpenOptions kPlaces[] = {{}, {.pid = -1, .cpu = target().Cpu(0)}, {.cpu = target().Cpu(0)}};
  for (const OpenOptions& place : kPlaces) {
    SCOPED_TRACE(testing::Message() << "pid " << place.pid << ", cpu " << place.cpu);
    Event first = Open(target().Trace(), place);
    EXPECT_THAT(TryTrace(place), FailsWith(EBUSY));
    first.Close();
    EXPECT_THAT(TryTrace(place), Succeeds());
  }
}

CONFORMANCE_CASE(Aux, TraceJoinsGroupOfSoftwareEvent, .rules = {rule::GRP_003},
                 .needs = {Cap::kTrace}) {
  const Event leader = Open(Software(PERF_COUNT_SW_PAGE_FAULTS));
  EXPECT_THAT(TryTrace({.group_fd = leader.fd()}), Succeeds());
}

CONFORMANCE_CASE(Aux, SoftwareEventCountsWithTrace, .rules = {rule::GRP_004},
                 .needs = {Cap::kTrace}) {
  const Trace trace;
  const OpenResult faults =
      TryOpen(Software(PERF_COUNT_SW_PAGE_FAULTS), {.group_fd = trace.event().fd()});
  ASSERT_THAT(faults, Succeeds());
  faults.event.Enable();
  trace.event().Enable();
  TouchFreshPages(5);
  trace.event().Disable();
  const std::uint64_t counted = faults.event.Read().value;
  EXPECT_GE(counted, 5u);  // more if this program had to load its own pages
  TouchFreshPages(5);
  EXPECT_EQ(faults.event.Read().value, counted);
}

CONFORMANCE_CASE(Aux, TracesOfTasksAndOfCpusExcludeEachOther, .rules = {rule::AUX_019},
                 .needs = {Cap::kTrace}) {
  {
    const Event task = Open(target().Trace());
    EXPECT_THAT(TryTrace({.pid = -1, .cpu = target().Cpu(0)}), FailsWith(EBUSY));
  }
  {
    const Event cpu = Open(target().Trace(), {.pid = -1, .cpu = target().Cpu(0)});
    EXPECT_THAT(TryTrace(), FailsWith(EBUSY));
  }
  EXPECT_THAT(TryTrace(), Succeeds());
}

CONFORMANCE_CASE(Aux, DifferentCpusAndTasksAreTracedAtTheSameTime,
                 .rules = {rule::AUX_019, rule::AUX_030},
                 .needs = {Cap::kTrace, Cap::kPort, Cap::kCpus2}) {
  {
    Trace zero({}, {.pid = -1, .cpu = target().Cpu(0)});
    Trace one({}, {.pid = -1, .cpu = target().Cpu(1)});
    zero.event().Enable();
    one.event().Enable();
    const auto here = SomeBranches(5);
    const auto there = SomeBranches(6, 1'000);
    port().Branches(here, target().Cpu(0));
    port().Branches(there, target().Cpu(1));
    zero.event().Disable();
    one.event().Disable();
    EXPECT_EQ(zero.Drain().branches, AsTraced(here)) << rule::AUX_030;
    EXPECT_EQ(one.Drain().branches, AsTraced(there)) << rule::AUX_030;
  }
  Child other([] { return 0; });
  const Event own = Open(target().Trace());
  EXPECT_THAT(TryTrace({.pid = other.pid()}), Succeeds()) << rule::AUX_019;
}

CONFORMANCE_CASE(Aux, UnknownSettingsAreRefused, .rules = {rule::AUX_025},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  EventSpec spec = target().Trace();
  for (const std::uint64_t bit : {std::uint64_t{1}, std::uint64_t{1} << 63}) {
    spec.config = bit;
    EXPECT_THAT(TryOpen(spec), FailsWith(EINVAL));
    spec.config = 0;
    spec.config1 = bit;
    EXPECT_THAT(TryOpen(spec), FailsWith(EINVAL));
    spec.config1 = 0;
    spec.config2 = bit;
    EXPECT_THAT(TryOpen(spec), FailsWith(EINVAL));
    spec.config2 = 0;
  }
  EXPECT_THAT(TryTrace({.edit = [](auto& attr) { attr.precise_ip = 1; }}), FailsWith(EOPNOTSUPP));
  EXPECT_THAT(TryTrace({.sample_period = 1'000,
                        .sample_type = PERF_SAMPLE_BRANCH_STACK,
                        .edit =
                            [](auto& attr) {
                              attr.branch_sample_type =
                                  PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
                            }}),
              FailsWith(EOPNOTSUPP));
  EXPECT_EQ(port().Stats().live_events, 0u);
  EXPECT_THAT(TryTrace(), Succeeds());
}

CONFORMANCE_CASE(Aux, ForeignTypeReturnsEnoent, .rules = {rule::AUX_025},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  const Event clock = Open(Software(PERF_COUNT_SW_TASK_CLOCK));
  EventSpec invalid_type = target().Trace();
  invalid_type.type = 0x7fff'ffff;
  EXPECT_THAT(TryOpen(invalid_type), FailsWith(ENOENT));
  EXPECT_EQ(port().Stats().calls[REFPMU_CALL_DESTROY], 0u);
}

CONFORMANCE_CASE(Aux, AuxOutputAndSamplesAreRefused,
                 .rules = {rule::AUX_008, rule::AUX_016, rule::DRC_102}, .needs = {Cap::kTrace}) {
  const Event leader = Open(target().Trace());
  const EventSpec faults = Software(PERF_COUNT_SW_PAGE_FAULTS);
  const auto output = [](auto& attr) { attr.aux_output = 1; };
  const auto sample = [](auto& attr) {
    attr.sample_type |= PERF_SAMPLE_AUX;
    attr.aux_sample_size = 512;
  };
  EXPECT_THAT(TryTrace({.group_fd = leader.fd(), .edit = output}), FailsWith(EOPNOTSUPP))
      << rule::AUX_008;
  EXPECT_THAT(TryOpen(faults, {.group_fd = leader.fd(), .edit = output}), FailsWith(EOPNOTSUPP))
      << rule::AUX_008;
  EXPECT_THAT(TryOpen(faults, {.sample_period = 1, .edit = sample}), FailsWith(EINVAL))
      << rule::AUX_016;
  const Event plain = Open(faults);
  EXPECT_THAT(TryOpen(faults, {.group_fd = plain.fd(), .sample_period = 1, .edit = sample}),
              FailsWith(EINVAL))
      << rule::AUX_016;
}

CONFORMANCE_CASE(Aux, AddressFilterIsRefused, .rules = {rule::AUX_010}, .needs = {Cap::kTrace}) {
  const Event event = Open(target().Trace());
  for (const std::string filter : {"filter 0x1000/0x100", "stop 0x1000", "nonsense", ""}) {
    EXPECT_THAT(
        event.TryIoctl(PERF_EVENT_IOC_SET_FILTER, reinterpret_cast<unsigned long>(filter.c_str())),
        FailsWith(EINVAL))
        << "(" << filter << ")";
  }
}

SysResult Redirect(const Event& from, const Event& to) {
  return from.TryIoctl(PERF_EVENT_IOC_SET_OUTPUT, static_cast<unsigned long>(to.fd()));
}

// Each refusal has a reason of its own: everything else matches.
CONFORMANCE_CASE(Aux, MismatchedOutputIsRefused, .rules = {rule::AUX_026},
                 .needs = {Cap::kTrace, Cap::kCpus2}) {
  const EventSpec clock = Software(PERF_COUNT_SW_CPU_CLOCK);
  Trace zero({}, {.pid = -1, .cpu = target().Cpu(0)});
  const Event one = Open(target().Trace(), {.pid = -1, .cpu = target().Cpu(1)});
  EXPECT_THAT(Redirect(one, zero.event()), FailsWith(EINVAL)) << "another CPU";
  EXPECT_THAT(Redirect(zero.event(), zero.event()), FailsWith(EINVAL)) << "the trace itself";
  const Event clock_of_zero = Open(clock, {.pid = -1, .cpu = target().Cpu(0)});
  const Ring ring_of_zero(clock_of_zero, 1);
  EXPECT_THAT(Redirect(zero.event(), clock_of_zero), FailsWith(EINVAL))
      << "its own buffers are mapped";
  const Event fresh = Open(clock, {.pid = -1, .cpu = target().Cpu(0)});
  EXPECT_THAT(Redirect(fresh, zero.event()), Succeeds());
}

CONFORMANCE_CASE(Aux, OutputToAnotherTaskIsRefused, .rules = {rule::AUX_026},
                 .needs = {Cap::kTrace, Cap::kPort}, .over = {Over<dim::Cpu>()}) {
  Child child([] { return 0; });
  Trace own;
  const Event other = Open(target().Trace(), {.pid = child.pid()});
  EXPECT_THAT(Redirect(other, own.event()), FailsWith(EINVAL)) << "another task";
  const auto branches = SomeBranches(5);
  TraceBranches(own.event(), branches);
  EXPECT_EQ(own.Drain().branches, AsTraced(branches));
}

CONFORMANCE_CASE(Aux, OutputOfAMappedTraceIsRefused, .rules = {rule::AUX_026},
                 .needs = {Cap::kTrace}, .over = {Over<dim::Cpu>()}) {
  Child child([] { return 0; });
  Trace own({}, {.cpu = CurrentCpu()});
  const Event other = Open(target().Trace(), {.pid = child.pid(), .cpu = CurrentCpu()});
  {
    const Ring mapped(other, 1);
    EXPECT_THAT(Redirect(other, own.event()), FailsWith(EINVAL));
  }
  EXPECT_THAT(Redirect(other, own.event()), Succeeds());
}

CONFORMANCE_CASE(Aux, RedirectedTraceWritesToTargetArea, .rules = {rule::AUX_026, rule::AUX_017},
                 .needs = {Cap::kTrace, Cap::kPort}, .over = {Over<dim::Cpu>()}) {
  // This task and its child run on the same CPU and share the buffer of one trace.
  const auto own = SomeBranches(4);
  const auto childs = SomeBranches(5, 1'000);
  Child child([&childs] {
    port().Branches(childs);
    return 0;
  });
  Trace trace({.pages = 2}, {.cpu = CurrentCpu()});
  const Event other = Open(target().Trace(), {.pid = child.pid(), .cpu = CurrentCpu()});
  other.SetOutput(trace.event());
  trace.event().Enable();
  other.Enable();
  port().Branches(own);
  ASSERT_EQ(child.Run(), 0);
  trace.event().Disable();
  EXPECT_EQ(trace.Drain().branches, AsTraced(own + childs)) << rule::AUX_026;
}

// The owners of the two areas trace tasks that wait, so only the redirected trace writes to them.
CONFORMANCE_CASE(Aux, RunningTraceLeavesItsFormerArea, .rules = {rule::AUX_026},
                 .needs = {Cap::kTrace, Cap::kPort}, .over = {Over<dim::Cpu>()}) {
  const auto early = SomeBranches(4);
  const auto between = SomeBranches(5, 1'000);
  const auto late = SomeBranches(6, 2'000);
  Child one([] { return 0; }), two([] { return 0; });
  Trace former({.pages = 2}, {.pid = one.pid(), .cpu = CurrentCpu()});
  Trace current({.pages = 2}, {.pid = two.pid(), .cpu = CurrentCpu()});
  const NoPreemption no_preemption;  // a context switch would start the trace again
  const Event trace = Open(target().Trace(), {.cpu = CurrentCpu()});
  trace.SetOutput(former.event());
  trace.Enable();
  port().Branches(early);
  trace.SetOutput(current.event());
  port().Branches(between);  // the redirection may have stopped the trace
  trace.Disable();
  EXPECT_EQ(former.Drain().branches, AsTraced(early));
  current.Drain();
  TraceBranches(trace, late);
  EXPECT_EQ(current.Drain().branches, AsTraced(late));
  EXPECT_THAT(former.Drain().branches, testing::IsEmpty());
}

CONFORMANCE_CASE(Aux, OpenTracesPinTheModule, .rules = {rule::AUX_028},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  const long before = ModuleReferences();
  std::optional<Trace> trace(std::in_place);
  EXPECT_EQ(ModuleReferences(), before + 1);
  EXPECT_EQ(syscall(SYS_delete_module, target().module().c_str(), O_NONBLOCK), -1);
  EXPECT_EQ(errno, EWOULDBLOCK);
  const auto branches = SomeBranches(5);
  TraceBranches(trace->event(), branches);
  EXPECT_EQ(trace->Drain().branches, AsTraced(branches));
  trace.reset();
  EXPECT_EQ(ModuleReferences(), before);
}

// Causes one page fault of this task by touching a new page.
void Fault() {
  void* const page =
      mmap(nullptr, PageSize(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw Broken("mmap of a page");
  *static_cast<volatile char*>(page) = 1;
  munmap(page, PageSize());
}

Event OpenFaults(const Event& leader, std::uint32_t action) {
  return Open(Software(PERF_COUNT_SW_PAGE_FAULTS),
              {.group_fd = leader.fd(),
               .sample_period = 1,
               .disabled = false,
               .edit = [action](auto& attr) { attr.aux_action = action; }});
}

CONFORMANCE_CASE(Aux, ResumeEventStartsPausedTrace, .rules = {rule::AUX_009},
                 .needs = {Cap::kTrace, Cap::kTracePause}) {
  Trace trace({}, {.edit = [](auto& attr) { attr.aux_action = kStartPaused; }});
  const Event resume = OpenFaults(trace.event(), kResume);
  trace.event().Disable();
  // A page fault of the case itself would resume the trace, too. So all other memory is touched
  // before.
  const auto early = SomeBranches(5);
  const auto late = SomeBranches(6, 1'000);
  port().Branches(early);
  trace.event().Enable();
  port().Branches(early);
  Fault();
  port().Branches(late);
  trace.event().Disable();
  EXPECT_EQ(trace.Drain().branches, AsTraced(late));
}

CONFORMANCE_CASE(Aux, PauseStopsTraceWithinTransaction, .rules = {rule::AUX_009},
                 .needs = {Cap::kTrace, Cap::kTracePause}) {
  const NoPreemption no_preemption;  // each context switch ends a record
  Trace trace;
  const Event pause = OpenFaults(trace.event(), kPause);
  const auto early = SomeBranches(5);
  const auto late = SomeBranches(6, 1'000);
  port().Branches(early);
  trace.event().Enable();
  port().Branches(early);
  Fault();
  port().Branches(late);
  trace.event().Disable();
  const TraceData traced = trace.Drain();
  EXPECT_EQ(traced.branches, AsTraced(early));
  EXPECT_EQ(traced.records.size(), 1u);
}

CONFORMANCE_CASE(Aux, PauseNeedsTraceLeader, .rules = {rule::AUX_009},
                 .needs = {Cap::kTrace, Cap::kTracePause}) {
  const EventSpec faults = Software(PERF_COUNT_SW_PAGE_FAULTS);
  const Event plain = Open(faults);
  const Event leader = Open(target().Trace());
  const auto attempt = [&](const EventSpec& spec, const Event& group, std::uint32_t action) {
    return TryOpen(spec, {.group_fd = group.is_open() ? group.fd() : -1,
                          .sample_period = 1,
                          .edit = [action](auto& attr) { attr.aux_action = action; }});
  };
  EXPECT_THAT(attempt(faults, Event(), kPause), FailsWith(EINVAL));
  EXPECT_THAT(attempt(faults, plain, kResume), FailsWith(EINVAL));
  EXPECT_THAT(attempt(faults, leader, kPause | kResume), FailsWith(EINVAL));
  EXPECT_THAT(attempt(faults, Event(), kStartPaused), FailsWith(EOPNOTSUPP));
  EXPECT_THAT(attempt(faults, leader, kPause), Succeeds());
}

}  // namespace
}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// The permission to read counters from user space: only with a mapped control page that grants it.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "arch/arch.h"
#include "cases/common.h"
#include "cases/readformat/read_cost.h"
#include "cases/remap.h"
#include "cases/rendezvous.h"
#include "cases/subject.h"
#include "harness/behaviour.h"
#include "perf/ring.h"
#include "perf/user_page.h"
#include "rules/DRC.h"
#include "rules/RDP.h"

namespace pmuconf {
namespace {

CONFORMANCE_CASE(UserPage, UserReadEqualsRead,
                 .rules = {rule::RDP_001, rule::RDP_004, rule::RDP_012},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kUserReads}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec);
  const Ring ring(event, 0);
  event.Enable();
  EXPECT_EQ(ring.page().pmc_width, target().width()) << rule::RDP_004;
  for (const std::uint64_t n : {1, 100, 100'000}) {
    target().Stimulate(spec, n);
    const std::uint64_t before = event.Read().value;
    const UserPage page = ReadUserPage(ring.page());
    EXPECT_NE(page.index, 0u) << rule::RDP_001;
    EXPECT_GE(page.count, before) << rule::RDP_004;
    EXPECT_LE(page.count, event.Read().value) << rule::RDP_001;
  }
  event.Reset();
  EXPECT_LE(ReadUserPage(ring.page()).count, event.Read().value) << rule::RDP_012;
  Attach(
      {.name = "cost",
       .title = "Cost of a reading",
       .mark = Mark::kBars,
       .x = {"way", ""},
       .y = {"median of 33 readings", "ns"},
       .series = {{"read(2)", {{0, MedianCostNs([&event] { event.Read(); })}}},
                  {"control page", {{1, MedianCostNs([&ring] { ReadUserPage(ring.page()); })}}}}});
}

CONFORMANCE_CASE(UserPage, UserReadWithoutMappingFaults, .rules = {rule::RDP_014}) {
  if (!processor::kReadsCounters) SkipWithout("an instruction that reads a counter");
  const auto end = [](bool mapped) {
    Child child([mapped] {
      signal(kCounterFault, [](int) { _exit(77); });  // otherwise the kernel logs the fault
      const Event event = Open(target().AnyEvent(), {.disabled = false});
      if (mapped) Ring(event, 0);  // unmapped at once: the permission ends with the mapping
      ReadCounter(0);
      return 0;
    });
    return child.Run();
  };
  EXPECT_EQ(end(false), 77);
  EXPECT_EQ(end(true), 77);
}

// Whether the process has the mapping of an event, which the kernel lists under this name.
bool HasMappedEvent(pid_t pid) {
  return ReadFile("/proc/" + std::to_string(pid) + "/maps")->find("[perf_event]") !=
         std::string::npos;
}

// The new program inherits the descriptor, so the mapping is not gone because the event was closed.
CONFORMANCE_CASE(UserPage, ExecTakesTheMappingAway, .rules = {rule::RDP_013},
                 .needs = {Cap::kTasks}, .over = {Over<dim::Scope>()}) {
  const EventSpec spec = target().AnyEvent();
  const Rendezvous rendezvous;
  Child child([&] {
    const Event event = Open(spec, AtScope(*this, {.flags = 0}));
    const Ring ring(event, 0);
    if (!HasMappedEvent(getpid())) return 124;
    return rendezvous.ExecShell(Rendezvous::kReportAndWait, "sh");
  });
  child.Go();
  rendezvous.WaitUntilReached();
  const std::string process = "/proc/" + std::to_string(child.pid());
  EXPECT_EQ(ReadFile(process + "/comm"), "sh") << "the case does not see the new program";
  EXPECT_FALSE(HasMappedEvent(child.pid()));
  std::size_t inherited = 0;
  for (const std::string& number : ListFolder(process + "/fd")) {
    std::error_code error;
    const auto link = std::filesystem::read_symlink(process + "/fd/" + number, error);
    inherited += link == "anon_inode:[perf_event]";
  }
  EXPECT_EQ(inherited, 1u) << "the new program must have inherited the event";
  rendezvous.ContinueShell();
  EXPECT_EQ(child.Wait(), 0);
}

CONFORMANCE_CASE(UserPage, MapCallbacksComeInPairs, .rules = {rule::RDP_015, rule::DRC_088},
                 .needs = {Cap::kSampling, Cap::kLog}) {
  const auto calls = [](refpmu_call call) {
    std::uint64_t sum = 0;
    for (const int cpu : target().Cpus()) sum += port().Stats(cpu).calls[call];
    return sum;
  };
  const auto expect_pairs = [&](std::uint64_t mapped, std::uint64_t unmapped) {
    EXPECT_EQ(calls(REFPMU_CALL_EVENT_MAPPED), mapped) << rule::RDP_015;
    EXPECT_EQ(calls(REFPMU_CALL_EVENT_UNMAPPED), unmapped) << rule::RDP_015;
  };
  Event event = Open(target().AnyEvent(), {.sample_period = 1'000});
  {
    const Ring first(event, 1);
    expect_pairs(1, 0);
    const Ring second(event, 1);
    expect_pairs(2, 0);
    EXPECT_THAT(Ring::TryMap(event, 2), FailsWith(EINVAL));
    Child forked([] { return 0; });
    ASSERT_EQ(forked.Run(), 0);
    expect_pairs(2, 0);
  }
  expect_pairs(2, 2);
  Child maps([&event] { return new Ring(event, 1) != nullptr ? 0 : 1; });  // its exit unmaps it
  ASSERT_EQ(maps.Run(), 0);
  expect_pairs(3, 3);
  const std::size_t size = 2 * PageSize();
  void* const base = mmap(nullptr, size, PROT_READ, MAP_SHARED, event.fd(), 0);
  void* const moved = MoveElsewhere(base, size);
  ASSERT_NE(moved, MAP_FAILED);
  expect_pairs(5, 4);
  event.Close();
  munmap(moved, size);
  expect_pairs(5, 5);
}

}  // namespace
}  // namespace pmuconf

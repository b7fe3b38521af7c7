// SPDX-License-Identifier: Apache-2.0
// A worker executes exactly the units that it is asked for. Single-stepping counts them.
#include "stimulus/work/work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "system/cpu.h"

namespace pmuconf {
namespace {

// Executes a plan one instruction at a time and returns their number. The last one is the system
// call. The step after it executes nothing: it delivers the SIGSTOP.
std::uint64_t Steps(Worker& worker, WorkKind kind, const WorkPlan& plan) {
  worker.Load(kind, plan);
  for (std::uint64_t steps = 0; steps < 100'000; ++steps) {
    if (ptrace(PTRACE_SINGLESTEP, worker.pid(), nullptr, nullptr) != 0) return 0;
    int status = 0;
    if (waitpid(worker.pid(), &status, __WALL) != worker.pid() || !WIFSTOPPED(status)) return 0;
    if (WSTOPSIG(status) == SIGSTOP) return steps;
  }
  return 0;
}

// Returns the address at which the stopped worker will continue, from its status in /proc.
std::uint64_t AddressOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/syscall");
  std::string line((std::istreambuf_iterator<char>(file)), {});
  return std::strtoull(line.substr(line.find_last_of(' ') + 1).c_str(), nullptr, 16);
}

TEST(Work, CommandExecutesExactlyThatManyInstructions) {
  Worker worker;
  for (std::uint64_t n = 1; n <= 300; ++n) {
    const auto plan = PlanWork(WorkKind::kInstructions, n);
    if (!plan) continue;
    EXPECT_EQ(Steps(worker, WorkKind::kInstructions, *plan), n);
  }
  EXPECT_EQ(Steps(worker, WorkKind::kInstructions, *PlanWork(WorkKind::kInstructions, 10'001)),
            10'001U);
}

TEST(Work, LoopsAndLaddersOfOtherKindsHaveKnownLength) {
  Worker worker;
  const auto steps = [&](WorkKind kind, std::uint64_t n) {
    return Steps(worker, kind, *PlanWork(kind, n));
  };
  // The system call; then per unit of the ladder one instruction, and per round two or three.
  EXPECT_EQ(steps(WorkKind::kBranches, 5), 6U);
  EXPECT_EQ(steps(WorkKind::kBranches, 64 + 10), 1U + 64 + 2 * 10);
  EXPECT_EQ(steps(WorkKind::kLoads, 5), 6U);
  EXPECT_EQ(steps(WorkKind::kLoads, 64 + 10), 1U + 64 + 3 * 10);
  EXPECT_EQ(steps(WorkKind::kStores, 64 + 10), 1U + 64 + 3 * 10);
  EXPECT_EQ(steps(WorkKind::kCalls, 5), 1U + 2 * 5);  // the call and the return
  EXPECT_EQ(steps(WorkKind::kCalls, 64 + 10), 1U + 2 * 64 + 4 * 10);
}

TEST(Work, LadderAddressesAreThoseOfTheUnits) {
  for (const WorkKind kind : {WorkKind::kInstructions, WorkKind::kLoads, WorkKind::kStores}) {
    const std::uint64_t size = LadderAddress(kind, 1) - LadderAddress(kind, 0);
    EXPECT_GT(size, 0U);
    EXPECT_EQ(LadderAddress(kind, kLadder) - LadderAddress(kind, 0), kLadder * size);
    Worker worker;
    worker.Load(kind, {0, 5});
    EXPECT_EQ(AddressOf(worker.pid()), LadderAddress(kind, kLadder - 5));
  }
}

TEST(Work, EveryNumberOfInstructionsHasOneOrTwoCommands) {
  EXPECT_EQ(PlanWork(WorkKind::kInstructions, 0), std::nullopt);
  EXPECT_EQ(PlanWork(WorkKind::kInstructions, 1), (WorkPlan{0, 0}));
  EXPECT_EQ(PlanWork(WorkKind::kInstructions, 65), (WorkPlan{0, 64}));
  EXPECT_EQ(PlanWork(WorkKind::kInstructions, 67), (WorkPlan{1, 64}));
  for (std::uint64_t n = 2; n < 1'000; ++n) {
    EXPECT_TRUE(PlanWork(WorkKind::kInstructions, n) || PlanWork(WorkKind::kInstructions, n - 1));
  }
  EXPECT_EQ(PlanWork(WorkKind::kLoads, 65), (WorkPlan{1, 64}));
}

TEST(Work, StepsAreSingleEventsUnlessTheyAreTooMany) {
  EXPECT_EQ(StepOfWork(1, 0), 1U);
  EXPECT_EQ(StepOfWork(3'999, 0), 1U);
  EXPECT_EQ(StepOfWork(1'000'000, 0), 500U);
  EXPECT_EQ(StepOfWork(3'999, 0, 16), 16U);
  EXPECT_EQ(StepOfWork(1'000'000, 0, 16), 500U);
  EXPECT_EQ(StepOfWork(10, 2), 3U);  // a command counts two events in addition to its units
}

// Runs in a child, since a thread leaves a CPU for good.
TEST(Work, CallerLeavesTheCpuOfItsEvents) {
  const std::vector<int> cpus = OnlineCpus();
  if (cpus.size() < 2) GTEST_SKIP() << "needs two CPUs";
  Child child([&] {
    Worker worker;
    LeaveCpu(cpus[0]);
    PinTo(cpus[0]);
    worker.Run(WorkKind::kStores, 10);
    cpu_set_t own, of_worker;
    if (sched_getaffinity(0, sizeof(own), &own) != 0) return 1;
    if (sched_getaffinity(worker.pid(), sizeof(of_worker), &of_worker) != 0) return 2;
    if (CPU_ISSET(cpus[0], &own) || !CPU_ISSET(cpus[1], &own)) return 3;
    if (!CPU_ISSET(cpus[0], &of_worker) || CPU_COUNT(&of_worker) != 1) return 4;
    return EventCpu() == cpus[0] ? 0 : 5;
  });
  child.Go();
  EXPECT_EQ(child.Wait(), 0);
}

TEST(Work, WorkerRunsAgainAndFollowsTheCallersCpu) {
  Worker worker;
  PinTo(OnlineCpus().back());
  for (const std::uint64_t n : {1U, 66U, 1'000U, 1'000'001U}) worker.Run(WorkKind::kStores, n);
  cpu_set_t cpus;
  ASSERT_EQ(sched_getaffinity(worker.pid(), sizeof(cpus), &cpus), 0);
  EXPECT_EQ(CPU_COUNT(&cpus), 1);
  EXPECT_TRUE(CPU_ISSET(OnlineCpus().back(), &cpus));
}

TEST(Work, NamesOfKindsAreReadBack) {
  for (const WorkKind kind : {WorkKind::kInstructions, WorkKind::kBranches, WorkKind::kLoads,
                              WorkKind::kStores, WorkKind::kCalls}) {
    EXPECT_EQ(WorkKindFromString(ToString(kind)), kind);
  }
  EXPECT_EQ(WorkKindFromString("flops"), std::nullopt);
}

}  // namespace
}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
#include "stimulus/work/work.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <string>

#include "stimulus/work/code.h"
#include "system/broken.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

// A round of the loop of instructions has two: it counts down and branches.
constexpr std::uint64_t kLoopInstructions = 2;

// The target of the loads and stores. The child has its own copy.
std::uint64_t the_memory = 0;

std::unique_ptr<Worker>& Started() {
  static std::unique_ptr<Worker> the_worker;
  return the_worker;
}

// Dies with the tracer. Becomes traceable, and stops until the tracer sets its registers.
[[noreturn]] void BecomeWorker() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  volatile std::uint64_t* const memory = &the_memory;
  *memory = 0;  // so that a store causes no page fault later
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) raise(SIGSTOP);
  _exit(1);
}

}  // namespace

std::optional<WorkPlan> PlanWork(WorkKind kind, std::uint64_t n) {
  if (kind != WorkKind::kInstructions) {
    if (n <= kLadder) return WorkPlan{0, static_cast<unsigned>(n)};
    return WorkPlan{n - kLadder, kLadder};
  }
  if (n == 0) return std::nullopt;
  const std::uint64_t before_call = n - 1;
  if (before_call <= kLadder) return WorkPlan{0, static_cast<unsigned>(before_call)};
  const std::uint64_t in_loop = before_call - kLadder;
  if (in_loop % kLoopInstructions != 0) return std::nullopt;
  return WorkPlan{in_loop / kLoopInstructions, kLadder};
}

std::uint64_t StepOfWork(std::uint64_t n, std::uint64_t extra, std::uint64_t least) {
  return std::max({n / kMostSteps, extra + 1, least});
}

Worker::Worker() : owner_(getpid()), pid_(fork()) {
  if (pid_ < 0) throw BrokenErrno("fork of the worker", errno);
  if (pid_ == 0) BecomeWorker();
  try {
    AwaitStop();
    if (ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_EXITKILL) != 0)
      throw BrokenErrno("ptrace of the worker", errno);
  } catch (const Broken&) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, __WALL);
    throw;
  }
}

Worker::~Worker() {
  if (!Mine()) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, __WALL);
}

void Worker::Run(WorkKind kind, std::uint64_t n, std::uint64_t extra) {
  if (!Mine()) throw Broken("the worker is a child of another process");
  if (n == 0) return;
  if (n <= extra) throw Broken("the worker cannot work that little: " + std::to_string(n));
  // The caller waits meanwhile. On its own CPU, nothing else runs: an emulator that counts the
  // instructions of all CPUs in each (QEMU with -icount) stays exact.
  PinTo(EventCpu());
  const std::uint64_t step = step_ ? StepOfWork(n, extra, *step_) : n;
  while (n >= 2 * step) {
    RunStep(kind, step, extra);
    n -= step;
  }
  RunStep(kind, n, extra);
}

// A number of instructions that one command cannot execute, two commands can.
void Worker::RunStep(WorkKind kind, std::uint64_t n, std::uint64_t extra) {
  if (const auto plan = PlanWork(kind, n - extra)) return Execute(kind, *plan);
  for (const std::uint64_t first : {1U, 2U}) {
    const auto plan = PlanWork(kind, n - extra - first - extra);
    if (!plan) continue;
    Execute(kind, *PlanWork(kind, first));
    return Execute(kind, *plan);
  }
  throw Broken("the worker cannot work exactly that much: " + std::to_string(n));
}

void Worker::Load(WorkKind kind, const WorkPlan& plan) {
  const int error = LoadWork(pid_, kind, plan, &the_memory);
  if (error != 0) throw BrokenErrno("registers of the worker", error);
}

void Worker::Execute(WorkKind kind, const WorkPlan& plan) {
  Load(kind, plan);
  if (ptrace(PTRACE_CONT, pid_, nullptr, nullptr) != 0)
    throw BrokenErrno("continuing the worker", errno);
  AwaitStop();
}

// The executor's deadline bounds the wait.
void Worker::AwaitStop() const {
  int status = 0;
  pid_t got = -1;
  do {
    got = waitpid(pid_, &status, __WALL);
  } while (got < 0 && errno == EINTR);
  if (got != pid_) throw BrokenErrno("waiting for the worker", errno);
  if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP) return;
  throw Broken(WIFSTOPPED(status)
                   ? "signal " + std::to_string(WSTOPSIG(status)) + " reached the worker"
                   : "the worker died (status " + std::to_string(status) + ")");
}

void Worker::PinTo(int cpu) {
  if (cpu == cpu_) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(pid_, sizeof(set), &set) != 0)
    throw BrokenErrno("sched_setaffinity of the worker", errno);
  cpu_ = cpu;
}

bool Worker::Mine() const { return getpid() == owner_; }

void StartWorker() {
  if (!Started()) Started() = std::make_unique<Worker>();
}

Worker* StartedWorker() {
  Worker* const worker = Started().get();
  return worker != nullptr && worker->Mine() ? worker : nullptr;
}

}  // namespace pmuconf

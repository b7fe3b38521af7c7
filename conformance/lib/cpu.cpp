// SPDX-License-Identifier: Apache-2.0
// CPUs and children.
#include "pmuconf/cpu.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include "lib/context.h"
#include "pmuconf/broken.h"
#include "pmuconf/sysfs.h"

namespace pmuconf {

std::vector<int> OnlineCpus() {
  const auto text = ReadFile("/sys/devices/system/cpu/online");
  const auto cpus = text ? ParseCpuList(*text) : std::nullopt;
  if (!cpus || cpus->empty()) throw Broken("/sys/devices/system/cpu/online lists no CPU");
  return *cpus;
}

void PinTo(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0) {
    throw BrokenErrno("pinning to CPU " + std::to_string(cpu), errno);
  }
}

int CurrentCpu() { return sched_getcpu(); }

namespace {

bool Schedule(int policy, int priority) {
  const sched_param param = {.sched_priority = priority};
  return sched_setscheduler(0, policy, &param) == 0;
}

// How often this thread lost its CPU while it had more to do.
long TakenAway() {
  rusage used = {};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nivcsw;
}

}  // namespace

Undisturbed::Undisturbed() : switches_(TakenAway()) {
  if (!Schedule(SCHED_FIFO, 1)) throw BrokenErrno("a priority above ordinary tasks", errno);
}

Undisturbed::~Undisturbed() {
  if (TakenAway() != switches_) context().disturbed = true;
  Schedule(SCHED_OTHER, 0);
}

void Undisturbed::Yield() {
  const long before = TakenAway();
  sched_yield();
  switches_ += TakenAway() - before;
}

Child::Child(const std::function<int()>& body) {
  int go[2];
  if (pipe2(go, O_CLOEXEC) != 0) throw BrokenErrno("pipe", errno);
  pid_ = fork();
  if (pid_ < 0) throw BrokenErrno("fork", errno);
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(go[1]);
    char byte = 0;
    if (read(go[0], &byte, 1) != 1) _exit(127);  // the parent went away
    int status = 126;
    try {
      status = body();
    } catch (const std::exception&) {
    }
    _exit(status);
  }
  close(go[0]);
  go_fd_ = go[1];
}

Child::~Child() {
  if (go_fd_ >= 0) close(go_fd_);
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Child::Go() {
  const char byte = 1;
  if (write(go_fd_, &byte, 1) != 1) throw BrokenErrno("telling the child to go", errno);
  close(go_fd_);
  go_fd_ = -1;
}

int Child::Wait() {
  int status = 0;
  pid_t reaped;
  do {
    reaped = waitpid(pid_, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  if (reaped < 0) throw BrokenErrno("waitpid", errno);
  pid_ = -1;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void Spin(double seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < until) {
  }
}

}  // namespace pmuconf

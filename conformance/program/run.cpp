// SPDX-License-Identifier: Apache-2.0
// The parent: waits for the process of a program, and ends it where it does not end by itself.
#include "program/run.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "pmuconf/broken.h"
#include "pmuconf/fd.h"
#include "program/child.h"

namespace pmuconf {
namespace {

constexpr double kKillLimit_s = 10;

// Where the process writes what came of each operation.
class Shared {
 public:
  Shared() {
    void* const at =
        mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw BrokenErrno("mmap", errno);
    outcomes_ = static_cast<Outcome*>(at);
  }
  Shared(const Shared&) = delete;
  ~Shared() { munmap(outcomes_, kSize); }
  Outcome* get() const { return outcomes_; }

 private:
  static constexpr std::size_t kSize = kProgramSteps * sizeof(Outcome);
  Outcome* outcomes_ = nullptr;
};

void Nothing(int) {}

[[noreturn]] void RunHere(const ProgramMachine& machine, const Program& program,
                          const RunOptions& options, Outcome* outcomes) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Events may send them; they must neither end it nor be missed by the kernel.
  for (const int number : {SIGTRAP, SIGIO}) signal(number, Nothing);
  ProgramChild child(machine, options.cpus);
  options.begin();
  for (std::size_t i = 0; i < program.steps.size(); ++i) outcomes[i] = child.Do(program.steps[i]);
  options.end();
  child.End();
  _exit(0);
}

bool EndsWithin(int pidfd, double limit_s) {
  pollfd waited = {pidfd, POLLIN, 0};
  return poll(&waited, 1, static_cast<int>(limit_s * 1e3)) == 1;
}

}  // namespace

bool Ended::Good() const {
  return !hung && std::none_of(outcomes.begin(), outcomes.end(),
                               [](const Outcome& outcome) { return outcome.Mismatch(); });
}

Ended RunProgram(const ProgramMachine& machine, const Program& program, const RunOptions& options) {
  const Shared shared;
  const pid_t pid = fork();
  if (pid < 0) throw BrokenErrno("fork", errno);
  if (pid == 0) RunHere(machine, program, options, shared.get());
  const Fd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (pidfd.get() < 0) throw BrokenErrno("pidfd_open", errno);
  Ended ended;
  ended.hung = !EndsWithin(pidfd.get(), options.limit_s);
  if (ended.hung) {
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    ended.stuck = !EndsWithin(pidfd.get(), kKillLimit_s);
  }
  if (!ended.stuck) waitpid(pid, nullptr, 0);
  ended.outcomes.assign(shared.get(), shared.get() + program.steps.size());
  return ended;
}

}  // namespace pmuconf

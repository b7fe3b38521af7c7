// SPDX-License-Identifier: Apache-2.0
// The parent: hands programs to their process, waits for what came of them, and ends it where it
// does not answer.
#include "program/run.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <utility>

#include "pmuconf/broken.h"
#include "pmuconf/fd.h"
#include "program/child.h"

namespace pmuconf {
namespace {

constexpr double kKillLimit_s = 10;

// What the parent asks for; the process answers with the same.
constexpr char kRun = 'r';
constexpr char kRunAndExit = 'x';

}  // namespace

// Where the process finds a program, and writes what came of each operation.
struct ProgramProcess::Shared {
  std::size_t size;
  std::uint8_t bytes[kProgramSteps * kStepBytes];
  std::size_t steps;
  Outcome outcomes[kProgramSteps];
};

class ProgramProcess::Running {
 public:
  explicit Running(ProgramProcess& owner) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw BrokenErrno("socketpair", errno);
    }
    socket_.Reset(ends[0]);
    Fd other(ends[1]);
    pid_ = fork();
    if (pid_ < 0) throw BrokenErrno("fork", errno);
    if (pid_ == 0) {
      socket_.Reset();
      Serve(owner, other.get());
    }
    pidfd_.Reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (pidfd_.get() < 0) {
      const int error = errno;
      End();
      throw BrokenErrno("pidfd_open", error);
    }
  }
  Running(const Running&) = delete;

  // Whether it answered, or ended, in time.
  bool Ask(char what, double limit_s) {
    const bool asked = send(socket_.get(), &what, 1, MSG_NOSIGNAL) == 1;
    if (asked && what == kRun && Readable(socket_, limit_s) &&
        recv(socket_.get(), &what, 1, 0) == 1) {
      return true;
    }
    // It is to exit, or does so already: its end of the socket is closed before it is gone.
    return Gone(limit_s);
  }

  bool ended() const { return pid_ < 0; }

  // Whether it went when it was killed.
  bool End() {
    if (ended()) return true;
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    return Gone(kKillLimit_s);
  }

 private:
  static bool Readable(const Fd& fd, double limit_s) {
    pollfd waited = {fd.get(), POLLIN, 0};
    return poll(&waited, 1, static_cast<int>(limit_s * 1e3)) == 1;
  }

  // Whether it has ended within that time; then nothing is left of it.
  bool Gone(double limit_s) {
    if (pidfd_.get() >= 0 && !Readable(pidfd_, limit_s)) return false;
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
    return true;
  }

  [[noreturn]] static void Serve(ProgramProcess& owner, int socket) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Shared& shared = *owner.shared_;
    char what = 0;
    while (recv(socket, &what, 1, 0) == 1) {
      {
        ProgramChild child(owner.machine_, owner.options_.cpus);
        const Program program = owner.decode_({shared.bytes, shared.size});
        shared.steps = program.steps.size();
        owner.options_.begin();
        for (std::size_t i = 0; i < shared.steps; ++i) {
          shared.outcomes[i] = child.Do(program.steps[i]);
        }
        owner.options_.end();
        child.End();
        if (what == kRunAndExit) _exit(0);
      }
      if (send(socket, &what, 1, MSG_NOSIGNAL) != 1) break;
    }
    _exit(0);
  }

  pid_t pid_ = -1;
  Fd socket_, pidfd_;
};

bool Ended::Good() const {
  return !hung && std::none_of(outcomes.begin(), outcomes.end(),
                               [](const Outcome& outcome) { return outcome.Mismatch(); });
}

ProgramProcess::ProgramProcess(const ProgramMachine& machine, Decode decode, RunOptions options)
    : machine_(machine), decode_(std::move(decode)), options_(std::move(options)) {
  void* const at =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw BrokenErrno("mmap", errno);
  shared_ = static_cast<Shared*>(at);
}

ProgramProcess::~ProgramProcess() {
  Kill();
  munmap(shared_, sizeof(Shared));
}

Ended ProgramProcess::Run(std::span<const std::uint8_t> bytes, bool last) {
  shared_->size = std::min(bytes.size(), sizeof(shared_->bytes));
  std::copy_n(bytes.begin(), shared_->size, shared_->bytes);
  shared_->steps = 0;
  std::fill_n(shared_->outcomes, kProgramSteps, Outcome{});
  if (!running_) running_ = std::make_unique<Running>(*this);
  Ended ended;
  ended.hung = !running_->Ask(last ? kRunAndExit : kRun, options_.limit_s);
  if (ended.hung) {
    ended.stuck = !Kill();
  } else if (running_->ended()) {
    running_.reset();
  }
  ended.outcomes.assign(shared_->outcomes, shared_->outcomes + shared_->steps);
  return ended;
}

bool ProgramProcess::Kill() {
  const bool ended = !running_ || running_->End();
  running_.reset();
  return ended;
}

Ended RunProgram(const ProgramMachine& machine, const Program& program, const RunOptions& options) {
  return ProgramProcess(
             machine, [&program](std::span<const std::uint8_t>) { return program; }, options)
      .Run({}, true);
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// The parent: passes programs to their process, waits for the results, and kills a process that
// does not answer.
#include "tools/repro/run.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <utility>

#include "system/broken.h"
#include "system/fd.h"
#include "tools/repro/checks.h"
#include "tools/repro/child.h"

namespace pmuconf {
namespace {

constexpr double kKillLimit_s = 10;

// Commands of the parent. The process confirms a command with the same letter.
constexpr char kRun = 'r';
constexpr char kRunAndExit = 'x';

}  // namespace

// Shared memory: the parent writes a program, the process writes the result of each operation.
struct ProgramProcess::Shared {
  std::size_t size;
  std::uint8_t bytes[kProgramSteps * kStepBytes];
  std::size_t steps;
  const char* wrong;
  Outcome outcomes[kProgramTextSteps];
};

// The helper process that creates processes. They become children of the process that owns this
// object (CLONE_PARENT).
class ProgramProcess::Forker {
 public:
  explicit Forker(const ProgramProcess& owner) {
    Fd other = Pair(socket_);
    pid_ = fork();
    if (pid_ < 0) throw BrokenErrno("fork", errno);
    if (pid_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    socket_.Reset();
    Loop(owner, other);
  }
  Forker(const Forker&) = delete;
  ~Forker() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  // Creates a process that serves the other end of `socket`.
  pid_t Make(Fd& socket) const {
    const Fd other = Pair(socket);
    pid_t pid = -1;
    if (!Send(socket_, other) || recv(socket_.get(), &pid, sizeof(pid), 0) != sizeof(pid)) {
      throw Broken("the helper process has exited");
    }
    if (pid < 0) throw BrokenErrno("clone", -pid);
    return pid;
  }

 private:
  // Stores one end of a new socket pair in `mine` and returns the other.
  static Fd Pair(Fd& mine) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
      throw BrokenErrno("socketpair", errno);
    }
    mine.Reset(ends[0]);
    return Fd(ends[1]);
  }

  // A one-byte message that carries a file descriptor.
  struct FdMessage {
    char byte = 0;
    iovec part = {&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header = {};
    FdMessage() {
      header.msg_iov = &part;
      header.msg_iovlen = 1;
      header.msg_control = control;
      header.msg_controllen = sizeof(control);
    }
    FdMessage(const FdMessage&) = delete;
  };

  static bool Send(const Fd& to, const Fd& file) {
    FdMessage message;
    cmsghdr* const item = CMSG_FIRSTHDR(&message.header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int));
    const int fd = file.get();
    std::memcpy(CMSG_DATA(item), &fd, sizeof(fd));
    return sendmsg(to.get(), &message.header, MSG_NOSIGNAL) == 1;
  }

  // Returns a closed Fd at the end of the connection.
  static Fd Receive(const Fd& from) {
    FdMessage message;
    int fd = -1;
    if (recvmsg(from.get(), &message.header, MSG_CMSG_CLOEXEC) != 1) return Fd();
    const cmsghdr* const item = CMSG_FIRSTHDR(&message.header);
    if (item == nullptr) return Fd();
    std::memcpy(&fd, CMSG_DATA(item), sizeof(fd));
    return Fd(fd);
  }

  [[noreturn]] static void Loop(const ProgramProcess& owner, Fd& requests) {
    for (Fd socket = Receive(requests); socket.get() >= 0; socket = Receive(requests)) {
      // CLONE_PARENT: the owner of this object gets SIGCHLD and can wait for the process.
      const long new_pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, 0);
      if (new_pid == 0) {
        requests.Reset();
        owner.Loop(socket.get());
      }
      const pid_t pid = new_pid < 0 ? -errno : static_cast<pid_t>(new_pid);
      // The end of the new process must close the connection.
      socket.Reset();
      if (send(requests.get(), &pid, sizeof(pid), MSG_NOSIGNAL) != sizeof(pid)) break;
    }
    _exit(0);
  }

  Fd socket_;
  pid_t pid_ = -1;
};

class ProgramProcess::Running {
 public:
  Running(const Forker& forker, const volatile std::sig_atomic_t* stop)
      : stop_(stop), pid_(forker.Make(socket_)) {
    pidfd_.Reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (pidfd_.get() < 0) {
      const int error = errno;
      End();
      throw BrokenErrno("pidfd_open", error);
    }
  }
  Running(const Running&) = delete;

  // Sends a command. Returns whether the process answered or ended within `limit_s`.
  bool Command(char what, double limit_s) {
    const bool sent = send(socket_.get(), &what, 1, MSG_NOSIGNAL) == 1;
    if (sent && what == kRun && Readable(socket_, limit_s) &&
        recv(socket_.get(), &what, 1, 0) == 1) {
      return true;
    }
    if (stop_ != nullptr && *stop_ != 0) return false;
    // The process exits after this command, or is exiting. Its socket closes before the process is
    // gone.
    return WaitForExit(limit_s);
  }

  bool has_exited() const { return pid_ < 0; }
  pid_t pid() const { return pid_; }
  int died_of() const { return died_of_; }

  // Kills the process; returns whether it ended.
  bool End() {
    if (has_exited()) return true;
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    return WaitForExit(kKillLimit_s);
  }

 private:
  bool Readable(const Fd& fd, double limit_s) const {
    pollfd waited = {fd.get(), POLLIN, 0};
    const int limit_ms = static_cast<int>(limit_s * 1e3);
    int ready = poll(&waited, 1, limit_ms);
    while (ready < 0 && errno == EINTR && (stop_ == nullptr || *stop_ == 0)) {
      ready = poll(&waited, 1, limit_ms);
    }
    return ready == 1;
  }

  // Returns whether the process ended within `limit_s`, and reaps it.
  bool WaitForExit(double limit_s) {
    if (pidfd_.get() >= 0 && !Readable(pidfd_, limit_s)) return false;
    int status = 0;
    waitpid(pid_, &status, 0);
    died_of_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    pid_ = -1;
    return true;
  }

  const volatile std::sig_atomic_t* stop_;
  int died_of_ = 0;
  Fd socket_, pidfd_;
  pid_t pid_ = -1;
};

bool RunResult::Passed() const {
  return !hung && wrong == nullptr &&
         std::none_of(outcomes.begin(), outcomes.end(), [](const Outcome& outcome) {
           return outcome.Mismatch() || outcome.wrong != nullptr;
         });
}

void ProgramProcess::Loop(int socket) const {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  ProgramExecutor child(machine_, options_.cpus);
  // The owner may hold some.
  const std::size_t open = CountOpenEvents();
  char what = 0;
  while (recv(socket, &what, 1, 0) == 1) {
    const Program program = decode_({shared_->bytes, shared_->size});
    shared_->steps = program.steps.size();
    options_.begin();
    child.DoAll(program.steps, shared_->outcomes);
    options_.end();
    if (what == kRunAndExit) break;
    if (options_.audit) shared_->wrong = child.CountsWhileDisabled();
    child.Undo();
    if (options_.audit && shared_->wrong == nullptr && CountOpenEvents() > open) {
      shared_->wrong = "a descriptor of an event is open after close(2)";
    }
    if (send(socket, &what, 1, MSG_NOSIGNAL) != 1) break;
  }
  child.End();
  _exit(0);
}

ProgramProcess::ProgramProcess(const ProgramMachine& machine, Decode decode, RunOptions options)
    : machine_(machine), decode_(std::move(decode)), options_(std::move(options)) {
  void* const at =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw BrokenErrno("mmap", errno);
  shared_ = static_cast<Shared*>(at);
  forker_ = std::make_unique<Forker>(*this);
}

ProgramProcess::~ProgramProcess() {
  Kill();
  munmap(shared_, sizeof(Shared));
}

RunResult ProgramProcess::Run(std::span<const std::uint8_t> bytes, bool last) {
  shared_->size = std::min(bytes.size(), sizeof(shared_->bytes));
  std::copy_n(bytes.begin(), shared_->size, shared_->bytes);
  shared_->steps = 0;
  shared_->wrong = nullptr;
  std::fill_n(shared_->outcomes, kProgramTextSteps, Outcome{});
  if (!running_) running_ = std::make_unique<Running>(*forker_, options_.stop);
  RunResult result;
  result.pid = running_->pid();
  result.hung = !running_->Command(last ? kRunAndExit : kRun, options_.limit_s);
  if (result.hung) {
    result.stuck = !Kill();
  } else if (running_->has_exited()) {
    result.died_of = running_->died_of();
    running_.reset();
  }
  result.wrong = shared_->wrong;
  result.outcomes.assign(shared_->outcomes, shared_->outcomes + shared_->steps);
  return result;
}

bool ProgramProcess::Kill() {
  const bool result = !running_ || running_->End();
  running_.reset();
  return result;
}

RunResult RunProgram(const ProgramMachine& machine, const Program& program,
                     const RunOptions& options) {
  return ProgramProcess(
             machine, [&program](std::span<const std::uint8_t>) { return program; }, options)
      .Run({}, !options.audit);
}

}  // namespace pmuconf

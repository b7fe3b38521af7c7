// SPDX-License-Identifier: Apache-2.0
// fork, exec, poll on a pidfd and a pipe, kill by process group.
#include "harness/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <sstream>
#include <string>

#include "harness/budget.h"
#include "system/broken.h"
#include "system/fd.h"
#include "system/sysfs.h"

namespace pmuconf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kGrace_s = 5.0;  // until a killed process must have ended

struct Pipe {
  Fd read_end;
  Fd write_end;
};

Pipe MakePipe() {
  constexpr int kSize = 1 << 20;  // the largest that any user may set by default
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw BrokenErrno("pipe", errno);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  fcntl(ends[0], F_SETPIPE_SZ, kSize);  // if it fails, a full pipe delays the program
  return {Fd(ends[0]), Fd(ends[1])};
}

// Makes only calls that are safe between fork and exec.
[[noreturn]] void Exec(char* const* argv, const std::array<int, 3>& outputs, Urgency urgency) {
  setpgid(0, 0);
  const sched_param priority = {.sched_priority = 1};
  if (urgency == Urgency::kUrgent) sched_setscheduler(0, SCHED_FIFO, &priority);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A pipe may already have one of the target descriptors, so move all of them out of the way
  // first.
  std::array<int, 3> high;
  for (std::size_t i = 0; i < outputs.size(); ++i) high[i] = fcntl(outputs[i], F_DUPFD, 16);
  const int null_fd = open("/dev/null", O_RDONLY);
  dup2(null_fd, STDIN_FILENO);
  dup2(high[0], STDOUT_FILENO);
  dup2(high[1], STDERR_FILENO);
  dup2(high[2], kResultFd);
  syscall(SYS_close_range, kResultFd + 1, ~0U, 0);
  execvp(argv[0], argv);
  const char* const reason = std::strerror(errno);
  (void)!write(STDERR_FILENO, argv[0], std::strlen(argv[0]));
  (void)!write(STDERR_FILENO, ": ", 2);
  (void)!write(STDERR_FILENO, reason, std::strlen(reason));
  _exit(127);
}

// Reads all available data; returns false at the end of the pipe.
bool Drain(int fd, std::string* to) {
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n == 0) return false;
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    const std::size_t capacity = kOutputLimit - to->size();
    to->append(buffer.data(), std::min(static_cast<std::size_t>(n), capacity));
  }
}

// Reads the times of a process that has ended and is not yet reaped.
void ReadTimes(pid_t pid, ProcessResult* result) {
  constexpr double kNsPerSecond = 1e9;
  std::istringstream times(ReadFile("/proc/" + std::to_string(pid) + "/schedstat").value_or(""));
  double ran_ns = 0, waited_ns = 0;
  if (!(times >> ran_ns >> waited_ns)) return;
  result->ran_s = ran_ns / kNsPerSecond;
  result->waited_s = waited_ns / kNsPerSecond;
}

double Seconds(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

}  // namespace

ProcessResult RunProcess(const std::vector<std::string>& argv, double deadline_s, Urgency urgency) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  ProcessResult result;
  std::array<Pipe, 3> pipes = {MakePipe(), MakePipe(), MakePipe()};
  const std::array<std::string*, 3> texts = {&result.out, &result.err, &result.result};
  const auto start = Clock::now();
  const pid_t pid = fork();
  if (pid < 0) throw BrokenErrno("fork", errno);
  if (pid == 0) {
    Exec(arguments.data(),
         {pipes[0].write_end.get(), pipes[1].write_end.get(), pipes[2].write_end.get()}, urgency);
  }
  result.pid = pid;
  setpgid(pid, pid);  // also in the child, because either of the two may run first
  for (Pipe& pipe : pipes) pipe.write_end.Reset();
  const Fd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));

  // Output does not wake this process: its page faults would count for an event of that CPU.
  std::array<pollfd, 2> fds = {pollfd{pidfd.get(), POLLIN, 0},
                               pollfd{pipes[2].read_end.get(), POLLIN, 0}};
  Budget budget(deadline_s);
  while (true) {
    const auto before = Clock::now();
    poll(fds.data(), fds.size(), budget.WaitMs());
    budget.Charge(Seconds(before));
    for (std::size_t i = 0; i < 2; ++i) Drain(pipes[i].read_end.get(), texts[i]);
    if (fds[1].fd >= 0 && !Drain(fds[1].fd, texts[2])) fds[1].fd = -1;
    if (fds[0].revents & POLLIN) break;
    if (!budget.over()) continue;
    if (result.timed_out) {
      result.unkillable = true;
      result.duration_s = Seconds(start);
      return result;
    }
    result.timed_out = true;
    kill(-pid, SIGKILL);
    budget = Budget(kGrace_s);
  }
  result.duration_s = Seconds(start);
  ReadTimes(pid, &result);
  // Kills remaining children. The process is not yet reaped, so its number cannot be reused.
  kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  for (std::size_t i = 0; i < texts.size(); ++i) Drain(pipes[i].read_end.get(), texts[i]);
  result.signalled = WIFSIGNALED(status);
  result.status = result.signalled ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace pmuconf

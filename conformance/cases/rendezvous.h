// SPDX-License-Identifier: Apache-2.0
// Synchronizes two processes of a case: one reports that it has reached a point and waits, the
// other lets it continue.
#ifndef PMUCONF_CASES_RENDEZVOUS_H_
#define PMUCONF_CASES_RENDEZVOUS_H_

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "cases/common.h"

namespace pmuconf {

// Two pipes, created before the fork. No process polls: each one sleeps until the other has
// written.
class Rendezvous {
 public:
  Rendezvous() {
    if (pipe2(reached_, O_CLOEXEC) != 0 || pipe2(go_on_, O_CLOEXEC) != 0) throw Broken("pipe");
  }
  Rendezvous(const Rendezvous&) = delete;
  ~Rendezvous() {
    for (const int fd : {reached_[0], reached_[1], go_on_[0], go_on_[1]}) close(fd);
  }
  void ReportAndWait() const { Write(reached_[1]), Read(go_on_[0]); }  // called by the child
  void WaitUntilReached() const { Read(reached_[0]); }                 // called by the parent
  void Continue() const { Write(go_on_[1]); }                          // called by the parent

  // Replaces this process by a shell that reports, waits, and then runs the rest of `script`, with
  // `argument` as $0.
  int ExecShell(const char* script, const char* argument) const {
    if (dup2(go_on_[0], STDIN_FILENO) < 0 || dup2(reached_[1], STDOUT_FILENO) < 0) return 125;
    execl("/bin/sh", "sh", "-c", script, argument, nullptr);
    return 125;
  }
  static constexpr const char* kReportAndWait = "echo; read go";
  void ContinueShell() const { Write(go_on_[1], '\n'); }  // called by the parent

 private:
  static void Write(int fd, char byte = 'x') {
    if (write(fd, &byte, 1) != 1) throw Broken("rendezvous");
  }
  static void Read(int fd) {
    char byte = 0;
    if (read(fd, &byte, 1) != 1) throw Broken("rendezvous");
  }
  int reached_[2];
  int go_on_[2];
};

// Waits at most five seconds until the task of this stat file in /proc is in `state`: 'S' sleeping,
// 'Z' zombie.
inline bool AwaitState(const std::string& stat, char state) {
  return RepeatUntil([] { sched_yield(); },
                     [&] {
                       const std::optional<std::string> text = ReadFile(stat);
                       return text && text->find(std::string(") ") + state) != std::string::npos;
                     });
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_RENDEZVOUS_H_

// SPDX-License-Identifier: Apache-2.0
// Watches for some time or during a command, and prints the results.
#include "tools/watch/command.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>

#include "target/target.h"
#include "tools/watch/report.h"
#include "tools/watch/watcher.h"

namespace pmuconf {
namespace {

constexpr int kNotFound = 127;

sigset_t EndingSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&set, signal);
  return set;
}

pid_t Start(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw ConfigError(std::string("no process: ") + std::strerror(errno));
  if (pid > 0) return pid;
  const sigset_t set = EndingSignals();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  execvp(argv[0], argv.data());
  std::cerr << "pmuconf: " << command[0] << ": " << std::strerror(errno) << std::endl;
  _exit(kNotFound);
}

// Waits for a signal that ends the watch, at most `seconds`.
void Await(const std::optional<double>& seconds) {
  const sigset_t set = EndingSignals();
  if (!seconds) {
    while (sigwaitinfo(&set, nullptr) < 0 && errno == EINTR) continue;
    return;
  }
  timespec timeout = {};
  timeout.tv_sec = static_cast<time_t>(*seconds);
  timeout.tv_nsec = static_cast<long>((*seconds - static_cast<double>(timeout.tv_sec)) * 1e9);
  while (sigtimedwait(&set, nullptr, &timeout) < 0 && errno == EINTR) continue;
}

}  // namespace

int Watch(const WatchOptions& options) {
  std::ofstream json;
  if (!options.json.empty()) {
    json.open(options.json);
    if (!json) throw ConfigError(options.json + ": cannot be written");
  }
  const sigset_t set = EndingSignals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const Watcher watcher(options.pmu, options.event, options.btf);
  const pid_t child = options.command.empty() ? -1 : Start(options.command);
  if (child < 0) std::cerr << "watching " << options.pmu << "; Ctrl-C ends it" << std::endl;
  Await(options.seconds);
  const Watched watched = watcher.Results();
  bool not_run = false;
  if (child > 0) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == 0) {
      kill(child, SIGTERM);
      waitpid(child, &status, 0);
    }
    not_run = WIFEXITED(status) && WEXITSTATUS(status) == kNotFound;
  }
  std::cout << WatchText(watched);
  std::cout.flush();
  if (!options.json.empty()) {
    json << WatchJson(watched);
    json.close();
    if (!json) throw ConfigError(options.json + ": cannot be written");
  }
  if (not_run) return 2;
  return watched.breaches.empty() ? 0 : 1;
}

}  // namespace pmuconf

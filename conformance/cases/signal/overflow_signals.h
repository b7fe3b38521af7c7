// SPDX-License-Identifier: Apache-2.0
// Overflow signals of an event, which a case takes from the queue without a handler.
#ifndef PMUCONF_CASES_SIGNAL_OVERFLOW_SIGNALS_H_
#define PMUCONF_CASES_SIGNAL_OVERFLOW_SIGNALS_H_

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <vector>

#include "harness/case.h"

namespace pmuconf {

// Sends `signal` to the thread `owner` at each overflow of `event`. Blocks the signal in the
// calling thread, so that it stays queued until Drain().
class OverflowSignals {
 public:
  OverflowSignals(const Event& event, pid_t owner, int signal) {
    sigemptyset(&set_);
    sigaddset(&set_, signal);
    const f_owner_ex thread = {F_OWNER_TID, owner};
    if (sigprocmask(SIG_BLOCK, &set_, nullptr) != 0 ||
        fcntl(event.fd(), F_SETOWN_EX, &thread) != 0 || fcntl(event.fd(), F_SETSIG, signal) != 0 ||
        fcntl(event.fd(), F_SETFL, O_ASYNC) != 0) {
      throw Broken("cannot ask for overflow signals");
    }
  }

  // Returns all signals that are queued for the calling thread.
  std::vector<siginfo_t> Drain() const {
    std::vector<siginfo_t> signals;
    const timespec at_once = {};
    siginfo_t info = {};
    while (sigtimedwait(&set_, &info, &at_once) > 0) signals.push_back(info);
    return signals;
  }

 private:
  sigset_t set_ = {};
};

}  // namespace pmuconf

#endif  // PMUCONF_CASES_SIGNAL_OVERFLOW_SIGNALS_H_

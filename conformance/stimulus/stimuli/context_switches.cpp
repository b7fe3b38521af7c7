// SPDX-License-Identifier: Apache-2.0
// Context switches: this thread and a partner thread take turns on one CPU.
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <thread>

#include "stimulus/stimuli.h"
#include "system/broken.h"
#include "system/cpu.h"
#include "system/fd.h"

namespace pmuconf {
namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw BrokenErrno("pipe", errno);
    from = Fd(ends[0]);
    to = Fd(ends[1]);
  }
  bool Send() const {
    const char byte = 1;
    return write(to.get(), &byte, 1) == 1;
  }
  bool Receive() const {
    char byte = 0;
    return read(from.get(), &byte, 1) == 1;
  }
  Fd from, to;
};

}  // namespace

// Both threads have the same real-time priority, so neither preempts the other. A write does not
// switch; only a read from an empty pipe does, once per round and thread. The partner has ended
// before this thread runs for the last time, so join() does not block.
void SwitchContexts(std::uint64_t n) {
  if (n == 0) return;
  PinTo(CurrentCpu());
  std::unique_ptr<NoPreemption> priority;
  if (sched_getscheduler(0) != SCHED_FIFO) priority = std::make_unique<NoPreemption>();
  const Pipe there, back;
  std::thread partner([&] {
    for (std::uint64_t i = 0; i < n; ++i) {
      if (!there.Receive() || !back.Send()) return;
    }
  });
  std::uint64_t done = 0;
  while (done < n && there.Send() && back.Receive()) ++done;
  partner.join();
  if (done != n) throw BrokenErrno("handing over the CPU", errno);
}

}  // namespace pmuconf

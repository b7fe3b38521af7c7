// SPDX-License-Identifier: Apache-2.0
// Checks the callbacks of a live PMU's driver with BPF programs (bpf/watch.bpf.c). It works with
// any driver, without a rebuild or knowledge of its functions.
#ifndef PMUCONF_TOOLS_WATCH_WATCHER_H_
#define PMUCONF_TOOLS_WATCH_WATCHER_H_

#include <memory>
#include <string>

#include "tools/watch/report.h"

namespace pmuconf {

class Watcher {
 public:
  // Starts to watch `pmu` (its name in sysfs).
  // `event` selects any event that can be opened: a name in the PMU's directory `events`, or terms
  // ("event=0x3c,umask=1"). Empty: the first event that opens. `btf` is a file with the types of
  // this kernel. Empty: /sys/kernel/btf/vmlinux.
  // Throws ConfigError if there is no such PMU or event, if this kernel or user cannot watch it, or
  // if the types are not those of this kernel.
  Watcher(const std::string& pmu, const std::string& event, const std::string& btf);
  Watcher(const Watcher&) = delete;
  ~Watcher();

  Watched Results() const;  // since the constructor

 private:
  class Programs;
  std::unique_ptr<Programs> programs_;
};

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_WATCH_WATCHER_H_

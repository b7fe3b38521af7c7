// SPDX-License-Identifier: Apache-2.0
// Looks at the callbacks of a live PMU's driver with BPF programs (bpf/watch.bpf.c), from outside:
// nothing of the driver is rebuilt or known beforehand.
#ifndef PMUCONF_WATCH_WATCHER_H_
#define PMUCONF_WATCH_WATCHER_H_

#include <memory>
#include <string>

#include "watch/report.h"

namespace pmuconf {

class Watcher {
 public:
  // Begins to watch `pmu` (its name in sysfs). `event`: a name of its events folder, or terms
  // ("event=0x3c,umask=1"), of any event that it opens; empty: the first that can be opened.
  // `btf`: a file with this kernel's types; empty: the kernel has them itself.
  // ConfigError if there is no such PMU or event, this kernel or user cannot watch it, or the types
  // are not this kernel's.
  Watcher(const std::string& pmu, const std::string& event, const std::string& btf);
  Watcher(const Watcher&) = delete;
  ~Watcher();

  Watched Seen() const;  // since it began

 private:
  class Programs;
  std::unique_ptr<Programs> programs_;
};

}  // namespace pmuconf

#endif  // PMUCONF_WATCH_WATCHER_H_

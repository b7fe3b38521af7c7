// SPDX-License-Identifier: Apache-2.0
// pmuconf watch.
#ifndef PMUCONF_TOOLS_WATCH_COMMAND_H_
#define PMUCONF_TOOLS_WATCH_COMMAND_H_

#include <optional>
#include <string>
#include <vector>

namespace pmuconf {

struct WatchOptions {
  std::string pmu;
  std::string event;
  std::string btf;  // file with the kernel's types (BTF); empty: /sys/kernel/btf/vmlinux
  std::optional<double> seconds;     // none: until the command ends or an interrupt arrives
  std::string json;                  // output file for the results
  std::vector<std::string> command;  // runs while the programs watch
};

// Returns the exit status: 0 no breach, 1 a breach, 2 the command could not run.
int Watch(const WatchOptions& options);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_WATCH_COMMAND_H_

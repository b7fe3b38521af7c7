// SPDX-License-Identifier: Apache-2.0
// pmuconf watch.
#ifndef PMUCONF_WATCH_COMMAND_H_
#define PMUCONF_WATCH_COMMAND_H_

#include <optional>
#include <string>
#include <vector>

namespace pmuconf {

struct WatchOptions {
  std::string pmu;
  std::string event;
  std::string btf;                   // file with the kernel's types; empty: it has them itself
  std::optional<double> seconds;     // none: until the command ends, or an interrupt
  std::string json;                  // file for the figures
  std::vector<std::string> command;  // what runs meanwhile
};

// Exit status: 0 nothing seen, 1 a breach, 2 the command could not be run.
int Watch(const WatchOptions& options);

}  // namespace pmuconf

#endif  // PMUCONF_WATCH_COMMAND_H_

// SPDX-License-Identifier: Apache-2.0
// The agent in the guest: executes the commands of the channel (docs/formats.md, "The
// channel").
#ifndef PMUCONF_HARNESS_AGENT_H_
#define PMUCONF_HARNESS_AGENT_H_

#include <string>

namespace pmuconf {

// Serves commands until `bye` or the end of the channel, and returns the exit status. Throws Broken
// if it cannot open the channel. `others`: tasks that do not belong to the suite may run here, so
// the executor watches them.
int RunAgent(const std::string& target_path, const std::string& channel, bool others);

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_AGENT_H_

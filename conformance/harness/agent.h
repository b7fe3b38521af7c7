// SPDX-License-Identifier: Apache-2.0
// The agent in the guest: executes the commands of the channel (docs/architecture.md, "The
// channel").
#ifndef PMUCONF_HARNESS_AGENT_H_
#define PMUCONF_HARNESS_AGENT_H_

#include <string>

namespace pmuconf {

// Serves commands until `bye` or the end of the channel, and returns the exit status. Throws Broken
// if it cannot open the channel.
int RunAgent(const std::string& target_path, const std::string& channel);

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_AGENT_H_

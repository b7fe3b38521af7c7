// SPDX-License-Identifier: Apache-2.0
// The guest's agent: executes the channel's commands (docs/architecture.md, "The channel").
#ifndef PMUCONF_LIB_AGENT_H_
#define PMUCONF_LIB_AGENT_H_

#include <string>

namespace pmuconf {

// Serves until `bye` or the end of the channel. Returns the exit status; throws Broken if the
// channel cannot be opened.
int Serve(const std::string& target_path, const std::string& channel);

}  // namespace pmuconf

#endif  // PMUCONF_LIB_AGENT_H_

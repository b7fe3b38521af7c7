// SPDX-License-Identifier: Apache-2.0
// A recorded run: what the host wrote down (docs/architecture.md, "The stream").
#ifndef PMUCONF_REPORT_STREAM_H_
#define PMUCONF_REPORT_STREAM_H_

#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"

namespace pmuconf {

// How a problem begins that is a report of the kernel.
inline constexpr std::string_view kKernelLog = "kernel log: ";

struct Stream {
  std::string target;   // name
  std::string kernel;   // as it was asked for: "6.12"
  std::string release;  // as the guest told it: "6.12.117+deb12-cloud-amd64"
  std::string arch;
  std::string profile;  // "" for the whole catalogue
  std::vector<std::string> selected;
  bool partial = false;               // less than the profile was asked for
  std::vector<CaseResult> results;    // in the order they came
  std::vector<std::string> problems;  // kernel reports, unload failures
  std::string unseen;  // why what the kernel complains about would go unseen; "": it would not
  bool ended = false;
};

// Throws ConfigError naming file and line. A last line that is cut short is left out (the stream
// then has no end either).
Stream ParseStream(std::string_view text, const std::string& path);
Stream LoadStream(const std::string& path);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_STREAM_H_

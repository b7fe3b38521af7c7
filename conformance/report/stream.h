// SPDX-License-Identifier: Apache-2.0
// A recorded run, which the host wrote (docs/formats.md, "The stream").
#ifndef PMUCONF_REPORT_STREAM_H_
#define PMUCONF_REPORT_STREAM_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"

namespace pmuconf {

// The prefix of problems that are kernel reports.
inline constexpr std::string_view kKernelLog = "kernel log: ";

struct Stream {
  std::string target;   // name
  std::string kernel;   // the kernel as the user named it: "6.12"
  std::string release;  // as the guest reported it: "6.12.117+deb12-cloud-amd64"
  std::string version;  // with the patch level, if it is known: "6.12.117"
  std::string arch;
  std::string profile;  // "" for the whole catalogue
  std::vector<std::string> selected;
  bool partial = false;               // the run selected less than the profile
  bool drafted = false;               // the target is the draft of a probe
  std::vector<CaseResult> results;    // in the order of arrival
  std::vector<std::string> problems;  // kernel reports, unload failures
  std::string no_kernel_log;          // why the run could not see kernel reports; "" if it could
  bool ended = false;
  std::string lie;  // id of the lie that was on in a result; then there is no verdict
};

// Throws ConfigError with file and line. Ignores an incomplete last line; such a stream has no end.
Stream ParseStream(std::string_view text, const std::string& path);
Stream LoadStream(const std::string& path);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_STREAM_H_

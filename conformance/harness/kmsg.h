// SPDX-License-Identifier: Apache-2.0
// The kernel log and taint, which show whether the kernel reported a fault.
#ifndef PMUCONF_HARNESS_KMSG_H_
#define PMUCONF_HARNESS_KMSG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "system/fd.h"

namespace pmuconf {

// Returns the lines of a kernel log that are reports: WARNING, BUG, oops, panic, lockdep, RCU
// stall, soft and hard lockup, sanitizers, leaked objects, unclaimed NMIs.
std::vector<std::string> FindReports(const std::vector<std::string>& lines);

// The kernel log from a start point on. Reads /dev/kmsg, which needs root.
class KernelLog {
 public:
  enum class From { kNow, kBoot };
  explicit KernelLog(From from = From::kNow);

  // Returns the lines since the start point or the last call, without their prefixes.
  std::vector<std::string> Lines();

 private:
  Fd fd_;
};

// Returns the text of a raw /dev/kmsg record ("6,339,5140900,-;text"), without prefix and
// dictionary.
std::string KmsgText(std::string_view record);

// Returns /proc/sys/kernel/tainted without the flags for proprietary, out-of-tree and unsigned
// modules.
std::uint64_t Taint();

}  // namespace pmuconf

#endif  // PMUCONF_HARNESS_KMSG_H_

// SPDX-License-Identifier: Apache-2.0
// Reads the kernel log and recognises reports.
#include "harness/kmsg.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "system/broken.h"
#include "system/sysfs.h"

namespace pmuconf {
namespace {

// Prefixes of reports.
constexpr std::array<std::string_view, 13> kStarts = {
    "WARNING:",    "BUG:",      "INFO: possible", "INFO: inconsistent", "INFO: trying to",
    "INFO: task ", "INFO: rcu", "rcu: INFO:",     "watchdog:",          "Oops",
    "UBSAN:",      "KASAN:",    "refcount_t:",
};

// Parts of reports.
constexpr std::array<std::string_view, 18> kParts = {
    "Kernel panic",
    "soft lockup",
    "hard LOCKUP",
    "general protection fault",
    "Oops: ",
    "unable to handle",
    "invalid opcode:",
    "Unknown NMI",
    "NMI received for unknown reason",
    "Dazed and confused",
    "unreferenced object",
    "new suspected memory leaks",
    "Objects remaining in",
    "suspicious RCU usage",
    "possible circular locking",
    "held lock freed",
    // After these messages the kernel no longer detects such faults.
    "leak detector disabled",
    "turning off the locking correctness validator",
};

constexpr std::size_t kMostRecords = 100'000;  // larger than any log buffer

// Flags for proprietary (P), out-of-tree (O) and unsigned (E) modules.
constexpr std::uint64_t kTaintOfModules = (1U << 0) | (1U << 12) | (1U << 13);

// Returns whether the line is about a program in user mode: "traps: sh[71] general protection fault
// ip:ad6422 sp:7ffd error:0 in sh[401000+1000]".
bool IsOfProgram(std::string_view line) {
  return line.starts_with("traps: ") && line.find(" ip:") != std::string_view::npos &&
         line.find(" sp:") != std::string_view::npos;
}

}  // namespace

std::vector<std::string> FindReports(const std::vector<std::string>& lines) {
  std::vector<std::string> reports;
  for (const std::string& line : lines) {
    if (IsOfProgram(line)) continue;
    const bool hit =
        std::any_of(kStarts.begin(), kStarts.end(), [&](auto s) { return line.starts_with(s); }) ||
        std::any_of(kParts.begin(), kParts.end(),
                    [&](auto s) { return line.find(s) != std::string::npos; });
    if (hit) reports.push_back(line);
  }
  return reports;
}

KernelLog::KernelLog(From from) : fd_(open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  if (fd_.get() < 0) throw BrokenErrno("/dev/kmsg", errno);
  if (lseek(fd_.get(), 0, from == From::kNow ? SEEK_END : SEEK_SET) < 0) {
    throw BrokenErrno("/dev/kmsg", errno);
  }
}

std::vector<std::string> KernelLog::Lines() {
  std::vector<std::string> lines;
  std::array<char, 8192> record;
  for (std::size_t reads = 0; reads < kMostRecords; ++reads) {
    const ssize_t n = read(fd_.get(), record.data(), record.size());
    if (n > 0) {
      lines.push_back(KmsgText({record.data(), static_cast<std::size_t>(n)}));
    } else if (n < 0 && errno == EPIPE) {
      continue;  // the kernel overwrote records; the next read returns the oldest remaining one
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else {
      return lines;
    }
  }
  lines.push_back("WARNING: the kernel log grows faster than it can be read");
  return lines;
}

std::string KmsgText(std::string_view record) {
  const std::size_t semicolon = record.find(';');
  if (semicolon != std::string_view::npos) record.remove_prefix(semicolon + 1);
  return std::string(record.substr(0, record.find('\n')));
}

std::uint64_t Taint() {
  const auto text = ReadFile("/proc/sys/kernel/tainted");
  if (!text) throw BrokenErrno("/proc/sys/kernel/tainted", errno);
  return std::strtoull(text->c_str(), nullptr, 10) & ~kTaintOfModules;
}

}  // namespace pmuconf

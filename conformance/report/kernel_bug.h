// SPDX-License-Identifier: Apache-2.0
// A known bug of kernels, with the versions that have it. The cause and the fix of a bug reach a
// stable series later than mainline, or never, so one range does not describe the versions.
#ifndef PMUCONF_REPORT_KERNEL_BUG_H_
#define PMUCONF_REPORT_KERNEL_BUG_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pmuconf {

class TomlTable;

// The version of a kernel: a series, and the patch level if it is known.
struct KernelVersion {
  std::pair<int, int> series;  // {6, 12}
  std::optional<int> patch;    // of the stable kernel
};

// Parses "6.12.117+deb12-cloud-amd64", "6.12" or "6.12-rc3". Releases like "6.1.0-56-cloud-amd64"
// have a number of the distribution instead of a patch level, which is unknown then. Returns
// nullopt if the text does not begin with a version.
std::optional<KernelVersion> ParseKernelVersion(std::string_view release);

// Returns the version of a stable kernel from the fields of uname(2): that in `version`, such as
// "#1 SMP PREEMPT_DYNAMIC Debian 6.1.192-1 (2026-10-01)", or else the release.
std::string StableVersion(const std::string& release, const std::string& version);

// kMaybe: some versions of the series have the bug, and the patch level is unknown.
enum class Affected { kOutside, kMaybe, kYes };

struct KernelBug {
  // The first versions with the bug, and the first without it. An entry "6.17.8" stands for this
  // and later versions of the series 6.17. An entry "6.18" stands for 6.18 and all later series.
  std::vector<std::string> since, fixed;
  std::string cause, fix;  // as 123456789abc ("perf: subject"), or ("perf: subject")

  Affected In(const KernelVersion& version) const;
  // Returns "fixed in 6.17.8, 6.18 by 123456789abc ("perf: subject")", or "no fix is known".
  std::string Fixed() const;
  // Returns "from 6.16 on, fixed in 6.17.8, 6.18 by …".
  std::string Range() const;
};

// Reads a table with since, fixed, cause and fix. Throws ConfigError (file, line, key).
KernelBug ReadKernelBug(TomlTable* table);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_KERNEL_BUG_H_

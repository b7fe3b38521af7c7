// SPDX-License-Identifier: Apache-2.0
// What the user of `profile` asked for.
#ifndef PMUCONF_TOOLS_PROFILE_OPTIONS_H_
#define PMUCONF_TOOLS_PROFILE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace pmuconf::profile {

// Something the user can mend: one line that says what is wrong and what to do.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Format { kStacks, kFolded, kJson, kSvg, kTop };
inline constexpr std::uint64_t kDefaultFrequency = 99;  // samples a second of each CPU

struct Options {
  std::string event = "cycles";
  std::uint64_t frequency = 0;  // samples a second; 0 where `period` is given
  std::uint64_t period = 0;     // events a sample
  std::vector<int> pids;
  std::vector<int> tids;
  std::vector<int> cpus;  // empty: all that are online
  bool all = false;
  double seconds = 0;  // 0: until the command ends, or Ctrl-C
  bool user_only = false;
  bool kernel_only = false;
  bool inlines = true;
  bool fallback = false;
  std::string out;  // empty: standard output
  Format format = Format::kTop;
  std::vector<std::string> command;

  // No task was named: whatever runs on the CPUs is sampled.
  bool SystemWide() const { return pids.empty() && tids.empty() && command.empty(); }
};

// Throws UserError. nullopt: help was asked for, and given on standard output.
std::optional<Options> ParseOptions(int argc, const char* const* argv);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_OPTIONS_H_

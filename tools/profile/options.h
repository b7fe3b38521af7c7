// SPDX-License-Identifier: Apache-2.0
// The options of `profile`.
#ifndef PMUCONF_TOOLS_PROFILE_OPTIONS_H_
#define PMUCONF_TOOLS_PROFILE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace pmuconf::profile {

// An error that the user can fix. The message is one line with the problem and the remedy.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Format { kStacks, kFolded, kJson, kSvg, kTop };
inline constexpr std::uint64_t kDefaultFrequency = 99;  // samples per second and CPU

struct Options {
  std::string event = "cycles";
  std::uint64_t frequency = 0;  // samples per second; 0 if `period` is given
  std::uint64_t period = 0;     // events per sample
  std::vector<int> pids;
  std::vector<int> tids;
  std::vector<int> cpus;  // empty: all online CPUs
  bool all = false;
  double seconds = 0;  // 0: until the command ends or Ctrl-C
  bool user_only = false;
  bool kernel_only = false;
  bool inlines = true;
  bool fallback = false;
  std::string out;  // empty: standard output
  Format format = Format::kTop;
  std::vector<std::string> command;

  // Returns whether no task is named, so that all tasks on the CPUs are sampled.
  bool SystemWide() const { return pids.empty() && tids.empty() && command.empty(); }
};

// Throws UserError. Returns nullopt if it has printed the help.
std::optional<Options> ParseOptions(int argc, const char* const* argv);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_OPTIONS_H_

// SPDX-License-Identifier: Apache-2.0
// System calls without an effect.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "stimulus/stimuli.h"

namespace pmuconf {
namespace {

constexpr std::array<std::pair<std::string_view, std::uint16_t>, 5> kCalls = {{
    {"getppid", SYS_getppid},
    {"getuid", SYS_getuid},
    {"geteuid", SYS_geteuid},
    {"getgid", SYS_getgid},
    {"getegid", SYS_getegid},
}};

}  // namespace

std::optional<std::uint16_t> CheapCall(std::string_view name) {
  const auto* const it = std::find_if(kCalls.begin(), kCalls.end(),
                                      [name](const auto& call) { return call.first == name; });
  return it == kCalls.end() ? std::nullopt : std::optional(it->second);
}

void CallSystem(std::uint64_t number, std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) syscall(static_cast<long>(number));
}

}  // namespace pmuconf

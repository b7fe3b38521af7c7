// SPDX-License-Identifier: Apache-2.0
// Writes a sample in the format of libbpf's example of the same name, `profile`.
#include <cstdio>

#include "tools/profile/report.h"

namespace pmuconf::profile {
namespace {

void WriteStack(const char* heading, const char* message_if_empty,
                const std::vector<SampleText::Line>& lines, const StackStore& stacks,
                std::ostream& out) {
  if (lines.empty()) {
    out << message_if_empty << '\n';
    return;
  }
  out << heading << '\n';
  char text[64];
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Resolved& resolved = *lines[i].resolved;
    const Frame& function = stacks.frame(resolved.frames.back());
    std::snprintf(text, sizeof(text), "  %zu [<%016llx>] ", i,
                  static_cast<unsigned long long>(lines[i].address));
    out << text << function.name;
    if (!function.Known() && !function.module.empty()) out << ' ' << BaseName(function.module);
    if (!function.module.empty()) {
      const std::uint64_t offset = resolved.offset + (lines[i].caller ? 1 : 0);
      std::snprintf(text, sizeof(text), "+0x%llx", static_cast<unsigned long long>(offset));
      out << text;
    }
    out << '\n';
    for (std::size_t inlined = 0; inlined + 1 < resolved.frames.size(); ++inlined) {
      out << "    [inlined] " << stacks.frame(resolved.frames[inlined]).name << '\n';
    }
  }
}

}  // namespace

void WriteSample(const SampleText& sample, const StackStore& stacks, std::ostream& out) {
  out << "COMM: " << sample.comm << " (pid=" << sample.pid << ") @ CPU " << sample.cpu << '\n';
  WriteStack("Kernel:", "No Kernel Stack", sample.kernel, stacks, out);
  WriteStack("Userspace:", "No Userspace Stack", sample.user, stacks, out);
  out << '\n';
}

}  // namespace pmuconf::profile

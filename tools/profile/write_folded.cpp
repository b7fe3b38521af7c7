// SPDX-License-Identifier: Apache-2.0
// Writes folded stacks for flame graph tools.
#include <algorithm>

#include "tools/profile/report.h"

namespace pmuconf::profile {
namespace {

// A semicolon separates frames, and the last space of a line separates the count.
std::string Escaped(std::string label) {
  std::replace(label.begin(), label.end(), ';', ':');
  std::replace(label.begin(), label.end(), '\n', ' ');
  return label;
}

}  // namespace

void WriteFolded(const Report& report, std::ostream& out) {
  std::vector<std::string> lines;
  const auto& nodes = report.stacks.nodes();
  for (StackStore::NodeId node = 1; node < nodes.size(); ++node) {
    if (nodes[node].self.samples == 0) continue;
    std::string line;
    for (const FrameId frame : report.stacks.Stack(node)) {
      if (!line.empty()) line += ';';
      line += Escaped(report.stacks.label(frame));
    }
    line += ' ';
    line += std::to_string(nodes[node].self.samples);
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  for (const std::string& line : lines) out << line << '\n';
}

}  // namespace pmuconf::profile

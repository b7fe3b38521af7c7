// SPDX-License-Identifier: Apache-2.0
// Writes the table of functions.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "tools/profile/report.h"

namespace pmuconf::profile {
namespace {

struct Row {
  FrameId frame = 0;
  Count self;
  Count total;  // stacks with the frame, counted once for recursive ones
};

std::vector<Row> RowsOf(const StackStore& stacks) {
  std::vector<Row> rows(stacks.frames());
  std::vector<StackStore::NodeId> last(stacks.frames(), StackStore::kRoot);
  const auto& nodes = stacks.nodes();
  for (StackStore::NodeId node = 1; node < nodes.size(); ++node) {
    const Count& self = nodes[node].self;
    if (self.samples == 0) continue;
    rows[nodes[node].frame].self += self;
    for (auto at = node; at != StackStore::kRoot; at = nodes[at].parent) {
      const FrameId frame = nodes[at].frame;
      if (last[frame] != node) rows[frame].total += self;
      last[frame] = node;
    }
  }
  for (FrameId frame = 0; frame < rows.size(); ++frame) rows[frame].frame = frame;
  return rows;
}

}  // namespace

std::string Summary(const Facts& facts, const Count& total) {
  char text[96];
  std::snprintf(text, sizeof(text), "%llu samples of ",
                static_cast<unsigned long long>(total.samples));
  std::string line = text + facts.event;
  std::snprintf(text, sizeof(text), " in %.1f s on %zu CPUs; ", facts.seconds, facts.cpus.size());
  line += text + std::to_string(facts.lost) + " lost, throttled " +
          std::to_string(facts.throttled) + " times";
  if (facts.records_lost != 0) {
    line += ", " + std::to_string(facts.records_lost) + " records of processes lost";
  }
  return line;
}

void WriteTop(const Report& report, std::ostream& out, std::size_t most) {
  const double all = std::max<double>(1.0, static_cast<double>(report.stacks.Total().events));
  std::vector<Row> rows = RowsOf(report.stacks);
  std::erase_if(rows, [&](const Row& row) {
    return report.stacks.frame(row.frame).kind == FrameKind::kCommand;
  });
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    const auto key = [&](const Row& row) { return std::pair(row.self.events, row.total.events); };
    return key(a) != key(b) ? key(a) > key(b)
                            : report.stacks.label(a.frame) < report.stacks.label(b.frame);
  });
  out << Summary(report.facts, report.stacks.Total()) << "\n\n"
      << "   self  total    samples  function\n";
  char text[96];
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const Row& row = rows[i];
    std::snprintf(text, sizeof(text), "%6.2f%% %5.1f%% %10llu  ",
                  100.0 * static_cast<double>(row.self.events) / all,
                  100.0 * static_cast<double>(row.total.events) / all,
                  static_cast<unsigned long long>(row.self.samples));
    const std::string& module = report.stacks.frame(row.frame).module;
    out << text << report.stacks.label(row.frame);
    if (!module.empty() && report.stacks.frame(row.frame).Known()) {
      out << "  " << (module[0] == '[' ? module : BaseName(module));
    }
    out << '\n';
  }
  if (rows.size() > most) out << "… and " << rows.size() - most << " more\n";
}

}  // namespace pmuconf::profile

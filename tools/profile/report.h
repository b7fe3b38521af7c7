// SPDX-License-Identifier: Apache-2.0
// A complete profile and its output formats.
#ifndef PMUCONF_TOOLS_PROFILE_REPORT_H_
#define PMUCONF_TOOLS_PROFILE_REPORT_H_

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "tools/profile/module_table.h"
#include "tools/profile/stack_store.h"

namespace pmuconf::profile {

struct Facts {
  std::string event;
  std::uint64_t frequency = 0;  // 0: sampling by period
  std::uint64_t period = 0;
  double seconds = 0;
  std::vector<int> cpus;
  std::uint64_t lost = 0;          // samples that did not fit into a ring buffer
  std::uint64_t records_lost = 0;  // lost side-band records
  std::uint64_t throttled = 0;     // number of times that the kernel throttled the event
};

struct Report {
  Facts facts;
  const StackStore& stacks;
  std::vector<ModuleInfo> modules;
};

// Writes folded stacks with the number of samples: "comm;main;read;vfs_read_[k] 12".
void WriteFolded(const Report& report, std::ostream& out);
// Writes one JSON object; docs/profile.md describes its keys.
void WriteJson(const Report& report, std::ostream& out);
// Writes a flame graph as one SVG file, with the script that makes it searchable.
void WriteSvg(const Report& report, std::ostream& out);
// Writes the top `rows` functions by number of events.
void WriteTop(const Report& report, std::ostream& out, std::size_t rows = 40);
// Returns additional facts for the user: samples, time, losses.
std::string Summary(const Facts& facts, const Count& total);

// One sample, for the format that prints samples on arrival.
struct SampleText {
  std::string comm;
  std::uint32_t pid = 0;
  std::uint32_t cpu = 0;
  struct Line {
    std::uint64_t address = 0;
    const Resolved* resolved = nullptr;
    bool caller = false;  // the address is a return address, directly after the call
  };
  std::vector<Line> kernel;  // innermost first
  std::vector<Line> user;
};
void WriteSample(const SampleText& sample, const StackStore& stacks, std::ostream& out);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_REPORT_H_

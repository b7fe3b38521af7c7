// SPDX-License-Identifier: Apache-2.0
// A profile, whole, and the forms it is written in.
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
  std::uint64_t frequency = 0;  // 0: by period
  std::uint64_t period = 0;
  double seconds = 0;
  std::vector<int> cpus;
  std::uint64_t lost = 0;          // samples that found no room
  std::uint64_t records_lost = 0;  // of processes and mappings
  std::uint64_t throttled = 0;     // times that the kernel stopped the event for a tick
};

struct Report {
  Facts facts;
  const StackStore& stacks;
  std::vector<ModuleInfo> modules;
};

// "comm;main;read;vfs_read_[k] 12": stacks with the samples of each.
void WriteFolded(const Report& report, std::ostream& out);
// One object; docs/profile.md has its keys.
void WriteJson(const Report& report, std::ostream& out);
// A flame graph: one file, with what makes it searchable inside.
void WriteSvg(const Report& report, std::ostream& out);
// Functions by their share of the events, the first `rows` of them.
void WriteTop(const Report& report, std::ostream& out, std::size_t rows = 40);
// What a user wants to know of it beside: samples, time, what was lost.
std::string Summary(const Facts& facts, const Count& total);

// One sample as it came, for the form that is written while samples come.
struct SampleText {
  std::string comm;
  std::uint32_t pid = 0;
  std::uint32_t cpu = 0;
  struct Line {
    std::uint64_t address = 0;
    const Resolved* resolved = nullptr;
    bool caller = false;  // the address is the one returned to: one behind the call's last byte
  };
  std::vector<Line> kernel;  // innermost first
  std::vector<Line> user;
};
void WriteSample(const SampleText& sample, const StackStore& stacks, std::ostream& out);

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_REPORT_H_

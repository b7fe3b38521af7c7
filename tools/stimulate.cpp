// SPDX-License-Identifier: Apache-2.0
// stimulate: generates events through a stimulus port while another program, such as perf, measures
// this process. It generates only the events that the options request.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "stimulus/stimulus.h"
#include "system/broken.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

struct Options {
  std::string device = "/dev/refpmu";
  std::uint64_t n = 1;
  int cpu = REFPMU_CPU_CURRENT;
  std::uint32_t event = 0;
  bool kernel = false;
  std::string clock;
  refpmu_pulse pulse = {};
};

std::uint32_t PrivilegeOf(const Options& options) {
  return options.kernel ? REFPMU_PRIV_KERNEL : REFPMU_PRIV_USER;
}

void Pulse(const Options& options) {
  refpmu_pulse pulse = options.pulse;
  pulse.size = sizeof(pulse);
  pulse.cpu = options.cpu;
  pulse.event = options.event;
  pulse.privilege = PrivilegeOf(options);
  pulse.n = options.n;
  const SysResult result = Port(options.device).TryIoctl(REFPMU_IOC_PULSE, &pulse);
  if (!result.ok()) throw BrokenErrno(options.device + ": pulses", result.error);
}

// Injects branches of all kinds in turn. Branch i comes from 0x1000 + 0x10 * i and goes to where
// the next one comes from, so an observer can verify each branch.
void Branches(const Options& options) {
  constexpr std::uint64_t kFirst = 0x1000, kStep = 0x10;
  constexpr std::uint32_t kKinds = 7;
  if (options.n > REFPMU_BRANCHES_MAX) throw Broken("--count: too many branches for one call");
  std::vector<refpmu_branch_entry> entries(options.n);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i] = {.from = kFirst + i * kStep,
                  .to = kFirst + (i + 1) * kStep,
                  .kind = static_cast<std::uint32_t>(i % kKinds),
                  .flags = i % 2 != 0 ? static_cast<std::uint32_t>(REFPMU_BRANCH_MISPREDICTED) : 0U,
                  .cycles = static_cast<std::uint32_t>(i + 1),
                  .privilege = PrivilegeOf(options)};
  }
  refpmu_branches branches = {};
  branches.size = sizeof(branches);
  branches.cpu = options.cpu;
  branches.entries = reinterpret_cast<std::uintptr_t>(entries.data());
  branches.count = static_cast<std::uint32_t>(entries.size());
  // A context switch would clear the branch stack.
  const NoPreemption no_preemption;
  const SysResult result = Port(options.device).TryIoctl(REFPMU_IOC_BRANCHES, &branches);
  if (!result.ok()) throw BrokenErrno(options.device + ": branches", result.error);
}

// Sets the clock of every CPU until the next call.
void Clock(const Options& options) {
  const Port port(options.device);
  for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); ++cpu) {
    port.SetManualClock(static_cast<int>(cpu), options.clock == "manual");
  }
}

void Advance(const Options& options) {
  Port(options.device)
      .Advance(options.n, {.cpu = options.cpu,
                           .privilege = options.kernel ? Privilege::kKernel : Privilege::kUser});
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Generates events on a device with a stimulus port.");
  app.require_subcommand(1);
  app.add_option("--device", options.device, "path of the stimulus port")->capture_default_str();
  app.add_option("--cpu", options.cpu, "CPU of the events (default: this one)");
  app.add_flag("--kernel", options.kernel, "generate events in kernel mode");
  CLI::App* const pulse = app.add_subcommand("pulse", "generate events of one code");
  pulse->add_option("event", options.event, "code: unit mask << 8 | event")->required();
  pulse->add_option("--count", options.n)->capture_default_str();
  pulse->add_option("--ip", options.pulse.ip, "address of the instruction");
  pulse->add_option("--addr", options.pulse.addr, "address of the data");
  pulse->add_option("--latency", options.pulse.latency, "latency in cycles");
  pulse->add_option("--source", options.pulse.source, "source of the data, as PERF_MEM_* bits");
  CLI::App* const branches =
      app.add_subcommand("branches", "generate a chain of branches of all kinds");
  branches->add_option("--count", options.n)->capture_default_str();
  CLI::App* const clock = app.add_subcommand("clock", "set the mode of all clocks");
  clock
      ->add_option("mode", options.clock,
                   "auto: clocks follow time; manual: only `advance` moves them")
      ->required()
      ->check(CLI::IsMember({"auto", "manual"}));
  CLI::App* const advance = app.add_subcommand("advance", "advance a manual clock");
  advance->add_option("--count", options.n)->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  if (pulse->parsed()) Pulse(options);
  if (branches->parsed()) Branches(options);
  if (clock->parsed()) Clock(options);
  if (advance->parsed()) Advance(options);
  return 0;
}

}  // namespace
}  // namespace pmuconf

int main(int argc, char** argv) {
  try {
    return pmuconf::Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "stimulate: " << error.what() << '\n';
    return 2;
  }
}

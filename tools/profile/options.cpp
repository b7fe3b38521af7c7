// SPDX-License-Identifier: Apache-2.0
// The command line of `profile`.
#include "tools/profile/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iostream>
#include <map>

#include "system/sysfs.h"

namespace pmuconf::profile {
namespace {

const std::map<std::string, Format>& Formats() {
  static const std::map<std::string, Format> formats = {{"stacks", Format::kStacks},
                                                        {"folded", Format::kFolded},
                                                        {"json", Format::kJson},
                                                        {"svg", Format::kSvg},
                                                        {"top", Format::kTop}};
  return formats;
}

// Parses task ids: "12,34".
std::vector<int> ParseIds(const std::string& text, const char* option) {
  std::vector<int> ids;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int id = 0;
    const auto [next, error] = std::from_chars(at, end, id);
    if (error != std::errc() || id <= 0 || (next != end && *next != ',')) {
      throw UserError(std::string(option) + " '" + text + "': numbers are needed, as in 12,34");
    }
    ids.push_back(id);
    if (next == end) return ids;
    at = next + 1;
  }
}

Format FormatOf(const std::string& name, const std::string& out) {
  if (!name.empty()) {
    const auto found = Formats().find(name);
    if (found == Formats().end()) {
      throw UserError("--format '" + name + "': known are stacks, folded, json, svg, top");
    }
    return found->second;
  }
  const std::size_t dot = out.rfind('.');
  const std::string suffix = dot == std::string::npos ? "" : out.substr(dot + 1);
  const auto found = Formats().find(suffix);
  if (found != Formats().end()) return found->second;
  if (out.empty() || suffix == "txt") return Format::kTop;
  throw UserError("-o '" + out +
                  "': the suffix names no format; use .svg .json .folded .txt, or --format");
}

}  // namespace

std::optional<Options> ParseOptions(int argc, const char* const* argv) {
  Options options;
  std::string pids, tids, cpus, format;
  // The arguments after `--` belong to the command.
  const char* const* const end = argv + argc;
  const char* const* const dashes = std::find_if(
      argv, end, [](const char* argument) { return std::string_view(argument) == "--"; });
  if (dashes != end) {
    options.command.assign(dashes + 1, end);
    if (options.command.empty()) throw UserError("a command is needed after --");
  }

  CLI::App app("Sampling profiler for any PMU event, with a BPF program on its overflows.",
               "profile");
  app.add_option(
         "-e,--event", options.event,
         "cycles, cpu-clock, … · pmu/event/ or pmu/term=value,…/ of sysfs · rHEX; :u and :k "
         "limit it to user and kernel mode")
      ->capture_default_str();
  auto* const frequency =
      app.add_option("-F,--freq", options.frequency, "samples per second and CPU (default 99)")
          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}));
  app.add_option("-c,--period", options.period, "events per sample, instead of -F")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62))
      ->excludes(frequency);
  app.add_option("-p,--pid", pids, "processes with all their threads and children");
  app.add_option("-t,--tid", tids, "threads");
  app.add_option("-C,--cpu", cpus, "only these CPUs, as in 0-3,7");
  app.add_flag("-a,--all", options.all, "all tasks (default if no task is named)");
  app.add_option("-d,--duration", options.seconds,
                 "seconds (default: until the command ends or Ctrl-C)")
      ->check(CLI::Range(0.001, 1e9));
  auto* const user = app.add_flag("--user-only", options.user_only, "sample only user mode");
  app.add_flag("--kernel-only", options.kernel_only, "sample only kernel mode")->excludes(user);
  app.add_flag("!--no-inlines", options.inlines, "do not look for inlined functions (DWARF)");
  app.add_flag("--fallback", options.fallback, "use cpu-clock if the event is not supported");
  app.add_option("-o,--output", options.out,
                 "file; its suffix selects the format: .svg .json "
                 ".folded .txt");
  app.add_option("--format", format, "stacks, folded, json, svg, top");
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help() << "A command after -- is started and sampled until it ends.\n";
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw UserError(std::string(error.what()) + "; see profile --help");
  }

  if (!pids.empty()) options.pids = ParseIds(pids, "-p");
  if (!tids.empty()) options.tids = ParseIds(tids, "-t");
  if (!cpus.empty()) {
    const auto list = ParseCpuList(cpus);
    if (!list) throw UserError("-C '" + cpus + "': a list of CPUs is needed, as in 0-3,7");
    options.cpus = *list;
  }
  const int named = static_cast<int>(!options.pids.empty()) +
                    static_cast<int>(!options.tids.empty()) +
                    static_cast<int>(!options.command.empty()) + static_cast<int>(options.all);
  if (named > 1) throw UserError("only one of -p, -t, -a and a command after -- can be sampled");
  if (options.frequency == 0 && options.period == 0) options.frequency = kDefaultFrequency;
  options.format = FormatOf(format, options.out);
  return options;
}

}  // namespace pmuconf::profile

// SPDX-License-Identifier: Apache-2.0
// pmuconf: list, run, serve, case, report. Exit status 0 good, 1 not conformant, 2 cannot judge.
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "lib/agent.h"
#include "lib/context.h"
#include "lib/executor.h"
#include "lib/expression.h"
#include "lib/runner.h"
#include "pmuconf/case.h"
#include "pmuconf/kmsg.h"
#include "report/formats.h"
#include "report/select.h"
#include "report/stream.h"
#include "report/verdict.h"

namespace pmuconf {
namespace {

struct Options {
  std::string target;
  std::string pmu;
  std::string profile;
  Selection selection;
  bool json = false;
  std::string channel;
  std::string case_id;
  int result_fd = -1;
  std::string stream;
  std::string out;
};

std::vector<KnownCase> Suite() {
  std::vector<KnownCase> suite;
  for (const CaseInfo& info : AllCases()) {
    KnownCase known{info.Id(), {}};
    for (const Rule& rule : info.meta.rules) known.rules.emplace_back(rule.id);
    suite.push_back(std::move(known));
  }
  return suite;
}

// Profiles and waivers stand beside the folder of targets.
std::string Beside(const std::string& target_path, const char* folder) {
  const std::filesystem::path path(target_path);
  return (path.parent_path() / ".." / folder).lexically_normal().string();
}

Target LoadTarget(const Options& options) {
  if (!std::filesystem::exists(options.target)) {
    std::string known;
    std::error_code error;
    const auto folder = std::filesystem::path(options.target).parent_path();
    for (const auto& entry :
         std::filesystem::directory_iterator(folder.empty() ? "." : folder, error)) {
      if (entry.path().extension() == ".toml") known += " " + entry.path().string();
    }
    throw ConfigError("unknown target file '" + options.target +
                      "' (known:" + (known.empty() ? " none there" : known) + ")");
  }
  return Target::Load(options.target);
}

Profile ChosenProfile(const Options& options, const std::string& name) {
  return LoadProfile(Beside(options.target, "profiles"), name, AllRules());
}

void Flush() {
  std::cout.flush();
  if (!std::cout) throw ConfigError("standard output cannot be written");
}

int List(const Options& options) {
  const Target target = LoadTarget(options);
  const auto ids =
      Select(options.selection, ChosenProfile(options, options.profile), Suite(), AllRules());
  auto cases = nlohmann::ordered_json::array();
  for (const std::string& id : ids) {
    const CaseInfo& info = *FindCase(id);
    auto rules = nlohmann::ordered_json::array();
    auto needs = nlohmann::ordered_json::array();
    for (const Rule& rule : info.meta.rules) rules.push_back(rule.id);
    for (const Cap cap : info.meta.needs) needs.push_back(ToString(cap));
    if (!options.json) {
      std::cout << id << "  ";
      for (const auto& rule : rules) std::cout << " " << rule.get<std::string>();
      std::cout << "\n";
      continue;
    }
    cases.push_back({{"id", id},
                     {"rules", rules},
                     {"needs", needs},
                     {"budget_s", info.meta.budget_s},
                     {"file", info.file},
                     {"line", info.line}});
  }
  if (options.json) {
    const nlohmann::ordered_json json = {{"target", target.name()}, {"cases", cases}};
    std::cout << json.dump(1) << "\n";
  }
  Flush();
  return 0;
}

int RunCase(const Options& options) {
  context().target = LoadTarget(options);
  context().pmu = options.pmu;
  const CaseInfo* const info = FindCase(options.case_id);
  if (info == nullptr) {  // Select() names the nearest
    Select({.case_glob = options.case_id}, WholeCatalogue(AllRules()), Suite(), AllRules());
    throw ConfigError("case ID must be one case: '" + options.case_id + "'");
  }
  const CaseResult result = RunHere(*info);
  if (options.result_fd >= 0) {
    const std::string line = EncodeResult(result);
    const ssize_t n = write(options.result_fd, line.data(), line.size());
    return n == static_cast<ssize_t>(line.size()) ? 0 : 2;
  }
  std::cout << ToString(result.result) << "  " << result.id << "\n"
            << result.message << (result.message.empty() ? "" : "\n");
  Flush();
  const bool good = result.result == Result::kPass || result.result == Result::kSkip;
  return good ? 0 : result.result == Result::kBroken ? 2 : 1;
}

int Finish(const Options& options, const Stream& stream, const Target& target,
           const Profile& profile, const std::string& again) {
  const auto waivers = LoadWaivers(Beside(options.target, "waivers"));
  Report report = Judge(stream, target, profile, Suite(), waivers, Today());
  report.again = again;
  if (!options.out.empty()) WriteReports(report, options.out);
  std::cout << Summary(report);
  if (!options.out.empty()) std::cout << "reports: " << options.out << "\n";
  Flush();
  return ExitStatus(report.verdict);
}

int Run(const Options& options) {
  const Target target = LoadTarget(options);
  const Profile profile = ChosenProfile(options, options.profile);
  utsname name = {};
  uname(&name);
  Stream stream;
  stream.target = target.name();
  stream.kernel = name.release;
  stream.release = name.release;
  stream.arch = name.machine;
  stream.profile = profile.name;
  stream.partial = options.selection.partial();
  stream.selected = Select(options.selection, profile, Suite(), AllRules());

  const Executor executor(options.target, options.pmu);
  KernelLog log;
  for (const std::string& id : stream.selected) {
    const CaseInfo& info = *FindCase(id);
    CaseResult result = executor.Run(info, info.meta.budget_s * target.slowness());
    std::cout << ToString(result.result) << "  " << id << std::endl;
    stream.results.push_back(std::move(result));
  }
  for (const std::string& report : FindReports(log.Lines())) {
    stream.problems.push_back("kernel log: " + report);
  }
  stream.ended = true;
  return Finish(options, stream, target, profile,
                "pmuconf run --target " + options.target + " --case ");
}

int ReportStream(const Options& options) {
  const Target target = LoadTarget(options);
  const Stream stream = LoadStream(options.stream);
  const Profile profile =
      ChosenProfile(options, options.profile.empty() ? stream.profile : options.profile);
  const std::string which = target.name() == "refpmu" ? "" : " TARGET=" + options.target;
  return Finish(options, stream, target, profile,
                "make run KERNEL=" + stream.kernel + which + " CASE=");
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("pmuconf: does a PMU driver keep the perf contract?");
  app.require_subcommand(1);

  const auto add_target = [&](CLI::App* command) {
    command->add_option("--target", options.target, "target file")->required();
    return command;
  };
  const auto add_selection = [&](CLI::App* command) {
    command->add_option("--case", options.selection.case_glob, "only cases that fit this glob");
    command->add_option("--rule", options.selection.rule, "only cases of this rule (id or glob)");
    command->add_option("--profile", options.profile, "only the rules of this profile");
  };
  const auto add_pmu = [&](CLI::App* command) {
    command->add_option("--pmu", options.pmu, "PMU in sysfs, instead of the target's match");
  };

  auto* const list = add_target(app.add_subcommand("list", "print the cases; opens no event"));
  list->add_flag("--json", options.json, "for programs");
  add_selection(list);

  auto* const run = add_target(app.add_subcommand("run", "run cases on this machine and judge"));
  add_selection(run);
  add_pmu(run);
  run->add_option("--out", options.out, "folder for results.json, results.ktap and junit.xml");

  auto* const serve = add_target(app.add_subcommand("serve", "be the guest's agent"));
  serve->add_option("--channel", options.channel, "serial port to the host")->required();
  add_pmu(serve);

  auto* const one = add_target(app.add_subcommand("case", "run one case in this process"));
  one->add_option("id", options.case_id, "Suite.Name")->required();
  one->add_option("--result-fd", options.result_fd,
                  "write the result, as JSON, to this descriptor");
  add_pmu(one);

  auto* const report = add_target(app.add_subcommand("report", "judge a recorded stream"));
  report->add_option("--stream", options.stream, "stream.jsonl")->required();
  report->add_option("--profile", options.profile, "instead of the stream's");
  report->add_option("--out", options.out, "folder for the reports")->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (list->parsed()) return List(options);
  if (run->parsed()) return Run(options);
  if (one->parsed()) return RunCase(options);
  if (report->parsed()) return ReportStream(options);
  context().pmu = options.pmu;
  LoadTarget(options);
  return Serve(options.target, options.channel);
}

}  // namespace
}  // namespace pmuconf

int main(int argc, char** argv) {
  try {
    return pmuconf::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pmuconf: %s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "pmuconf: unknown error\n");
  }
  return 2;
}

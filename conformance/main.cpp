// SPDX-License-Identifier: Apache-2.0
// The commands of pmuconf. Exit status: 0 success, 1 not conformant, 2 no verdict.
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "harness/agent.h"
#include "harness/case.h"
#include "harness/executor.h"
#include "harness/ground.h"
#include "harness/kmsg.h"
#include "harness/runner.h"
#include "lies/liar.h"
#include "lies/lie.h"
#include "program_commands.h"
#include "report/accuracy_command.h"
#include "report/choose.h"
#include "report/explain.h"
#include "report/formats.h"
#include "report/kernel_bug.h"
#include "report/lava.h"
#include "report/layers.h"
#include "report/list.h"
#include "report/probe_command.h"
#include "report/progress.h"
#include "report/select.h"
#include "report/stream.h"
#include "report/verdict.h"
#include "system/context.h"
#include "system/sysfs.h"
#include "target/target_json.h"
#include "target/target_of_process.h"
#include "text/one_line.h"
#include "tools/watch/command.h"
#include "version.h"

namespace pmuconf {
namespace {

constexpr std::string_view kAllSubjects = "all";

struct Options {
  std::string target;
  std::string pmu;
  std::string profile;
  Selection selection;
  bool json = false;
  std::string channel;
  std::string case_id;
  std::string at;
  std::string lie;
  int result_fd = -1;
  std::string stream;
  std::vector<std::string> layers;  // "kunit=FILE"
  std::string repro_command;
  std::string out;
  bool lava = false;
  bool busy = false;
  std::string verdict = "target";  // or kAllSubjects
  ProbeOptions probe;
  AccuracyOptions accuracy;
  std::string explain_id;
  bool explain_json = false;
  WatchOptions watch;
};

// Returns the status of `body`, or prints its error and returns 2.
int Guarded(const std::function<int()>& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pmuconf: %s\n", error.what());
  } catch (...) {
    std::fprintf(stderr, "pmuconf: unknown error\n");
  }
  return 2;
}

std::vector<KnownCase> Suite() {
  std::vector<KnownCase> suite;
  for (const CaseInfo& info : AllCases()) {
    KnownCase known{info.Id(), {}};
    for (const Rule& rule : info.meta.rules) known.rules.emplace_back(rule.id);
    suite.push_back(std::move(known));
  }
  return suite;
}

// Returns the target of --target, or the built-in target for --pmu.
Target ChosenTarget(Options* options) {
  if (options->target.empty()) {
    if (options->pmu.empty()) throw ConfigError("no target: use --target, --pmu or both");
    options->target = TargetForPmu(options->pmu);
    if (options->target.empty()) {
      throw ConfigError("no built-in target is for PMU '" + options->pmu +
                        "': draft one with pmuconf probe " + options->pmu);
    }
  }
  return LoadTarget(options->target);
}

void Flush() {
  std::cout.flush();
  if (!std::cout) throw ConfigError("standard output cannot be written");
}

int List(Options options) {
  const Target target = ChosenTarget(&options);
  const auto ids = Select(options.selection, ChooseProfile(options.target, options.profile),
                          Suite(), AllRules());
  std::cout << ListOfCases(target, ids, options.json);
  Flush();
  return 0;
}

int ExplainOne(const Options& options) {
  const std::string& id = options.explain_id;
  const bool json = options.explain_json;
  if (id.empty() && !json) throw ConfigError("no rule: give its id, a case or --json");
  std::cout << (id.empty() ? ExplainAll() : Explain(id, json, Colour(STDOUT_FILENO)));
  Flush();
  return 0;
}

int DescribeTarget(const Options& options) {
  const TargetSource source = FindTarget(options.target);
  std::cout << (options.json ? TargetAsJson(source.file, source.find_base)
                             : MergedTarget(source.file, source.find_base));
  Flush();
  return 0;
}

// Returns the command-line options that name the target. `drafted`: the target was drafted from
// --pmu.
std::string TargetArguments(const Options& options, bool drafted) {
  std::string arguments;
  if (!drafted) arguments += " --target " + Quoted(options.target);
  if (!options.pmu.empty()) arguments += " --pmu " + Quoted(options.pmu);
  return arguments;
}

// Writes the result of `pmuconf case`. Returns its exit status.
int FinishCase(const Options& options, CaseResult result) {
  if (const Liar* const liar = CurrentLiar()) {
    result.lie = liar->lie().id;
    result.lied = liar->applied();
    result.message = liar->Summary() + "\n" + result.message;
  }
  if (options.result_fd >= 0) {
    const std::string line = EncodeResult(result);
    const ssize_t n = write(options.result_fd, line.data(), line.size());
    return n == static_cast<ssize_t>(line.size()) ? 0 : 2;
  }
  std::cout << ToString(result.result) << "  " << result.id << "\n";
  if (result.result == Result::kSkip) {
    std::cout << WhySkipped(result) << "\n";
  } else if (result.result != Result::kPass) {
    Report report;
    report.repro_command = "pmuconf case" + TargetArguments(options, false) + " ";
    std::cout << Failure(report, result) << "\n";
  } else if (!result.lie.empty()) {
    std::cout << result.message;
  }
  Flush();
  if (ResultForRules(result) == Result::kNotRun || result.result == Result::kBroken) return 2;
  return result.result == Result::kPass || result.result == Result::kSkip ? 0 : 1;
}

int RunCase(Options options) {
  SetTarget(ChosenTarget(&options));
  context().pmu = options.pmu;
  const CaseInfo* info = FindCase(options.case_id);
  if (info == nullptr) {  // Select() throws with the nearest known ids, if it is no glob
    Select({.case_glob = options.case_id}, WholeCatalogue(AllRules()), Suite(), AllRules());
    throw ConfigError("case ID must be one case: '" + options.case_id + "'");
  }
  Restrict(info->meta.over, options.at);  // throws ConfigError if it does not fit
  context().at = options.at;
  if (!options.lie.empty()) TellLie(LoadLie(options.lie));
  return RunInThisProcess(
      *info, [&options](CaseResult result) { return FinishCase(options, std::move(result)); });
}

std::vector<LayerResults> LoadLayers(const Options& options, const Stream& stream,
                                     const Target& target) {
  std::vector<LayerResults> layers;
  for (const std::string& option : options.layers) layers.push_back(LoadLayer(option));
  CheckSameSubject(layers, stream, target);
  return layers;
}

int Finish(const Options& options, const Stream& stream, const Target& target,
           const Profile& profile, const std::string& repro_command, LavaSignals* lava) {
  Report report = Judge(stream, target, profile, Suite(), ChooseWaivers(options.target), Today(),
                        LoadLayers(options, stream, target),
                        options.verdict == kAllSubjects ? Scope::kAll : Scope::kTarget);
  report.repro_command = repro_command;
  if (!options.out.empty()) WriteReports(report, options.out);
  std::cout << Summary(report);
  if (!options.out.empty()) std::cout << "reports: " << options.out << "\n";
  lava->Finish(report);
  Flush();
  return ExitStatus(report.verdict);
}

// Runs the selected cases. Kernel reports during the run become problems of the stream.
void RunAll(const Options& options, const Target& target, Stream* stream, LavaSignals* lava) {
  std::optional<KernelLog> log;
  try {
    log.emplace();
  } catch (const Broken& broken) {
    stream->no_kernel_log = std::string(
                                "cannot read the kernel log, so kernel reports would go "
                                "unnoticed: ") +
                            broken.what();
  }
  Executor executor(options.target, options.pmu, log.has_value());
  executor.WatchOtherTasks();
  // A program reads the signals, so each line is complete and without colours.
  Progress progress(stream->selected.size(), isatty(STDOUT_FILENO) == 1 && !lava->on(),
                    Colour(STDOUT_FILENO) && !lava->on(), std::cout);
  const std::vector<Waiver> waivers = ChooseWaivers(options.target);
  lava->Start(target.name());
  for (const std::string& id : stream->selected) {
    const CaseInfo& info = *FindCase(id);
    progress.Begin(id);
    lava->Begin(id);
    CaseResult result = executor.Run(info, info.meta.budget_s * target.slowness(), options.lie);
    if (!result.lie.empty()) stream->lie = result.lie;
    progress.End(result);
    lava->End(AsReported(result, *stream, target, waivers, Today()));
    stream->results.push_back(std::move(result));
  }
  if (log) {
    for (const std::string& report : FindReports(log->Lines())) {
      stream->problems.push_back(std::string(kKernelLog) + report);
    }
  }
  stream->ended = true;
}

int Run(Options options) {
  LavaSignals lava(options.lava ? &std::cout : nullptr);
  if (!options.lie.empty()) LoadLie(options.lie);  // an error ends the run before its first case
  std::optional<DraftFile> draft;
  bool drafted = false;
  if (options.target.empty() && !options.pmu.empty()) {
    options.target = TargetForPmu(options.pmu);
    drafted = options.target.empty();
    if (drafted) {
      draft.emplace(options.pmu);
      options.target = draft->path();
      std::cout << "no built-in target is for PMU " << options.pmu
                << ": uses the draft of a probe (pmuconf probe " << Quoted(options.pmu)
                << " shows it)" << std::endl;
    }
  }
  const Target target = ChosenTarget(&options);
  const Profile profile = ChooseProfile(options.target, options.profile);
  utsname name = {};
  uname(&name);
  Stream stream;
  stream.target = target.name();
  stream.kernel = name.release;
  stream.release = name.release;
  stream.version = StableVersion(name.release, name.version);
  stream.arch = name.machine;
  stream.profile = profile.name;
  stream.partial = options.selection.partial();
  stream.drafted = drafted;
  stream.selected = Select(options.selection, profile, Suite(), AllRules());
  LoadLayers(options, stream, target);  // reports an error in a file before the cases run
  if (!drafted) PrintWarnings(CheckGround(target, options.pmu));  // a probe has checked it
  RunAll(options, target, &stream, &lava);
  return Finish(options, stream, target, profile,
                "pmuconf run" + TargetArguments(options, drafted) + " --case ", &lava);
}

// Runs the suite on each PMU of this machine, in a process of its own, and returns the worst
// status. The reports of a PMU are in the folder of its name.
int RunOnEachPmu(const Options& options) {
  if (!options.target.empty()) throw ConfigError("--pmu all selects the targets: no --target");
  const std::vector<std::string> pmus = ListFolder(kEventSource);
  if (pmus.empty()) throw ConfigError(std::string("no PMU in ") + kEventSource);
  constexpr const char* kWords[] = {"conformant", "NOT CONFORMANT", "not judged"};
  std::string table;
  int worst = 0;
  for (const std::string& pmu : pmus) {
    std::cout << (table.empty() ? "" : "\n") << "== " << pmu << std::endl;
    const pid_t pid = fork();
    if (pid < 0) throw BrokenErrno("fork", errno);
    if (pid == 0) {
      Options one = options;
      one.pmu = pmu;
      if (!one.out.empty()) one.out += "/" + pmu;
      _exit(Guarded([&one] { return Run(one); }));
    }
    int ended = 0;
    while (waitpid(pid, &ended, 0) < 0 && errno == EINTR) {
    }
    const int status = WIFEXITED(ended) && WEXITSTATUS(ended) < 2 ? WEXITSTATUS(ended) : 2;
    worst = worst == 1 || status == 1 ? 1 : std::max(worst, status);
    table += pmu + std::string(pmu.size() < 20 ? 20 - pmu.size() : 1, ' ') + kWords[status] + "\n";
  }
  std::cout << "\n" << table;
  Flush();
  return worst;
}

int ReportStream(const Options& options) {
  LavaSignals lava(options.lava ? &std::cout : nullptr);
  const Target target = LoadTarget(options.target);
  const Stream stream = LoadStream(options.stream);
  const Profile profile =
      ChooseProfile(options.target, options.profile.empty() ? stream.profile : options.profile);
  const std::string which = target.name() == "refpmu" ? "" : " TARGET=" + options.target;
  const std::string repro_command = "make run KERNEL=" + stream.kernel + which + " CASE=";
  return Finish(options, stream, target, profile,
                options.repro_command.empty() ? repro_command : options.repro_command, &lava);
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("pmuconf: conformance suite for Linux PMU drivers");
  app.require_subcommand(1);
  app.set_version_flag("--version", Version(), "print the version and exit");

  const auto add_target = [&](CLI::App* command) {
    return command->add_option("--target", options.target,
                               "path of a target file, or name of a built-in target");
  };
  const auto add_selection = [&](CLI::App* command) {
    command->add_option("--case", options.selection.case_glob,
                        "only cases whose id matches this glob");
    command->add_option("--rule", options.selection.rule,
                        "only cases that verify this rule (id or glob)");
    command->add_option("--profile", options.profile, "only the rules of this profile");
  };
  const auto add_lie = [&](CLI::App* command) {
    command->add_option("--lie", options.lie,
                        "FILE:ID of a lie: cases receive wrong answers, and there is no verdict");
  };
  const auto add_pmu = [&](CLI::App* command) {
    command->add_option(
        "--pmu", options.pmu,
        "PMU in sysfs, instead of the target's match; without --target, it selects the target");
  };

  auto* const list = app.add_subcommand("list", "print the cases; opens no event");
  add_target(list);
  add_pmu(list);
  list->add_flag("--json", options.json, "print JSON");
  add_selection(list);

  auto* const described =
      app.add_subcommand("target", "print a target with its base and all defaults; opens no event");
  add_target(described)->required();
  described->add_flag("--json", options.json, "print JSON instead of a target file");

  auto* const run = app.add_subcommand("run", "run cases on this machine and print the verdict");
  add_target(run);
  add_selection(run);
  run->add_option("--pmu", options.pmu,
                  "PMU in sysfs, instead of the target's match; without --target, it selects the "
                  "target; all: each PMU of this machine");
  const auto add_layers = [&](CLI::App* command) {
    command
        ->add_option(
            "--layer", options.layers,
            "LAYER=FILE: results of kunit, watch, vm, fuzz or source, for a joined verdict")
        ->type_size(1)
        ->allow_extra_args(false);
  };
  add_layers(run);
  add_lie(run);
  const auto add_lava = [&](CLI::App* command) {
    command->add_flag("--lava", options.lava, "print LAVA's signals on standard output");
  };
  add_lava(run);
  const auto add_verdict = [&](CLI::App* command) {
    command
        ->add_option(
            "--verdict", options.verdict,
            "whose verdict decides the exit status: that of the target, such as the driver, or all")
        ->check(CLI::IsMember({"target", "all"}));
  };
  add_verdict(run);
  run->add_option("--out", options.out, "folder for results.json, results.ktap and junit.xml");

  auto* const probe = AddProbe(&app, &options.probe);
  auto* const accuracy = AddAccuracy(&app, &options.accuracy);

  auto* const watch = app.add_subcommand("watch", "check the callbacks of a driver in use");
  watch->add_option("--pmu", options.watch.pmu, "PMU in sysfs")->required();
  watch->add_option("--event", options.watch.event,
                    "event by name or terms, for a PMU of which no event in sysfs opens");
  watch->add_option("--btf", options.watch.btf,
                    "file with the types of a kernel without BTF (pahole --btf_encode_detached)");
  watch
      ->add_option("--seconds", options.watch.seconds,
                   "duration (default: until the command ends or Ctrl-C)")
      ->check(CLI::PositiveNumber);
  watch->add_option("--json", options.watch.json, "output file for the results as JSON");
  watch->add_option("command", options.watch.command, "command to run meanwhile, after --");

  const ProgramCommands programs(&app);

  auto* const explain = app.add_subcommand("explain", "print a rule or a case");
  explain->add_option("id", options.explain_id, "id of a rule or a case");
  explain->add_flag("--json", options.explain_json, "print JSON; without an id, all of them");

  auto* const serve = app.add_subcommand("serve", "run as the agent in a guest");
  add_target(serve)->required();
  serve->add_option("--channel", options.channel, "serial port to the host")->required();
  serve->add_flag("--busy", options.busy, "tasks that do not belong to the suite run, too");
  add_pmu(serve);

  auto* const one = app.add_subcommand("case", "run one case in this process");
  add_target(one);
  one->add_option("id", options.case_id, "Suite.Name")->required();
  one->add_option("--at", options.at, "only this combination of dimensions: cpu=1,member=sibling");
  one->add_option("--result-fd", options.result_fd, "descriptor for the result, as JSON");
  add_pmu(one);
  add_lie(one);

  auto* const report = app.add_subcommand("report", "judge a recorded stream");
  add_target(report)->required();
  report->add_option("--stream", options.stream, "stream.jsonl")->required();
  add_layers(report);
  report->add_option("--profile", options.profile, "judge by this profile, not by the stream's");
  report->add_option("--again", options.repro_command, "repro command, without the id of the case");
  add_lava(report);
  add_verdict(report);
  report->add_option("--out", options.out, "folder for the reports")->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (list->parsed()) return List(options);
  if (described->parsed()) return DescribeTarget(options);
  if (run->parsed()) return options.pmu == "all" ? RunOnEachPmu(options) : Run(options);
  if (probe->parsed()) return ProbeCommand(options.probe);
  if (accuracy->parsed()) return AccuracyCommand(options.accuracy);
  if (watch->parsed()) return Watch(options.watch);
  if (programs.parsed()) return programs.Run();
  if (explain->parsed()) return ExplainOne(options);
  if (one->parsed()) return RunCase(options);
  if (report->parsed()) return ReportStream(options);
  context().pmu = options.pmu;
  const bool work = LoadTarget(options.target).HasWork();
  return RunAgent(options.target, options.channel, options.busy || work);
}

}  // namespace
}  // namespace pmuconf

int main(int argc, char** argv) {
  return pmuconf::Guarded([&] { return pmuconf::Main(argc, argv); });
}

// SPDX-License-Identifier: Apache-2.0
// One case: marks the end of the kernel log, runs the process, judges its end, reads the log.
#include "harness/executor.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "harness/case.h"
#include "harness/kmsg.h"
#include "system/cpu.h"
#include "text/json_line.h"

namespace pmuconf {
namespace {

// The time for which an undisturbed case waits for a CPU, as a fraction of the time that it runs.
constexpr double kMostWaited = 0.1;

std::string Number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

void JudgeEnd(const ProcessResult& process, double deadline_s, CaseResult* result) {
  if (process.timed_out) {
    result->result = Result::kTimeout;
    result->message = "did not end within " + Number(deadline_s) + " s";
    if (process.unkillable) result->message += "; the process survived SIGKILL";
    const std::size_t last = process.err.rfind("\nat ");
    if (process.err.starts_with("at ") || last != std::string::npos) {
      result->message += "\n";
      result->message += process.err.substr(last == std::string::npos ? 0 : last + 1);
    }
    return;
  }
  if (!process.signalled && process.status == 0 && DecodeResult(process.result, result)) return;
  result->result = Result::kBroken;
  result->skip_reason = SkipReason::kBroken;
  result->message = (process.signalled ? "killed by signal " + std::to_string(process.status - 128)
                                       : "ended with status " + std::to_string(process.status)) +
                    " without a result\n" + process.out + process.err;
}

}  // namespace

std::string EncodeResult(const CaseResult& result) {
  nlohmann::json line = {{"result", ToString(result.result)},
                         {"message", result.message},
                         {"skip_reason", ToString(result.skip_reason)},
                         {"disturbed", result.preempted}};
  if (!result.capability.empty()) line["capability"] = result.capability;
  if (!result.cpu_wide.empty()) line["cpu_wide"] = result.cpu_wide;
  if (result.interrupts > 0) line["interrupts"] = result.interrupts;
  if (result.counted) line["counted"] = *result.counted;
  if (result.stuck) line["stuck"] = true;
  if (!result.failed_rules.empty()) line["failed_rules"] = result.failed_rules;
  if (!result.measurements.empty()) line["measurements"] = ToJson(result.measurements);
  if (!result.lie.empty()) {
    line["lie"] = result.lie;
    line["lied"] = result.lied;
    line["named_rules"] = result.named_rules;
  }
  return JsonLine(line);
}

bool DecodeResult(const std::string& text, CaseResult* result) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("result") || !json.contains("message")) return false;
  if (!json["result"].is_string() || !json["message"].is_string()) return false;
  const auto parsed = ResultFromString(json["result"].get<std::string>());
  if (!parsed) return false;
  try {
    result->measurements =
        MeasurementsFromJson(json.value("measurements", nlohmann::json::array()));
  } catch (const std::exception&) {
    return false;
  }
  result->result = *parsed;
  result->message = json["message"].get<std::string>();
  result->skip_reason =
      SkipReasonFromString(json.value("skip_reason", std::string())).value_or(SkipReason::kNone);
  result->capability = json.value("capability", std::string());
  result->preempted = json.value("disturbed", false);
  result->interrupts = json.value("interrupts", std::uint64_t{0});
  if (json.contains("counted")) result->counted = json.value("counted", false);
  result->stuck = json.value("stuck", false);
  result->cpu_wide = json.value("cpu_wide", std::set<int>());
  result->lie = json.value("lie", std::string());
  result->lied = json.value("lied", std::uint64_t{0});
  result->failed_rules = json.value("failed_rules", std::vector<std::string>());
  result->named_rules = json.value("named_rules", std::vector<std::string>());
  return true;
}

void Executor::WatchOtherTasks() {
  if (!watch_) watch_ = std::make_unique<TaskWatch>(OnlineCpus());
}

std::string Executor::Disturbance(const CaseInfo& info, const CaseResult& result,
                                  const ProcessResult& process) {
  const bool timed_out = result.result == Result::kTimeout;
  const bool failed = result.result == Result::kFail;
  if (!failed && result.result != Result::kBroken && !timed_out) return "";
  if (result.preempted) return "another task preempted it";
  if (result.interrupts > 0) {
    return "the target's work_interrupts: " + std::to_string(result.interrupts) +
           " interrupts hit the work, and its event counts them";
  }
  if (!watch_) return "";
  const std::string others =
      !failed || result.cpu_wide.empty() ? "" : watch_->Others(result.pid, result.cpu_wide);
  if (!others.empty()) return "other tasks ran on the CPU of its events: " + others;
  const bool of_time = timed_out || !info.meta.timing.empty();
  if (!of_time || process.waited_s <= process.ran_s * kMostWaited) return "";
  return "other tasks took its time: it ran for " + Number(process.ran_s) + " s and waited for " +
         Number(process.waited_s) + " s";
}

CaseResult Executor::Run(const CaseInfo& info, double deadline_s, const std::string& lie) {
  Attempt last = Once(info, deadline_s, lie, Urgency::kOrdinary);
  // A preempted run is repeated whatever its result is, so that PASS and FAIL are treated the same.
  // A CRASH stands, because the kernel reported it.
  const auto repeats = [](const Attempt& attempt) {
    if (attempt.result.result == Result::kCrash || attempt.result.runs == kRuns) return false;
    return attempt.result.preempted || !attempt.disturbed.empty();
  };
  while (repeats(last)) {
    const int runs = last.result.runs + 1;
    const bool urgent = runs >= kUrgentRun && !last.result.preempted;
    Attempt next = Once(info, deadline_s - last.result.duration_s, lie,
                        urgent ? Urgency::kUrgent : Urgency::kOrdinary);
    const double duration_s = last.result.duration_s + next.result.duration_s;
    // A repeat that runs out of time is no evidence: the result before it stands.
    const bool timed_out = next.result.result == Result::kTimeout;
    const bool decides =
        !urgent || next.result.result == Result::kPass || next.result.result == Result::kCrash;
    if (!timed_out && decides) last = std::move(next);
    last.result.runs = runs;
    last.result.duration_s = duration_s;
    if (timed_out) break;
  }
  if (last.disturbed.empty()) return last.result;
  last.result.result = Result::kSkip;
  last.result.skip_reason = SkipReason::kNotQuiet;
  last.result.failed_rules.clear();
  last.result.message = last.disturbed + "\n" + last.result.message;
  return last.result;
}

Executor::Attempt Executor::Once(const CaseInfo& info, double deadline_s, const std::string& lie,
                                 Urgency urgency) {
  CaseResult result;
  result.id = info.Id();
  for (const Rule& rule : info.meta.rules) result.rules.emplace_back(rule.id);

  std::optional<KernelLog> log;
  if (kernel_log_) log.emplace();
  const std::uint64_t taint_before = Taint();
  std::vector<std::string> argv = {
      "/proc/self/exe",         "case", result.id, "--target", target_, "--result-fd",
      std::to_string(kResultFd)};
  if (!pmu_.empty()) argv.insert(argv.end(), {"--pmu", pmu_});
  if (!lie.empty()) argv.insert(argv.end(), {"--lie", lie});
  if (watch_) watch_->Restart();
  const ProcessResult process = RunProcess(argv, deadline_s, urgency);
  result.duration_s = process.duration_s;
  result.pid = process.pid;
  JudgeEnd(process, deadline_s, &result);

  std::vector<std::string> reports;
  if (log) reports = FindReports(log->Lines());
  const std::uint64_t taint = Taint();
  if (!reports.empty() || taint != taint_before) {
    std::string text = reports.empty() ? "taint" : "oops";
    if (taint != taint_before) {
      text += "\nkernel taint " + std::to_string(taint_before) + " became " + std::to_string(taint);
    }
    for (const std::string& report : reports) text += "\n" + report;
    result.message = text + (result.message.empty() ? "" : "\n" + result.message);
    result.result = Result::kCrash;
    result.skip_reason = SkipReason::kNone;
  }
  const std::string disturbed = Disturbance(info, result, process);
  return {std::move(result), disturbed};
}

}  // namespace pmuconf

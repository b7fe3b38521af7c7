// SPDX-License-Identifier: Apache-2.0
// Writes and reads recordings.
#include "tools/specify/record.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "system/broken.h"
#include "system/sysfs.h"
#include "target/target.h"
#include "text/one_line.h"

namespace pmuconf {
namespace {

using Json = nlohmann::json;

// Most members have their default, which is left out.
Json ToJson(const FollowedStep& step) {
  Json json = Json::object();
  if (!step.error.empty()) json["error"] = step.error;
  if (!step.judged) json["judged"] = false;
  if (step.free) json["free"] = true;
  if (!step.rule.empty()) json["rule"] = step.rule;
  for (const SpecDisagreement& each : step.disagreements) {
    json["disagreements"].push_back({{"check", RowOf(each.check).name},
                                     {"predicted", each.predicted},
                                     {"observed", each.observed},
                                     {"finding", each.finding}});
  }
  return json;
}

SpecCheck CheckNamed(const std::string& name) {
  const auto& rows = SpecChecks();
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&name](const SpecCheckRow& each) { return each.name == name; });
  if (row == rows.end()) throw ConfigError("unknown check '" + name + "'");
  return row->check;
}

FollowedStep StepFrom(const Json& json) {
  FollowedStep step;
  step.error = json.value("error", std::string());
  step.judged = json.value("judged", true);
  step.free = json.value("free", false);
  step.rule = json.value("rule", std::string());
  for (const Json& each : json.value("disagreements", Json::array())) {
    step.disagreements.push_back(
        {CheckNamed(each.at("check").get<std::string>()), each.at("predicted").get<std::string>(),
         each.at("observed").get<std::string>(), each.at("finding").get<std::string>()});
  }
  return step;
}

RecordedRun RunFrom(const Json& json) {
  RecordedRun run;
  run.target = json.at("target").get<std::string>();
  run.kernel = json.at("kernel").get<std::string>();
  if (json.contains("seed")) run.seed = json.at("seed").get<std::uint64_t>();
  run.from = json.at("from").get<std::uint64_t>();
  return run;
}

RecordedProgram ProgramFrom(const Json& json) {
  RecordedProgram recorded;
  recorded.program = ParseProgram(json.at("text").get<std::string>());
  for (const Json& step : json.at("steps")) recorded.steps.push_back(StepFrom(step));
  recorded.ended = json.value("ended", std::string());
  recorded.at = json.value("at", std::size_t{0});
  const std::size_t size = recorded.program.steps.size();
  if (recorded.steps.size() > size || (!recorded.ended.empty() && recorded.at >= size)) {
    throw ConfigError("has more observations than operations");
  }
  return recorded;
}

}  // namespace

std::string RunLine(const RecordedRun& run) {
  Json json = {{"t", "specify"}, {"target", run.target}, {"kernel", run.kernel}};
  if (run.seed) json["seed"] = *run.seed;
  json["from"] = run.from;
  return json.dump();
}

std::string ProgramLine(std::uint64_t number, const RecordedProgram& recorded) {
  Json json = {{"t", "program"}, {"program", number}, {"text", PrintProgram(recorded.program)}};
  json["steps"] = Json::array();
  for (const FollowedStep& step : recorded.steps) json["steps"].push_back(ToJson(step));
  if (!recorded.ended.empty()) {
    json["ended"] = recorded.ended;
    json["at"] = recorded.at;
  }
  return json.dump();
}

std::string EndLine() { return Json({{"t", "end"}}).dump(); }

ProgramRecorder::ProgramRecorder(const std::string& file, const RecordedRun& run)
    : file_(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644)) {
  if (file_.get() < 0) throw BrokenErrno(file, errno);
  Write(RunLine(run));
}

void ProgramRecorder::Add(std::uint64_t number, const Program& program,
                          const std::vector<FollowedStep>& steps) {
  Write(ProgramLine(number, {program, steps, "", 0}));
}

void ProgramRecorder::AddEnded(std::uint64_t number, const Program& program,
                               const std::string& ended, std::size_t at) {
  Write(ProgramLine(number, {program, {}, ended, std::min(at, program.steps.size() - 1)}));
}

void ProgramRecorder::End() { Write(EndLine()); }

void ProgramRecorder::Write(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = write(file_.get(), text.data() + at, text.size() - at);
    if (written <= 0) throw BrokenErrno("write to the recording", errno);
    at += static_cast<std::size_t>(written);
  }
}

Recording ParseRecording(std::string_view text, const std::string& name) {
  Recording recording;
  recording.name = name;
  bool begun = false, ended = false;
  unsigned number = 0;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    const std::string where = name + ":" + std::to_string(++number) + ": ";
    if (ended) throw ConfigError(where + "follows the last line of the recording");
    const Json json = Json::parse(text.substr(0, size), nullptr, false);
    text.remove_prefix(std::min(size + 1, text.size()));
    if (json.is_discarded() && text.empty() && begun) break;
    const std::string type = json.is_object() ? json.value("t", std::string()) : "";
    if (begun == (type == "specify") || type.empty()) {
      throw ConfigError(where + "is no recording of pmuconf specify");
    }
    try {
      if (type == "specify") recording.run = RunFrom(json);
      if (type == "program") {
        recording.programs.emplace(json.at("program").get<std::uint64_t>(), ProgramFrom(json));
      }
    } catch (const std::exception& error) {
      throw ConfigError(OneLine(where + error.what()));
    }
    begun = true;
    ended = type == "end";
  }
  if (!begun) throw ConfigError(name + ": is no recording of pmuconf specify");
  if (!ended) {
    throw ConfigError(name + ": is truncated after " + std::to_string(recording.programs.size()) +
                      " programs: it was cut, or its machine was lost in the next one");
  }
  return recording;
}

Recording LoadRecording(const std::string& path) {
  const auto text = ReadFile(path);
  if (!text) throw ConfigError(path + ": cannot be read");
  return ParseRecording(*text, path);
}

}  // namespace pmuconf

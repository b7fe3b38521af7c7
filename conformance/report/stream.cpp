// SPDX-License-Identifier: Apache-2.0
// Reads stream.jsonl.
#include "report/stream.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "system/sysfs.h"
#include "target/target.h"
#include "text/one_line.h"

namespace pmuconf {
namespace {

using Json = nlohmann::json;

std::vector<std::string> Strings(const Json& json) { return json.get<std::vector<std::string>>(); }

void ParseRun(const Json& json, Stream* stream) {
  stream->target = json.at("target").get<std::string>();
  stream->kernel = json.at("kernel").get<std::string>();
  stream->release = json.at("release").get<std::string>();
  stream->version = json.value("version", std::string());
  stream->arch = json.at("arch").get<std::string>();
  const Json& profile = json.value("profile", Json());
  if (profile.is_string()) stream->profile = profile.get<std::string>();
  stream->selected = Strings(json.at("selected"));
  stream->partial = json.at("partial").get<bool>();
  stream->drafted = json.value("drafted", false);
}

void ParseResult(const Json& json, Stream* stream) {
  CaseResult result;
  result.id = json.at("id").get<std::string>();
  const auto name = json.at("result").get<std::string>();
  const auto parsed = ResultFromString(name);
  if (!parsed) throw std::runtime_error("unknown result '" + name + "'");
  result.result = *parsed;
  result.duration_s = json.at("duration_s").get<double>();
  result.message = json.at("message").get<std::string>();
  const auto reason = json.value("skip_reason", std::string());
  const auto known = SkipReasonFromString(reason);
  if (!known) throw std::runtime_error("unknown skip reason '" + reason + "'");
  result.skip_reason = *known;
  result.capability = json.value("capability", std::string());
  if (json.contains("counted")) result.counted = json.at("counted").get<bool>();
  result.guest_lost = json.value("guest_lost", false);
  result.runs = json.value("runs", 1);
  result.failed_rules = json.value("failed_rules", std::vector<std::string>());
  result.measurements = MeasurementsFromJson(json.value("measurements", Json::array()));
  result.lie = json.value("lie", std::string());
  if (!result.lie.empty()) stream->lie = result.lie;
  stream->results.push_back(std::move(result));
}

void ParseLine(const Json& json, Stream* stream) {
  const auto type = json.at("t").get<std::string>();
  if (type == "run") {
    ParseRun(json, stream);
  } else if (type == "result") {
    ParseResult(json, stream);
  } else if (type == "kmsg") {
    for (const std::string& report : Strings(json.at("reports"))) {
      stream->problems.push_back(std::string(kKernelLog) + report);
    }
  } else if (type == "unload") {
    if (!json.at("ok").get<bool>()) {
      stream->problems.push_back("module does not unload: " + json.value("error", ""));
    }
  } else if (type == "end") {
    stream->ended = true;
  }
}

}  // namespace

Stream ParseStream(std::string_view text, const std::string& path) {
  Stream stream;
  int line_number = 0;
  bool begun = false;
  while (!text.empty()) {
    const std::size_t n = text.find('\n');
    const std::string_view line = text.substr(0, n);
    text.remove_prefix(n == std::string_view::npos ? text.size() : n + 1);
    ++line_number;
    if (line.empty()) continue;
    const bool first = !std::exchange(begun, true);
    const auto where = path + ":" + std::to_string(line_number) + ": ";
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded() && text.empty() && !first) break;
    if (!json.is_object()) throw ConfigError(where + "is not a JSON object");
    if (first != (json.value("t", Json()) == "run")) {
      throw ConfigError(where + "the first line, and only that, must have the type 'run'");
    }
    try {
      ParseLine(json, &stream);
    } catch (const std::exception& error) {
      throw ConfigError(OneLine(where + error.what()));
    }
  }
  if (!begun) throw ConfigError(path + ": is empty");
  return stream;
}

Stream LoadStream(const std::string& path) {
  const auto text = ReadFile(path);
  if (!text) throw ConfigError(path + ": cannot be read");
  return ParseStream(*text, path);
}

}  // namespace pmuconf

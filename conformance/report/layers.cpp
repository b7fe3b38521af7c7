// SPDX-License-Identifier: Apache-2.0
// Reads the result files of the other layers.
#include "report/layers.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "system/sysfs.h"
#include "target/target.h"
#include "text/one_line.h"

namespace pmuconf {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 5> kOtherLayers = {"kunit", kWatchLayer, "vm", "fuzz",
                                                          kSourceLayer};

CaseResult ParseCase(const Json& json) {
  CaseResult row;
  row.id = json.at("id").get<std::string>();
  const auto name = json.at("result").get<std::string>();
  const auto result = ResultFromString(name);
  if (!result) throw std::runtime_error("unknown result '" + name + "' of " + row.id);
  row.result = *result;
  row.message = json.value("message", std::string());
  row.rules = json.at("rules").get<std::vector<std::string>>();
  return row;
}

LayerResults Parse(std::string_view layer, const Json& json, const std::string& path) {
  LayerResults results;
  results.layer = layer;
  results.path = path;
  const auto stated = json.at("layer").get<std::string>();
  if (stated != layer) throw std::runtime_error("is a file of the layer " + stated);
  for (const auto& [key, value] :
       {std::pair("release", &results.release), std::pair("arch", &results.arch),
        std::pair("target", &results.target), std::pair("driver", &results.driver),
        std::pair("pmu", &results.pmu), std::pair("selected", &results.selected)}) {
    *value = json.value(key, std::string());
  }
  results.judged = json.value("verdict", std::string()) != "NOT_JUDGED";
  for (const Json& row : json.at("cases")) results.cases.push_back(ParseCase(row));
  results.problems = json.value("problems", std::vector<std::string>());
  return results;
}

// Returns "6.12.117" for "6.12.117+deb12-cloud-amd64": a kernel that is built for KUnit has the
// version of the stock kernel, but another name.
std::string_view VersionOf(std::string_view release) {
  return release.substr(0, release.find_first_not_of("0123456789."));
}

[[noreturn]] void Differs(const LayerResults& layer, std::string_view key, std::string_view found,
                          std::string_view wanted) {
  throw ConfigError(OneLine(layer.path + ": " + std::string(key) + " '" + std::string(found) +
                            "' of " + std::string(PhraseOfLayer(layer.layer)) + " differs from '" +
                            std::string(wanted) + "' of the run"));
}

}  // namespace

std::span<const std::string_view> OtherLayers() { return kOtherLayers; }

std::string_view PhraseOfLayer(std::string_view layer) {
  if (layer == kSuiteLayer) return "the suite";
  return layer == "kunit" ? "KUnit" : layer;
}

std::vector<std::string_view> LayersOf(const Rule& rule) {
  std::vector<std::string_view> layers;
  for (std::string_view rest = rule.layer; !rest.empty();) {
    const std::size_t n = rest.find(", ");
    const std::string_view name = rest.substr(0, n);
    layers.push_back(name == "case" ? kSuiteLayer : name);
    rest = n == std::string_view::npos ? "" : rest.substr(n + 2);
  }
  return layers;
}

LayerResults ParseLayer(std::string_view layer, std::string_view text, const std::string& path) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw ConfigError(path + ": is not a JSON object");
  try {
    return Parse(layer, json, path);
  } catch (const std::exception& error) {
    throw ConfigError(OneLine(path + ": " + error.what()));
  }
}

LayerResults LoadLayer(const std::string& option) {
  const std::size_t n = option.find('=');
  const std::string layer = option.substr(0, n);
  if (n == std::string::npos || std::ranges::count(kOtherLayers, layer) == 0) {
    throw ConfigError(
        OneLine("--layer '" + option +
                "': must be LAYER=FILE, with the layer kunit, watch, vm, fuzz or source"));
  }
  const std::string path = option.substr(n + 1);
  const auto text = ReadFile(path);
  if (!text) throw ConfigError(OneLine(path + ": cannot be read"));
  return ParseLayer(layer, *text, path);
}

void CheckSameSubject(std::span<const LayerResults> layers, const Stream& stream,
                      const Target& target) {
  std::set<std::string_view> seen;
  std::string_view pmu;
  for (const LayerResults& layer : layers) {
    if (!seen.insert(layer.layer).second) {
      throw ConfigError(OneLine(layer.path + ": a second file of the layer " + layer.layer));
    }
    if (!layer.release.empty() && VersionOf(layer.release) != VersionOf(stream.release))
      Differs(layer, "release", layer.release, stream.release);
    if (!layer.arch.empty() && layer.arch != stream.arch)
      Differs(layer, "arch", layer.arch, stream.arch);
    if (!layer.target.empty() && layer.target != stream.target)
      Differs(layer, "target", layer.target, stream.target);
    if (!layer.driver.empty() && layer.driver != target.module()) {
      Differs(layer, "driver", layer.driver,
              target.module().empty() ? "the kernel's own" : target.module());
    }
    if (layer.pmu.empty()) continue;
    if (fnmatch(target.match().c_str(), layer.pmu.c_str(), 0) != 0)
      Differs(layer, "pmu", layer.pmu, target.match());
    if (!pmu.empty() && layer.pmu != pmu) Differs(layer, "pmu", layer.pmu, pmu);
    pmu = layer.pmu;
  }
}

}  // namespace pmuconf

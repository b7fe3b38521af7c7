// SPDX-License-Identifier: Apache-2.0
// The results of the other layers: KUnit, watch, the vm and fuzz tests, and the review of the
// source (docs/judging.md, "Results of other layers").
#ifndef PMUCONF_REPORT_LAYERS_H_
#define PMUCONF_REPORT_LAYERS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/result.h"
#include "harness/rule.h"
#include "report/stream.h"

namespace pmuconf {

class Target;

inline constexpr std::string_view kSuiteLayer = "suite";
inline constexpr std::string_view kWatchLayer = "watch";
inline constexpr std::string_view kSourceLayer = "source";  // the review of the driver's source
inline constexpr std::string_view kReviewLayer = "review";  // no program tests the rule

// The results of one layer, from its file. A fact that the file does not state is "".
struct LayerResults {
  std::string layer;  // one of OtherLayers()
  std::string path;
  std::string release, arch, target, driver, pmu;
  std::string selected;  // the glob of the tests that ran; "" if all ran
  bool judged = true;    // false if the layer could not judge its run
  std::vector<CaseResult> cases;
  std::vector<std::string> problems;
};

// Returns the layers other than the suite: "kunit", "watch", "vm", "fuzz", "source".
std::span<const std::string_view> OtherLayers();

// Returns the name of a layer in a sentence: "the suite", "KUnit".
std::string_view PhraseOfLayer(std::string_view layer);

// Returns the layers that verify a rule: those of its key `layer`, "suite" for "case".
std::vector<std::string_view> LayersOf(const Rule& rule);

// Reads "kunit=FILE". Throws ConfigError, in one line, if the layer is unknown, or if the file
// cannot be read or is not a result file of this layer.
LayerResults LoadLayer(const std::string& option);
LayerResults ParseLayer(std::string_view layer, std::string_view text, const std::string& path);

// Throws ConfigError if a layer occurs twice, or if its file is of another kernel version,
// architecture, target, driver or PMU than the stream and the other files, as far as they state it.
void CheckSameSubject(std::span<const LayerResults> layers, const Stream& stream,
                      const Target& target);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_LAYERS_H_

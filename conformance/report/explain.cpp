// SPDX-License-Identifier: Apache-2.0
// Prints rules and tests for a terminal: a label of 10 characters, then the fact.
#include "report/explain.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "arch/machines.h"

namespace pmuconf {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLabel = 10;
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kPlain = "\x1b[0m";

std::string Text(const Json& facts, const char* key) { return facts.at(key).get<std::string>(); }

class Page {
 public:
  explicit Page(bool colour) : colour_(colour) {}

  std::string Paint(const char* code, const std::string& text) const {
    return colour_ ? code + text + kPlain : text;
  }
  void Line(const std::string& text) { os_ << text << "\n"; }
  void Fact(const std::string& label, const std::string& text) {
    const std::string head = label + ":";
    os_ << head << std::string(kLabel - std::min(kLabel - 1, head.size()), ' ') << text << "\n";
  }
  std::string text() const { return os_.str(); }

 private:
  bool colour_;
  std::ostringstream os_;
};

std::string Joined(const Json& names, const char* separator = ", ") {
  std::string text;
  for (const Json& name : names) text += (text.empty() ? "" : separator) + name.get<std::string>();
  return text;
}

std::string LabelOf(const std::string& layer) {
  return layer == "case" ? "case" : layer == "kunit" ? "KUnit" : "pytest";
}

// Returns "attr_size is 128 (before 6.12) or 136 (6.12)".
std::string Behaviours(const Json& values) {
  std::string text, last;
  for (const Json& value : values) {
    const std::string name = Text(value, "name");
    text += name == last ? " or " : (text.empty() ? "" : "; ") + name + " is ";
    text +=
        std::to_string(value["value"].get<std::int64_t>()) + " (" + Text(value, "kernels") + ")";
    last = name;
  }
  return text;
}

// Returns "M01-1 on refpmu, 6.12: The driver …  (seen: Counting.X on 6.12)".
std::string FaultLine(const Json& fault) {
  std::string text = Text(fault, "id");
  const std::string target = Text(fault, "target");
  if (!target.empty()) text += " on " + target;
  if (!fault["kernels"].empty()) text += ", " + Joined(fault["kernels"]);
  if (!Text(fault, "text").empty()) text += ": " + Text(fault, "text");
  if (fault["seen"].empty()) return text + "  (claimed)";
  std::string seen;
  for (const Json& one : fault["seen"]) {
    const std::string observer = Text(one, "observer"), kernel = Text(one, "kernel");
    seen += seen.empty() ? "" : "; ";
    seen.append(observer == "suite" ? "" : observer == "kunit" ? "KUnit " : observer + " ");
    seen.append(Text(one, "test"));
    if (!kernel.empty()) seen += " on " + kernel;
  }
  return text + "  (seen: " + seen + ")";
}

std::string WaiverLine(const Json& waiver) {
  std::string scope = Joined(waiver["targets"]);
  const std::string arch = Text(waiver, "arch");
  if (!arch.empty()) scope += ", " + arch;
  return Text(waiver, "id") + " for " + Text(waiver, "case") + " on " + scope + ", kernels " +
         Text(waiver, "kernels") + ": " + Text(waiver, "reason");
}

void AddMissing(const Json& facts, Page* page) {
  for (const Json& missing : facts["missing"]) page->Fact("missing", missing.get<std::string>());
}

void AddFaults(const Json& facts, Page* page) {
  for (const Json& fault : facts["faults"]) {
    page->Fact("fault", FaultLine(fault));
  }
}

void AddJudged(const Json& judged, Page* page) {
  for (const char* const result : JudgedResults()) {
    const std::string places = PlacesWith(judged, result);
    if (places.empty()) continue;
    const bool bad = std::string_view(result) == "FAILED";
    page->Fact("judged", (bad ? page->Paint(kRed, result) : std::string(result)) + " on " + places);
  }
}

}  // namespace

std::span<const char* const> JudgedResults() {
  static constexpr const char* kResults[] = {"PASSED",     "WAIVED",     "FAILED",
                                             "INCOMPLETE", "NOT_TESTED", "NOT_APPLICABLE"};
  return kResults;
}

std::string PlacesWith(const Json& judged, const std::string& result) {
  std::map<std::string, std::set<std::string>> kernels;
  for (const Json& row : judged) {
    if (row.at("result") != result) continue;
    const std::string observer = Text(row, "observer"), target = Text(row, "target");
    const std::string arch = Text(row, "arch"), kernel = Text(row, "kernel");
    std::string name = observer == "kunit" ? "KUnit" : target.empty() ? observer : target;
    if (!arch.empty() && arch != processor::kMachines.front()) name += " " + arch;
    if (kernel.empty())
      kernels[name];
    else
      kernels[name].insert(kernel);
  }
  std::string text;
  for (const auto& [name, names] : kernels) {
    std::string list;
    for (const std::string& kernel : names) list += (list.empty() ? "" : ", ") + kernel;
    text += (text.empty() ? "" : "; ") + name + (list.empty() ? "" : " (" + list + ")");
  }
  return text;
}

std::string ExplainRule(const Json& facts, bool colour) {
  Page page(colour);
  const std::string subject = Text(facts, "subject");
  page.Line(page.Paint(kBold, Text(facts, "id")) + "  " + Text(facts, "level") + ", " +
            Text(facts, "status") + (subject.empty() ? "" : ", subject: " + subject));
  page.Line("  " + Text(facts, "text"));
  const bool proven = ProofOf(facts) == Proof::kSeen || ProofOf(facts) == Proof::kClaimed;
  const std::string summary = Text(facts["proof"], "summary");
  page.Fact("why", Text(facts, "why"));
  page.Fact("source", Joined(facts["source"], "; "));
  page.Fact("applies", Text(facts, "applies"));
  page.Fact("kernels", Text(facts, "kernels"));
  if (!facts["behaviours"].empty()) page.Fact("differs", Behaviours(facts["behaviours"]));
  page.Fact("layer", Joined(facts["layer"]));
  page.Fact("profiles", facts["profiles"].empty() ? "none" : Joined(facts["profiles"]));
  for (const Json& place : facts["cases"]) {
    page.Fact("case", Text(place, "id") + "  " + Text(place, "file") + ":" +
                          std::to_string(place["line"].get<int>()));
    for (const Json& dimension : place["dimensions"]) page.Fact("over", dimension);
  }
  for (const Json& test : facts["tests"]) {
    page.Fact(LabelOf(Text(test, "layer")), Text(test, "name") + "  " + Text(test, "file"));
  }
  const std::string untested = Text(facts, "untested");
  const bool any = !facts["cases"].empty() || !facts["tests"].empty();
  if (!untested.empty()) {
    page.Fact("untested", untested);
  } else if (!any && facts["status"] == "active" && facts["missing"].empty()) {
    page.Fact("untested", "no reason is given");
  }
  page.Fact("can fail", page.Paint(proven ? kGreen : kRed, summary));
  AddFaults(facts, &page);
  AddJudged(facts["judged"], &page);
  for (const Json& finding : facts["findings"]) {
    page.Fact("finding", Text(finding, "title") + "  " + Text(finding, "link"));
  }
  for (const Json& waiver : facts["waivers"]) page.Fact("waiver", WaiverLine(waiver));
  AddMissing(facts, &page);
  return page.text();
}

std::string ExplainTest(const Json& facts, bool colour) {
  Page page(colour);
  page.Line(page.Paint(kBold, Text(facts, "id")) + "  " + LabelOf(Text(facts, "layer")));
  std::string place = Text(facts, "file");
  if (facts.contains("line")) place.append(":").append(std::to_string(facts["line"].get<int>()));
  page.Fact("file", place);
  for (const Json& rule : facts["rules"]) {
    page.Fact("rule", Text(rule, "id") + " " + Text(rule, "level") + "  " + Text(rule, "text"));
  }
  if (facts.contains("needs") && !facts["needs"].empty()) {
    page.Fact("needs", Joined(facts["needs"]));
  }
  if (facts.contains("timing") && !Text(facts, "timing").empty()) {
    page.Fact("timing", Text(facts, "timing"));
  }
  if (facts.contains("dimensions")) {
    for (const Json& dimension : facts["dimensions"]) page.Fact("over", dimension);
  }
  const bool failed = std::any_of(facts["faults"].begin(), facts["faults"].end(),
                                  [](const Json& fault) { return !fault["seen"].empty(); });
  if (!failed) {
    std::string text = "no fault was recorded that failed it";
    if (!facts["named_by"].empty()) {
      text.append("; these name its rules: ").append(Joined(facts["named_by"]));
    }
    page.Fact("can fail", text);
  }
  AddFaults(facts, &page);
  for (const Json& row : facts["failures"]) {
    page.Fact("failed", page.Paint(kRed, Text(row, "result")) + " on " + Text(row, "target") +
                            ", " + Text(row, "kernel") + " " + Text(row, "arch") + ", " +
                            Text(row, "when") + ": " + Text(row, "message"));
  }
  for (const Json& waiver : facts["waivers"]) page.Fact("waiver", WaiverLine(waiver));
  AddMissing(facts, &page);
  return page.text();
}

std::string ExplainUnproven(const FactSources& sources) {
  Page page(false);
  std::size_t active = 0, unproven = 0;
  for (const Rule& rule : sources.rules) {
    if (rule.status != RuleStatus::kActive) continue;
    ++active;
    const Json facts = RuleFacts(rule, sources);
    if (ProofOf(facts) != Proof::kNone) continue;
    ++unproven;
    page.Line(Text(facts, "id") + "  " + Text(facts, "level") + "  " +
              Text(facts["proof"], "summary"));
  }
  page.Line(std::to_string(unproven) + " of " + std::to_string(active) +
            " active rules: nothing was seen to fail them, and no reason is given");
  return page.text();
}

}  // namespace pmuconf

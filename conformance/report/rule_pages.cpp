// SPDX-License-Identifier: Apache-2.0
// Writes rules as Markdown.
#include "report/rule_pages.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "report/explain.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using Json = nlohmann::ordered_json;

// Both folders of generated pages are two levels below the root.
constexpr const char* kRoot = "../../";
constexpr const char* kIndex = "README.md";

std::string Text(const Json& facts, const char* key) { return facts.at(key).get<std::string>(); }

std::string AreaOf(const std::string& id) { return id.substr(0, id.find('-')); }

// Escapes Markdown syntax in a table or paragraph.
std::string Markdown(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<' || c == '*' || c == '|' || c == '[') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string Link(const std::string& name, const std::string& file, int line = 0) {
  std::string link = "[";
  link.append(Markdown(name)).append("](").append(kRoot).append(file);
  if (line != 0) link.append("#L").append(std::to_string(line));
  return link + ")";
}

std::string Joined(const Json& names, const std::string& separator) {
  std::string text;
  for (const Json& name : names) text += (text.empty() ? "" : separator) + name.get<std::string>();
  return text;
}

// Renderers make the heading "CNT-002" the anchor "cnt-002".
std::string AnchorOf(std::string id) {
  for (char& c : id) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return id;
}

void AddTests(const Json& facts, std::ostream& os) {
  for (const Json& place : facts["cases"]) {
    os << "- Case " << Link(Text(place, "id"), Text(place, "file"), place["line"].get<int>());
    if (!place["dimensions"].empty()) os << ", over " << Joined(place["dimensions"], "; ");
    os << "\n";
  }
  for (const Json& test : facts["tests"]) {
    os << "- " << (test["layer"] == "kunit" ? "KUnit " : "pytest ")
       << Link(Text(test, "name"), Text(test, "file")) << "\n";
  }
  const std::string untested = Text(facts, "untested");
  if (!untested.empty()) os << "- Untested: " << Markdown(untested) << "\n";
}

void AddFaults(const Json& facts, std::ostream& os) {
  os << "- Can it fail? " << Markdown(Text(facts["proof"], "summary")) << "\n";
  for (const Json& fault : facts["faults"]) {
    const std::string file = Text(fault, "file"), id = Text(fault, "id");
    const std::string target = Text(fault, "target");
    os << "  - " << Text(fault, "kind") << " fault "
       << (file.empty() ? Markdown(id) : Link(id, file));
    if (!target.empty()) os << " on " << Markdown(target);
    if (!fault["kernels"].empty()) os << ", " << Joined(fault["kernels"], ", ");
    os << ": " << Markdown(Text(fault, "text"));
    std::string seen;
    for (const Json& one : fault["seen"]) {
      seen += (seen.empty() ? " Seen: " : "; ") + Text(one, "test") + " on " + Text(one, "kernel");
    }
    os << (seen.empty() ? " (claimed)" : Markdown(seen)) << "\n";
  }
}

void AddResults(const Json& facts, std::ostream& os) {
  for (const char* const result : JudgedResults()) {
    const std::string places = PlacesWith(facts["judged"], result);
    if (!places.empty()) os << "- Judged: " << result << " on " << Markdown(places) << "\n";
  }
  for (const Json& finding : facts["findings"]) {
    os << "- Finding: " << Link(Text(finding, "title"), Text(finding, "link")) << "\n";
  }
  for (const Json& waiver : facts["waivers"]) {
    os << "- Waiver " << Text(waiver, "id") << " for " << Markdown(Text(waiver, "case")) << " on "
       << Markdown(Joined(waiver["targets"], ", ")) << ": " << Markdown(Text(waiver, "reason"))
       << "\n";
  }
}

std::string Section(const Json& facts, const std::string& heading) {
  std::ostringstream os;
  const std::string subject = Text(facts, "subject");
  os << "\n"
     << heading << " " << Text(facts, "id") << "\n\n**" << Text(facts, "level") << "**"
     << (facts["status"] == "active" ? "" : " (" + Text(facts, "status") + ")") << " "
     << Markdown(Text(facts, "text")) << "\n\n- Why: " << Markdown(Text(facts, "why"))
     << "\n- Source: " << Markdown(Joined(facts["source"], "; ")) << "\n- Applies to: `"
     << Text(facts, "applies") << "`, kernels `" << Text(facts, "kernels") << "`\n";
  if (!subject.empty()) os << "- Subject: " << subject << "\n";
  for (const Json& value : facts["behaviours"]) {
    os << "- Behaviour: " << Markdown(Text(value, "name")) << " is " << value["value"] << ": "
       << Markdown(Text(value, "kernels")) << "\n";
  }
  if (!facts["profiles"].empty()) {
    os << "- Profiles: " << Joined(facts["profiles"], ", ") << "\n";
  }
  AddTests(facts, os);
  AddFaults(facts, os);
  AddResults(facts, os);
  return os.str();
}

std::string CountOf(std::size_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string Plus(const std::string& text, const std::string& more) {
  return text.empty() ? more : text + ", " + more;
}

// Returns "2 cases, 1 KUnit", or "nothing".
std::string JudgedBy(const Json& facts) {
  std::string text;
  if (!facts["cases"].empty()) text = CountOf(facts["cases"].size(), "case");
  std::map<std::string, std::size_t> others;
  for (const Json& test : facts["tests"]) {
    ++others[test["layer"] == "kunit" ? "KUnit" : "pytest"];
  }
  for (const auto& [name, n] : others) text = Plus(text, std::to_string(n) + " " + name);
  return text.empty() ? "nothing" : text;
}

// Returns "2 driver faults, 1 answer fault", or "nothing", with a word for claims and reasons.
std::string FailedBy(const Json& facts) {
  const Proof proof = ProofOf(facts);
  if (proof == Proof::kNone) return "nothing";
  if (proof == Proof::kReason) return "nothing, with a reason";
  std::map<std::string, std::size_t> kinds;
  for (const Json& fault : facts["faults"]) {
    if (proof == Proof::kClaimed || !fault["seen"].empty()) ++kinds[Text(fault, "kind") + " fault"];
  }
  std::string text;
  for (const auto& [kind, n] : kinds) text = Plus(text, CountOf(n, kind));
  return text + (proof == Proof::kClaimed ? " (claimed)" : "");
}

// Returns "12 passed, 1 waived".
std::string Targets(const Json& facts) {
  std::string text;
  for (const auto& [result, word] :
       {std::pair("PASSED", "passed"), std::pair("WAIVED", "waived"), std::pair("FAILED", "failed"),
        std::pair("INCOMPLETE", "open"), std::pair("NOT_TESTED", "open")}) {
    std::size_t n = 0;
    for (const Json& row : facts["judged"]) n += row["result"] == result ? 1 : 0;
    if (n != 0) text = Plus(text, std::to_string(n) + " " + word);
  }
  return text;
}

std::string IndexOf(const std::vector<Json>& all, const std::map<std::string, int>& areas) {
  std::ostringstream os;
  os << "# The rules\n\n`make rules` generates these pages from the catalogue, the tests, the "
     << "faults and the results of runs. " << all.size() << " rules in " << areas.size()
     << " areas:";
  for (const auto& [area, n] : areas) os << " [" << area << "](" << area << ".md) " << n;
  os << ".\n\n- *judged by*: the tests that verify the rule\n"
     << "- *failed by*: the bugs on purpose that a test of the rule detects. *claimed*: no result "
     << "of such a run is recorded\n"
     << "- *targets*: the recorded results, one for each target and kernel that the rule applies "
     << "to\n\n| rule | level | subject | judged by | failed by | targets |\n"
     << "|---|---|---|---|---|---|\n";
  for (const Json& facts : all) {
    const std::string id = Text(facts, "id");
    os << "| [" << id << "](" << AreaOf(id) << ".md#" << AnchorOf(id) << ") | "
       << Text(facts, "level") << " | " << Text(facts, "subject") << " | " << JudgedBy(facts)
       << " | " << FailedBy(facts) << " | " << Targets(facts) << " |\n";
  }
  return os.str();
}

std::vector<Json> AllFacts(const FactSources& sources) {
  std::vector<Json> all;
  for (const Rule& rule : sources.rules) all.push_back(RuleFacts(rule, sources));
  return all;
}

std::map<std::string, int> AreasOf(const std::vector<Json>& all) {
  std::map<std::string, int> areas;
  for (const Json& facts : all) ++areas[AreaOf(Text(facts, "id"))];
  return areas;
}

}  // namespace

std::string OnePage(const FactSources& sources) {
  const auto all = AllFacts(sources);
  const auto areas = AreasOf(all);
  std::ostringstream os;
  os << "# The rules\n\n`make rules` generates this page from the catalogue, the tests, the "
     << "faults and the results of runs. " << all.size() << " rules in " << areas.size()
     << " areas:";
  for (const auto& [area, n] : areas) {
    os << " [" << area << "](#" << AnchorOf(area) << ") " << n;
  }
  os << ".\n";
  std::string area;
  for (const Json& facts : all) {
    if (AreaOf(Text(facts, "id")) != area) {
      area = AreaOf(Text(facts, "id"));
      os << "\n## " << area << "\n";
    }
    os << Section(facts, "###");
  }
  return os.str();
}

std::map<std::string, std::string> AreaPages(const FactSources& sources) {
  const auto all = AllFacts(sources);
  std::map<std::string, std::string> pages;
  for (const Json& facts : all) {
    const std::string area = AreaOf(Text(facts, "id"));
    std::string& page = pages[area + ".md"];
    if (page.empty()) page = "# Rules " + area + "\n\n[All rules](" + kIndex + ")\n";
    page += Section(facts, "##");
  }
  pages[kIndex] = IndexOf(all, AreasOf(all));
  return pages;
}

void WriteAreaPages(const FactSources& sources, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const auto& [name, text] : AreaPages(sources)) {
    const std::string path = folder + "/" + name;
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file) throw ConfigError(path + ": cannot be written");
  }
}

}  // namespace pmuconf

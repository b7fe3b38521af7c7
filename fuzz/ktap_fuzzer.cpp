// SPDX-License-Identifier: Apache-2.0
// Any recorded stream of results is either refused in one line that names the file, or judged. An
// independent reading of the reports agrees with the judgement. No message can forge a result, end
// a line or control a terminal.
#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lines.h"
#include "property.h"
#include "report/builtin.h"
#include "report/formats.h"
#include "report/stream.h"
#include "target/expression.h"

namespace pmuconf {
namespace {

constexpr std::array<Rule, 4> kRules = {{
    {"ONE-001", Level::kMust, RuleStatus::kActive, RuleSubject::kDriver, "It MUST.", "why", "",
     "true", ">=6.1", "case"},
    {"ONE-002", Level::kMust, RuleStatus::kActive, RuleSubject::kPerfCore, "It MUST.", "why", "",
     "bpf", ">=6.1", "case"},
    {"TWO-001", Level::kShould, RuleStatus::kActive, RuleSubject::kDriver, "It SHOULD.", "why", "",
     "true", ">=6.1", "case"},
    {"TWO-002", Level::kMust, RuleStatus::kActive, RuleSubject::kDriver, "It MUST.", "why", "",
     "true", ">=6.1", "kunit"},
}};

}  // namespace

// The harness has its own catalogue.
std::span<const Rule> AllRules() { return kRules; }
std::string_view NewestDescribedKernel() { return "7.3"; }
std::span<const UntestedReasonOfRule> UntestedReasons() { return {}; }

namespace fuzz {
namespace {

constexpr std::string_view kToday = "2026-01-01";

const std::vector<KnownCase>& Suite() {
  static const std::vector<KnownCase> suite = {{"A.One", {"ONE-001"}},
                                               {"A.Two", {"ONE-001", "ONE-002"}},
                                               {"B.Three", {"TWO-001"}},
                                               {"B.Four", {"ONE-001"}}};
  return suite;
}

const std::vector<Waiver>& Waivers() {
  static const std::vector<Waiver> waivers = {{"WVR-001",
                                               "somebody",
                                               "known",
                                               "link",
                                               "2026-12-31",
                                               {"B.Four"},
                                               {"toy"},
                                               ">=6.1",
                                               "",
                                               {Result::kFail},
                                               "somebody@example.org"}};
  return waivers;
}

const Target& ToyTarget() {
  static const Target toy = Target::Parse(
      "[target]\nname = 'toy'\nmatch = 'toy'\nkind = 'core'\n"
      "[counters]\ngeneral = 2\nwidth = 48\n"
      "[[event]]\nname = 'a'\ncounters = 'all'\naccuracy = 'exact'\n",
      "toy.toml");
  return toy;
}

bool IsControl(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

bool IsOneLine(std::string_view text) { return std::none_of(text.begin(), text.end(), IsControl); }

bool IsGood(Verdict verdict) {
  return verdict == Verdict::kConformant || verdict == Verdict::kPartial;
}

template <typename Make>
auto ValueUnlessRefused(Make make) -> std::optional<decltype(make())> {
  try {
    return make();
  } catch (const ConfigError& error) {
    PROPERTY(*error.what() != '\0' && IsOneLine(error.what()), "a refusal is one line");
    return std::nullopt;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    PROPERTY(false, "a stream is only refused as a wrong file");
  }
}

std::optional<Report> Judged(const Stream& stream) {
  return ValueUnlessRefused([&stream] {
    Report report = Judge(stream, ToyTarget(), WholeCatalogue(AllRules()), Suite(), Waivers(),
                          kToday, {}, Scope::kAll);
    report.repro_command = "pmuconf run --case ";
    return report;
  });
}

// The lines of a file, without a last line that is cut off.
void CheckStream(std::string_view text, const Stream& stream) {
  std::size_t results = 0;
  std::size_t runs = 0;
  bool ended = false;
  for (const std::string& line : Lines(text)) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) continue;
    const auto type = json.value("t", nlohmann::json());
    results += type == "result" ? 1 : 0;
    runs += type == "run" ? 1 : 0;
    ended = ended || type == "end";
  }
  PROPERTY(runs == 1, "a stream is one run");
  PROPERTY(stream.results.size() == results, "the stream has each result of the file");
  PROPERTY(stream.ended == ended, "a stream is complete if it has an end");
}

// Whether a case prevents CONFORMANT, as docs/judging.md defines it.
bool PreventsVerdict(const CaseResult& row, const Stream& stream) {
  const bool must = row.id != "B.Three" || stream.partial;
  switch (row.result) {
    case Result::kPass:
    case Result::kWaived:
      return false;
    case Result::kSkip:
      return row.skip_reason == SkipReason::kNotPermitted ||
             row.skip_reason == SkipReason::kNoSuchPmu || row.skip_reason == SkipReason::kNotQuiet;
    case Result::kUnexpectedPass:
      return true;
    default:
      return must && KernelMatches(">=6.1", stream.release);
  }
}

void CheckVerdict(const Report& report, const Stream& stream) {
  PROPERTY(report.cases.size() == stream.selected.size(), "each selected case has a result");
  for (std::size_t i = 0; i < report.cases.size(); ++i)
    PROPERTY(report.cases[i].id == stream.selected[i], "cases stand in the order of selection");
  for (const CaseResult& recorded : stream.results) {
    const bool bad = recorded.result == Result::kFail || recorded.result == Result::kTimeout ||
                     recorded.result == Result::kCrash;
    const auto row =
        std::find_if(report.cases.begin(), report.cases.end(),
                     [&recorded](const CaseResult& one) { return one.id == recorded.id; });
    PROPERTY(row != report.cases.end(), "no result gets lost");
    PROPERTY(!bad || (row->result != Result::kPass && row->result != Result::kSkip),
             "the worse of two results for a case counts");
  }
  PROPERTY((ExitStatus(report.verdict) == 0) == IsGood(report.verdict),
           "status 0 means conformant");
  PROPERTY(report.verdict != Verdict::kPartial || stream.partial, "a complete run is not partial");
  if (!IsGood(report.verdict)) return;
  PROPERTY(stream.ended, "a stream without its end is never a pass");
  PROPERTY(report.problems.empty(), "a kernel that complains is never a pass");
  PROPERTY(report.totals.passed + report.totals.waived > 0, "an empty run is never a pass");
  for (const CaseResult& row : report.cases)
    PROPERTY(!PreventsVerdict(row, stream), "a case that failed or has no answer is never a pass");
}

void CheckWorse(const Stream& stream) {
  Stream cut = stream;
  cut.ended = false;
  const auto lost = Judged(cut);
  PROPERTY(lost && !IsGood(lost->verdict), "a stream without its end is not judged conformant");
  const auto one = std::find(stream.selected.begin(), stream.selected.end(), "A.One");
  if (one == stream.selected.end() || !KernelMatches(">=6.1", stream.release)) return;
  if (std::count(one, stream.selected.end(), "A.One") > 1) return;
  Stream failed = stream;
  failed.results.push_back({"A.One", Result::kFail, 0.0, "late", {}});
  const auto worse = Judged(failed);
  PROPERTY(worse && worse->verdict == Verdict::kNotConformant, "the worse of two results counts");
}

// Reads KTAP like a reader for which a carriage return and similar characters also end a line.
void CheckKtap(const Report& report) {
  const std::string ktap = ToKtap(report);
  for (const char c : ktap) PROPERTY(c == '\n' || !IsControl(c), "only '\\n' ends a line");
  const std::vector<std::string> lines = Lines(ktap);
  PROPERTY(lines.size() >= 2 && lines[0] == "KTAP version 1", "KTAP begins with the version");
  PROPERTY(lines[1] == "1.." + std::to_string(report.cases.size()), "the plan follows the version");
  std::size_t n = 0;
  for (auto line = lines.begin() + 2; line != lines.end(); ++line) {
    if (line->starts_with("# ")) continue;
    PROPERTY(n < report.cases.size(), "the number of results is that of the plan");
    const CaseResult& row = report.cases[n++];
    const bool good =
        row.result == Result::kPass || row.result == Result::kSkip || row.result == Result::kWaived;
    const std::string head = (good ? "ok " : "not ok ") + std::to_string(n) + " " + row.id;
    PROPERTY(line->starts_with(head), "a result has its word, its number and its name");
    const std::string_view rest = std::string_view{*line}.substr(head.size());
    PROPERTY(rest.empty() || rest.starts_with(" # "), "only a directive may follow the name");
    PROPERTY(rest.starts_with(" # SKIP ") == (row.result == Result::kSkip),
             "a skipped case has SKIP");
    PROPERTY(rest.starts_with(" # XFAIL ") == (row.result == Result::kWaived),
             "a waived case has XFAIL");
  }
  PROPERTY(n == report.cases.size(), "the number of results is that of the plan");
}

// Removes one piece of markup from the front: "<name ...>", "</name>", "&amp;" or a plain byte.
class Xml {
 public:
  explicit Xml(std::string_view text) : rest_(text) {}

  void Read() {
    while (!rest_.empty()) {
      if (rest_.front() == '<') {
        Tag();
      } else {
        Character();
      }
    }
    PROPERTY(open_.empty(), "each element of junit.xml is closed");
  }
  std::size_t cases() const { return cases_; }
  std::size_t bad() const { return bad_; }

 private:
  void Tag() {
    const std::size_t end = rest_.find('>');
    PROPERTY(end != std::string_view::npos, "each tag is closed");
    std::string_view tag = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    if (tag.starts_with("?xml ")) return;
    if (tag.starts_with("/")) {
      PROPERTY(!open_.empty() && open_.back() == tag.substr(1),
               "a closing tag matches the last open one");
      open_.pop_back();
      return;
    }
    const std::string_view name = tag.substr(0, tag.find(' '));
    PROPERTY(kNames.contains(name), "junit.xml has no element but its own");
    cases_ += name == "testcase" ? 1 : 0;
    bad_ += name == "failure" || name == "error" ? 1 : 0;
    PROPERTY(std::count(tag.begin(), tag.end(), '"') % 2 == 0, "attributes are in quotes");
    open_.push_back(name);
  }
  void Character() {
    PROPERTY(!IsControl(rest_.front()) || rest_.front() == '\n' || rest_.front() == '\r' ||
                 rest_.front() == 0x7f,
             "XML permits each character");
    if (rest_.front() == '&') {
      const std::string_view entity = rest_.substr(0, rest_.find(';') + 1);
      PROPERTY(entity == "&amp;" || entity == "&lt;" || entity == "&gt;" || entity == "&quot;",
               "each entity is one of XML");
    }
    rest_.remove_prefix(1);
  }

  inline static const std::set<std::string_view> kNames = {"testsuites", "testsuite", "testcase",
                                                           "failure",    "error",     "skipped",
                                                           "properties", "property"};
  std::string_view rest_;
  std::vector<std::string_view> open_;
  std::size_t cases_ = 0, bad_ = 0;
};

void CheckJunit(const Report& report) {
  const std::string text = ToJunit(report);
  Xml xml(text);
  xml.Read();
  PROPERTY(xml.cases() == report.cases.size(), "junit.xml has each case once");
  const auto bad = std::count_if(report.cases.begin(), report.cases.end(), [](const auto& row) {
    return row.result != Result::kPass && row.result != Result::kSkip &&
           row.result != Result::kWaived;
  });
  PROPERTY(xml.bad() == static_cast<std::size_t>(bad), "junit.xml has each case that did not pass");
}

void CheckJson(const Report& report) {
  const auto json = nlohmann::json::parse(ToJson(report), nullptr, false);
  PROPERTY(json.is_object(), "results.json is JSON");
  PROPERTY(json["verdict"] == ToString(report.verdict) && json["reason"] == report.reason,
           "results.json has the verdict");
  PROPERTY(json["cases"].size() == report.cases.size(), "results.json has each case");
  for (std::size_t i = 0; i < report.cases.size(); ++i)
    PROPERTY(json["cases"][i]["id"] == report.cases[i].id &&
                 json["cases"][i]["result"] == ToString(report.cases[i].result) &&
                 json["cases"][i]["message"] == report.cases[i].message,
             "results.json has the result of each case");
}

// Returns the verdict of a line "perf core: NOT CONFORMANT: reason", or "" for another line.
std::string VerdictIn(std::string_view line) {
  for (const std::string_view subject : {"driver: ", "perf core: ", "architecture: ", "all: "}) {
    if (!line.starts_with(subject)) continue;
    line.remove_prefix(subject.size());
    for (const char* const verdict : {"CONFORMANT", "NOT CONFORMANT", "NOT JUDGED", "PARTIAL"}) {
      if (line.starts_with(verdict + std::string(": "))) return verdict;
    }
  }
  return "";
}

void CheckSummary(const Report& report) {
  const std::string summary = Summary(report);
  for (const char c : summary)
    PROPERTY(c == '\n' || !IsControl(c), "no text controls the terminal");
  std::string verdict(ToString(report.verdict));
  std::replace(verdict.begin(), verdict.end(), '_', ' ');
  const std::vector<std::string> lines = Lines(summary);
  std::vector<std::string> verdicts;
  for (const std::string& line : lines) {
    const std::string found = VerdictIn(line);
    if (!found.empty()) verdicts.push_back(found);
  }
  const auto n = static_cast<std::ptrdiff_t>(verdicts.size());
  PROPERTY(n > 0 && std::all_of(lines.end() - n, lines.end(),
                                [](const auto& line) { return !VerdictIn(line).empty(); }),
           "the output ends with the verdicts, and has no other ones");
  PROPERTY(verdicts.size() - report.verdicts.size() <= 1, "each subject has one verdict");
  PROPERTY(std::find(verdicts.begin(), verdicts.end(), verdict) != verdicts.end(),
           "one of them decides");
}

void CheckOne(std::string_view text) {
  const auto stream = ValueUnlessRefused([text] { return ParseStream(text, "s"); });
  if (!stream) return;
  CheckStream(text, *stream);
  const auto report = Judged(*stream);
  if (!report) return;
  CheckVerdict(*report, *stream);
  CheckWorse(*stream);
  CheckKtap(*report);
  CheckJunit(*report);
  CheckJson(*report);
  CheckSummary(*report);
}

}  // namespace
}  // namespace fuzz
}  // namespace pmuconf

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return pmuconf::fuzz::MutateLines(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  pmuconf::fuzz::CheckOne({reinterpret_cast<const char*>(bytes), size});
  return 0;
}

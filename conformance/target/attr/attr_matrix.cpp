// SPDX-License-Identifier: Apache-2.0
#include "target/attr/attr_matrix.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "system/broken.h"
#include "target/attr/attr_fields.h"
#include "target/attr/attr_observation.h"
#include "target/target.h"
#include "text/errno_name.h"

namespace pmuconf {
namespace {

constexpr int kRuns = 2;
constexpr double kSamples = 20;  // about as many as an event that samples has
constexpr double kNoise = 0.02;  // of a number that differs between runs with the same attr
constexpr std::size_t kShownDifferences = 2;
// For fields that a PMU does not support. EBUSY: another event has the resource.
constexpr int kRefusals[] = {EINVAL, EOPNOTSUPP, ENOENT, EACCES, EBUSY};
constexpr std::size_t kCandidates = 8;  // events to choose from

using Observations = std::vector<Observation>;

struct Range {
  double low, high;
};

Range RangeOf(const Observations& seen, const std::string& name) {
  Range range = {seen.front().Get(name), seen.front().Get(name)};
  for (const Observation& one : seen) {
    range.low = std::min(range.low, one.Get(name));
    range.high = std::max(range.high, one.Get(name));
  }
  return range;
}

std::string Number(double value) {
  std::ostringstream text;
  text.precision(12);
  text << value;
  return text.str();
}

// Returns the numbers that differ: "the count 1370 became 1070".
std::vector<std::string> Differences(const Observations& without, const Observations& with,
                                     bool exact) {
  std::set<std::string> names;
  for (const Observations* const seen : {&without, &with}) {
    for (const Observation& one : *seen) {
      for (const auto& [name, number] : one.numbers) names.insert(name);
    }
  }
  std::vector<std::string> differences;
  for (const std::string& name : names) {
    const Range before = RangeOf(without, name), after = RangeOf(with, name);
    const double spread = std::max(before.high - before.low, after.high - after.low);
    const double noise = exact || name != kCountName ? kNoise : 1.0;
    const double slack = spread == 0 ? 0 : 2 * spread + noise * std::abs(before.high);
    const bool appears = before.high == 0 && after.low > 0;
    const bool disappears = after.high == 0 && before.low > 0;
    const bool separate = after.low > before.high + slack || after.high < before.low - slack;
    if (!appears && !disappears && !separate) continue;
    const bool first = name == kCountName || name == kSamplesName;
    differences.insert(first ? differences.begin() : differences.end(),
                       name + " " + Number(before.low) + " became " + Number(after.low));
  }
  return differences;
}

class Matrix {
 public:
  Matrix() {
    const AttrField plain = {.name = "", .set = {}};
    Observation seen;
    for (const EventSpec& spec : target().AnyEvents(kCandidates)) {
      spec_ = spec;
      seen = Observe(spec_, AttrOf(plain, false), plain);
      if (seen.error == 0 && seen.Get(kCountName) > 0) break;
    }
    if (seen.error != 0) throw BrokenErrno("the event " + spec_.name, seen.error);
    period_ =
        static_cast<std::uint64_t>(std::max(1.0, std::floor(seen.Get(kCountName) / kSamples)));
    const AttrField samples = {.name = "", .set = {}, .samples = true};
    samples_ = Observe(spec_, AttrOf(samples, false), samples).error == 0;
  }

  // Without `observes`, only finds whether the field is refused.
  FieldFinding Try(const AttrField& field, bool observes) const {
    FieldFinding finding = {.field = field.name};
    const perf_event_attr with_field = AttrOf(field, true);
    if (const int error = OpenErrno(with_field); error != 0) {
      const bool usual = std::ranges::find(kRefusals, error) != std::ranges::end(kRefusals);
      finding.verdict = usual ? FieldVerdict::kRefused : FieldVerdict::kOddErrno;
      finding.error = error;
      return finding;
    }
    if (!observes) return finding;
    const Observation base = Observe(spec_, AttrOf(field, false), field);
    if (base.error != 0) {
      finding.effect = "the event without the field is refused: " + ErrnoName(base.error);
      return finding;
    }
    Observations without = {base}, with;
    for (int i = 0; i < kRuns; ++i) {
      if (i > 0) without.push_back(Observe(spec_, AttrOf(field, false), field));
      with.push_back(Observe(spec_, with_field, field));
    }
    finding.count = RangeOf(with, kCountName).low;
    const std::vector<std::string> differences = Differences(without, with, spec_.accuracy.exact());
    if (!differences.empty()) {
      finding.verdict = FieldVerdict::kHonoured;
      for (std::size_t i = 0; i < std::min(differences.size(), kShownDifferences); ++i) {
        finding.effect += (i == 0 ? "" : ", ") + differences[i];
      }
      return finding;
    }
    finding.verdict = MustShow(field, without) ? FieldVerdict::kIgnored : FieldVerdict::kNotShown;
    finding.effect = "no difference; without the field, the count is " +
                     Number(base.Get(kCountName)) + ", with " + Number(base.Get(kSamplesName)) +
                     " samples";
    return finding;
  }

 private:
  perf_event_attr AttrOf(const AttrField& field, bool with_field) const {
    perf_event_attr attr = MakeAttr(spec_, {.read_format = 0});
    if (field.samples && samples_) {
      attr.sample_period = period_;
      attr.sample_type = PERF_SAMPLE_IP;
    }
    if (field.base) field.base(attr);
    if (with_field) field.set(attr);
    return attr;
  }

  bool MustShow(const AttrField& field, const Observations& without) const {
    const Range count = RangeOf(without, kCountName);
    const bool steady =
        spec_.accuracy.exact() && count.low > 0 && count.high - count.low <= kNoise * count.high;
    switch (field.shows) {
      case Shows::kAlways:
        return true;
      case Shows::kCount:
        return steady;
      case Shows::kSamples:
        return RangeOf(without, kSamplesName).low > 0;
      case Shows::kTask:
        return steady && !target().Claims(Cap::kSystemWide);
      case Shows::kNever:
        return false;
    }
    return false;
  }

  EventSpec spec_;
  bool samples_ = true;
  std::uint64_t period_ = 1;
};

bool IsMode(const std::string& field) {
  return field == "exclude_user" || field == "exclude_kernel";
}

// Each event happens in user mode or in the kernel. An event that excludes one mode counts those of
// the other. If there are any, the exclusion of the other mode must change the count.
void JudgeExclusion(std::vector<FieldFinding>* findings) {
  for (FieldFinding& finding : *findings) {
    if (!IsMode(finding.field) || finding.verdict != FieldVerdict::kNotShown) continue;
    for (const FieldFinding& other : *findings) {
      if (!IsMode(other.field) || other.field == finding.field || other.count == 0) continue;
      finding.verdict = FieldVerdict::kIgnored;
      finding.effect += "; with " + other.field + " it is " + Number(other.count);
    }
  }
}

std::string_view Word(FieldVerdict verdict) {
  switch (verdict) {
    case FieldVerdict::kRefused:
      return "refused";
    case FieldVerdict::kHonoured:
      return "honoured";
    case FieldVerdict::kNotShown:
      return "not shown";
    case FieldVerdict::kIgnored:
      return "IGNORED";
    case FieldVerdict::kOddErrno:
      return "ODD ERRNO";
  }
  return "";
}

}  // namespace

std::vector<FieldFinding> AttrMatrix(MatrixScope scope) {
  const Matrix matrix;
  std::vector<FieldFinding> findings;
  for (const AttrField& field : AttrFields()) {
    const bool judged = field.shows != Shows::kNever || IsMode(field.name);
    findings.push_back(matrix.Try(field, judged || scope == MatrixScope::kAll));
  }
  JudgeExclusion(&findings);
  return findings;
}

std::string AttrTable(const std::vector<FieldFinding>& findings) {
  std::size_t width = 0;
  for (const FieldFinding& finding : findings) width = std::max(width, finding.field.size());
  std::ostringstream text;
  std::map<FieldVerdict, int> numbers;
  for (const FieldFinding& finding : findings) {
    ++numbers[finding.verdict];
    text << finding.field << std::string(width + 2 - finding.field.size(), ' ')
         << Word(finding.verdict) << std::string(11 - Word(finding.verdict).size(), ' ')
         << (finding.error != 0 ? ErrnoName(finding.error) : finding.effect) << '\n';
  }
  text << numbers[FieldVerdict::kRefused] + numbers[FieldVerdict::kOddErrno] << " refused, "
       << numbers[FieldVerdict::kHonoured] << " honoured, " << numbers[FieldVerdict::kNotShown]
       << " accepted without a visible effect, " << numbers[FieldVerdict::kIgnored] << " ignored\n";
  return text.str();
}

std::string AttrJson(const std::vector<FieldFinding>& findings) {
  nlohmann::json rows = nlohmann::json::array();
  for (const FieldFinding& finding : findings) {
    nlohmann::json row = {{"field", finding.field}, {"verdict", Word(finding.verdict)}};
    if (finding.error != 0) row["errno"] = ErrnoName(finding.error);
    if (!finding.effect.empty()) row["effect"] = finding.effect;
    rows.push_back(std::move(row));
  }
  return rows.dump(1) + "\n";
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// A program is compared up to its first difference, since all that follows may depend on it.
#include "tools/specify/compare.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "perf/event.h"
#include "report/kernel_bug.h"
#include "target/target.h"

namespace pmuconf {
namespace {

constexpr std::string_view kAsPredicted = "as predicted", kDiffers = "not as predicted";
constexpr std::size_t kShownPrograms = 5;

std::vector<std::string> Words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool Has(const std::string& kernel, std::string_view finding) {
  const std::optional<KernelVersion> version = ParseKernelVersion(kernel);
  for (const SpecFinding& each : kSpecFindings) {
    if (each.name != finding || !version) continue;
    const KernelBug bug = {Words(each.since), Words(each.fixed), "", ""};
    return bug.In(*version) != Affected::kOutside;
  }
  return false;
}

std::string NameOf(const Step& step) {
  std::string name(OperationName(step.operation));
  if (step.operation == Operation::kIoctl) {
    name += " " + std::string(ProgramIoctls()[step.which].name);
  }
  return name;
}

bool AsPredicted(const FollowedStep& step) { return step.judged && step.disagreements.empty(); }

const SpecDisagreement* DisagreementOf(const FollowedStep& step, SpecCheck check) {
  for (const SpecDisagreement& each : step.disagreements) {
    if (each.check == check) return &each;
  }
  return nullptr;
}

class Comparer {
 public:
  Comparer(const Recording& first, const Recording& second) : first_(first), second_(second) {}

  Comparison Run() {
    CheckSame();
    for (const auto& [number, one] : first_.programs) {
      const auto other = second_.programs.find(number);
      if (other == second_.programs.end()) {
        ++result_.alone;
        continue;
      }
      if (PrintProgram(one.program) != PrintProgram(other->second.program)) {
        throw ConfigError(second_.name + ": program " + std::to_string(number) +
                          " is not that of " + first_.name + ": other versions of pmuconf?");
      }
      ++result_.programs;
      Program(number, one, other->second);
    }
    result_.alone += second_.programs.size() - result_.programs;
    if (result_.programs == 0) {
      throw ConfigError(second_.name + ": has no program of " + first_.name);
    }
    std::stable_sort(result_.groups.begin(), result_.groups.end(),
                     [](const DifferenceGroup& a, const DifferenceGroup& b) {
                       return std::pair(a.difference, b.programs.size()) <
                              std::pair(b.difference, a.programs.size());
                     });
    return std::move(result_);
  }

 private:
  void CheckSame() const {
    const RecordedRun &one = first_.run, &other = second_.run;
    const auto refuse = [this](const std::string& what, const std::string& a,
                               const std::string& b) {
      throw ConfigError(second_.name + ": has " + what + " " + b + ", and " + first_.name +
                        " has " + a);
    };
    const auto seed = [](const RecordedRun& run) {
      return run.seed ? std::to_string(*run.seed) : "'none: given programs'";
    };
    if (one.target != other.target) refuse("target", one.target, other.target);
    if (one.seed != other.seed) refuse("seed", seed(one), seed(other));
  }

  void Program(std::uint64_t number, const RecordedProgram& one, const RecordedProgram& other) {
    if (one.ended != other.ended) {
      const auto name = [](const std::string& ended) { return ended.empty() ? "ends" : ended; };
      const std::array<std::string, 2> ends = {name(one.ended), name(other.ended)};
      Add(number, one, std::max(one.at, other.at), {}, "end", ends, ends);
      return;
    }
    const std::size_t size = std::min(one.steps.size(), other.steps.size());
    for (std::size_t i = 0; i < size; ++i) {
      const FollowedStep &a = one.steps[i], &b = other.steps[i];
      if (a.free && a.error != b.error) return;
      ++result_.operations;
      if (a.error != b.error) return Errnos(number, one, i, a, b);
      if (Checks(number, one, i, a, b)) return;
    }
  }

  void Errnos(std::uint64_t number, const RecordedProgram& program, std::size_t at,
              const FollowedStep& a, const FollowedStep& b) {
    const auto name = [](const FollowedStep& step) {
      return step.error.empty() ? std::string("0") : step.error;
    };
    const std::array<std::string, 2> errnos = {name(a), name(b)};
    Explained why;
    // The errno model knows the kernels.
    if (AsPredicted(a) && AsPredicted(b)) {
      why = {DifferenceClass::kKnownChange, a.rule.empty() ? b.rule : a.rule};
    } else {
      for (const FollowedStep* const step : {&a, &b}) {
        for (const SpecDisagreement& each : step->disagreements) {
          if (!each.finding.empty()) why = Explain(each.finding, step == &a, step == &b);
        }
      }
    }
    Add(number, program, at, why, "errno", errnos, errnos);
  }

  // Returns whether a check differs.
  bool Checks(std::uint64_t number, const RecordedProgram& program, std::size_t at,
              const FollowedStep& a, const FollowedStep& b) {
    for (const SpecCheckRow& row : SpecChecks()) {
      const SpecDisagreement* const one = DisagreementOf(a, row.check);
      const SpecDisagreement* const other = DisagreementOf(b, row.check);
      if (one == nullptr && other == nullptr) continue;
      if (one != nullptr && other != nullptr) {
        // Where the predictions differ, chance has had a part in the observations.
        if (one->predicted != other->predicted || one->observed == other->observed) continue;
      }
      const SpecDisagreement& shown = one == nullptr ? *other : *one;
      const auto kind = [](const SpecDisagreement* each) {
        return std::string(each == nullptr ? kAsPredicted : kDiffers);
      };
      const auto value = [](const SpecDisagreement* each) {
        return each == nullptr ? std::string(kAsPredicted)
                               : each->observed + ", predicted " + each->predicted;
      };
      Explained why;
      if (!shown.finding.empty()) why = Explain(shown.finding, one != nullptr, other != nullptr);
      Add(number, program, at, why, std::string(row.rule) + " " + std::string(row.name),
          {kind(one), kind(other)}, {value(one), value(other)});
      return true;
    }
    return false;
  }

  struct Explained {
    DifferenceClass difference = DifferenceClass::kNew;
    std::string reason;
  };

  // A finding explains only what a kernel shows that has it.
  Explained Explain(const std::string& finding, bool first_shows, bool second_shows) const {
    const bool first_has = Has(first_.run.kernel, finding);
    const bool second_has = Has(second_.run.kernel, finding);
    if ((first_shows && !first_has) || (second_shows && !second_has)) return {};
    if (first_has && second_has) return {DifferenceClass::kKnownDeviation, finding};
    return {first_has ? DifferenceClass::kKnownFix : DifferenceClass::kKnownRegression, finding};
  }

  void Add(std::uint64_t number, const RecordedProgram& recorded, std::size_t at, Explained why,
           const std::string& field, const std::array<std::string, 2>& kinds,
           const std::array<std::string, 2>& values) {
    const std::string operation = NameOf(recorded.program.steps[at]);
    auto group = std::find_if(
        result_.groups.begin(), result_.groups.end(), [&](const DifferenceGroup& each) {
          return each.difference == why.difference && each.reason == why.reason &&
                 each.operation == operation && each.field == field && each.kinds == kinds;
        });
    if (group == result_.groups.end()) {
      DifferenceGroup made;
      made.difference = why.difference;
      made.reason = why.reason;
      made.operation = operation;
      made.field = field;
      made.kinds = kinds;
      group = result_.groups.insert(group, std::move(made));
    }
    group->programs.push_back(number);
    if (!group->shortest.steps.empty() && group->shortest.steps.size() <= at + 1) return;
    group->values = values;
    group->shortest = recorded.program;
    group->shortest.steps.resize(at + 1);
  }

  const Recording &first_, &second_;
  Comparison result_;
};

std::string_view NameOf(DifferenceClass difference) {
  switch (difference) {
    case DifferenceClass::kKnownFix:
      return "known fix";
    case DifferenceClass::kKnownRegression:
      return "known regression";
    case DifferenceClass::kKnownDeviation:
      return "known deviation";
    case DifferenceClass::kKnownChange:
      return "known change of the ABI";
    case DifferenceClass::kNew:
      break;
  }
  return "new";
}

void PrintGroup(const DifferenceGroup& group, const std::array<const Recording*, 2>& of) {
  std::cout << "\n" << NameOf(group.difference);
  if (!group.reason.empty()) std::cout << " " << group.reason;
  std::cout << ": " << group.operation << ", " << group.field << ", " << group.programs.size()
            << " programs:";
  for (std::size_t i = 0; i < std::min(group.programs.size(), kShownPrograms); ++i) {
    std::cout << " " << group.programs[i];
  }
  std::cout << (group.programs.size() > kShownPrograms ? " ...\n" : "\n");
  std::cout << "pmuconf program for " << group.shortest.target << "\n";
  for (const Step& step : group.shortest.steps) {
    std::cout << PrintStep(step) << "\n";
    if (step.operation == Operation::kOpen) {
      std::cout << "#   " << Describe(step.call.Attr()) << "\n";
    }
  }
  for (std::size_t i = 0; i < of.size(); ++i) {
    std::cout << "#   " << of[i]->name << ": " << group.values[i] << "\n";
  }
}

}  // namespace

bool Comparison::HasNew() const {
  return std::any_of(groups.begin(), groups.end(), [](const DifferenceGroup& group) {
    return group.difference == DifferenceClass::kNew;
  });
}

Comparison Compare(const Recording& first, const Recording& second) {
  return Comparer(first, second).Run();
}

int CompareFiles(const CompareOptions& options) {
  const Recording first = LoadRecording(options.first), second = LoadRecording(options.second);
  const Comparison result = Compare(first, second);
  for (const Recording* const each : {&first, &second}) {
    std::cout << each->name << ": " << each->run.target << " on " << each->run.kernel << "\n";
  }
  std::size_t differ = 0;
  for (const DifferenceGroup& group : result.groups) differ += group.programs.size();
  std::cout << result.programs << " programs, " << result.operations << " operations compared; "
            << differ << " programs differ, in " << result.groups.size() << " ways";
  if (result.alone > 0) std::cout << "; " << result.alone << " programs ran only once";
  std::cout << "\n";
  for (const DifferenceGroup& group : result.groups) PrintGroup(group, {&first, &second});
  std::cout.flush();
  return result.HasNew() ? 1 : 0;
}

}  // namespace pmuconf

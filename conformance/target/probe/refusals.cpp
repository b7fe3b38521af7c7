// SPDX-License-Identifier: Apache-2.0
// Finds what a PMU supports, and the errno of each request that it refuses.
#include <algorithm>
#include <cerrno>
#include <ctime>
#include <functional>
#include <initializer_list>

#include "system/cpu.h"
#include "system/sysfs.h"
#include "target/probe/experiments.h"

namespace pmuconf {
namespace {

constexpr std::uint32_t kTypeOfNone = 0x7fffffff;  // far above those that the kernel allocates

// Returns whether the bits of two formats overlap.
bool Overlap(const FormatField& a, const FormatField& b) {
  return a.config == b.config && std::any_of(a.bits.begin(), a.bits.end(), [&](const auto& x) {
           return std::any_of(b.bits.begin(), b.bits.end(), [&](const auto& y) {
             return x.first <= y.second && y.first <= x.second;
           });
         });
}

class Refusals {
 public:
  Refusals(const ProbedPmu& pmu, PmuFacts* facts) : pmu_(pmu), facts_(*facts) {}

  // Finds the errors that this PMU returns where a rule leaves the choice to the driver.
  void Run() {
    const std::initializer_list<int> kAny = {EINVAL, EOPNOTSUPP};
    const OpenOptions samples = {.sample_period = kProbePeriod, .sample_type = PERF_SAMPLE_IP};
    const auto hv = [](perf_event_attr& attr) { attr.exclude_hv = 1; };
    const auto idle = [](perf_event_attr& attr) { attr.exclude_idle = 1; };
    const auto host = [](perf_event_attr& attr) { attr.exclude_host = 1; };
    const auto precise = [](perf_event_attr& attr) { attr.precise_ip = 1; };
    const std::map<std::string, FormatField> fields = ReadFormats(FolderOf(facts_.device));
    if (std::none_of(fields.begin(), fields.end(),
                     [](const auto& field) { return field.second.config == 2; })) {
      Refuses("config2", "config2 = 1, and sysfs has no format in it,", kAny,
              [](perf_event_attr& attr) { attr.config2 = 1; });
    }
    // The kernel rejects all exclude bits for a PMU with PERF_PMU_CAP_NO_EXCLUDE.
    const bool none = !facts_.exclude_user.ok() && !facts_.exclude_kernel.ok();
    if (!none || !Refuses("exclude", "exclude_hv", {EINVAL}, hv)) {
      Refuses("exclude_idle", "exclude_idle", kAny, idle);
      Refuses("exclude_host", "exclude_host", kAny, host);
    }
    if (facts_.sampling.ok() && facts_.precise.value == 0) {
      Refuses("precise", "precise_ip = 1", kAny, precise, samples);
    } else if (facts_.sampling.ok()) {
      Refuses("precise_counting", "precise_ip = 1 without sampling", kAny, precise);
    }
    if (facts_.sampling.ok() && !facts_.branches.ok()) BranchStack();
    bool extended = false;
    for (unsigned bit = 0; bit < 64 && !extended; ++bit) {
      extended =
          Refuses("extended_registers", "bit " + std::to_string(bit) + " of sample_regs_intr",
                  {EOPNOTSUPP}, [bit](perf_event_attr& attr) {
                    attr.sample_type = PERF_SAMPLE_REGS_INTR;
                    attr.sample_regs_intr = std::uint64_t{1} << bit;
                  });
    }
    Refuses("aux_output", "aux_output", {EOPNOTSUPP},
            [](perf_event_attr& attr) { attr.aux_output = 1; });
    Refuses("clock", "use_clockid with CLOCK_REALTIME", {EINVAL}, [](perf_event_attr& attr) {
      attr.use_clockid = 1;
      attr.clockid = CLOCK_REALTIME;
    });
  }

 private:
  // A driver may check the request before it looks whose event it is. The order of its errors is
  // then unlike that of other drivers, so the draft claims none of them.
  void BranchStack() {
    EventSpec foreign;
    foreign.type = kTypeOfNone;
    const auto branches = [](perf_event_attr& attr) {
      attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
    };
    const Finding other = pmu_.Try(foreign,
                                   {.sample_period = kProbePeriod,
                                    .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
                                    .edit = branches},
                                   "it");
    if (other.error == ENOENT) {
      facts_.refused.emplace_back("branch_stack", facts_.branches);
    } else {
      facts_.sampling_notes.push_back(
          {"branch_stack", "not among the refusals",
           facts_.branches.how + "; for a type that no PMU has, " + other.how});
    }
  }

  // Returns whether `edit` makes a disabled event fail with one of `errors`.
  bool Refuses(const std::string& key, const std::string& what, std::initializer_list<int> errors,
               const std::function<void(perf_event_attr&)>& edit, const OpenOptions& plain = {}) {
    OpenOptions options = plain;
    options.edit = edit;
    Finding finding = pmu_.Try(facts_.events.front().spec, options, what);
    if (std::find(errors.begin(), errors.end(), finding.error) == errors.end()) return false;
    facts_.refused.emplace_back(key, std::move(finding));
    return true;
  }

  const ProbedPmu& pmu_;
  PmuFacts& facts_;
};

// Many drivers of uncore PMUs refuse only events without a CPU. Perf's core then refuses the event
// of a task on one CPU, with EINVAL, after other checks that give EOPNOTSUPP.
void FindTaskRefusals(const ProbedPmu& pmu, PmuFacts* facts) {
  facts->task = pmu.TryTask(facts->events, "an event of a task", -1);
  if (!pmu.per_cpu() || facts->task.ok()) return;
  const std::string on_cpu = "an event of a task on one CPU";
  const Finding plain = pmu.TryTask(facts->events, on_cpu, pmu.cpu());
  const auto edits = {+[](perf_event_attr& attr) { attr.aux_output = 1; },
                      +[](perf_event_attr& attr) {
                        attr.sample_type = PERF_SAMPLE_REGS_INTR;
                        attr.sample_regs_intr = std::uint64_t{1} << 32;  // an extended one of x86
                      }};
  const bool core_refuses =
      plain.error == EINVAL && std::ranges::any_of(edits, [&](const auto& edit) {
        return pmu.TryTask(facts->events, on_cpu, pmu.cpu(), {.edit = edit}).error == EOPNOTSUPP;
      });
  if (!core_refuses && plain.error == facts->task.error) return;
  facts->no_cpu = facts->task;
  facts->no_cpu.how += "; the driver looks at the CPU alone";
  facts->task = core_refuses ? Finding{} : plain;
}

// The driver looks at an event first, then perf's core at the depth of its call chain, and only
// then at whether the PMU has an interrupt.
void FindWhoRefusesSampling(const ProbedPmu& pmu, PmuFacts* facts) {
  if (facts->sampling.error != EOPNOTSUPP) return;
  const auto too_deep = [](perf_event_attr& attr) { attr.sample_max_stack = UINT16_MAX; };
  const Finding deep = pmu.TryAny(facts->events,
                                  {.sample_period = kProbePeriod,
                                   .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
                                   .edit = too_deep},
                                  "it");
  facts->core_refuses_sampling = deep.error == EOVERFLOW;
  if (facts->core_refuses_sampling) facts->sampling.how += ", after the driver accepted it";
}

}  // namespace

void FindSupport(const ProbedPmu& pmu, PmuFacts* facts) {
  facts->sampling =
      pmu.TryAny(facts->events, {.sample_period = kProbePeriod, .sample_type = PERF_SAMPLE_IP},
                 "sample_period = " + std::to_string(kProbePeriod));
  FindWhoRefusesSampling(pmu, facts);
  FindTaskRefusals(pmu, facts);
  facts->exclude_user = pmu.TryAny(facts->events, {.exclude_user = true}, "exclude_user");
  facts->exclude_kernel = pmu.TryAny(facts->events, {.exclude_kernel = true}, "exclude_kernel");
}

void FindFormats(PmuFacts* facts) {
  const std::map<std::string, FormatField> fields = ReadFormats(FolderOf(facts->device));
  facts->filters = fields.contains("edge") && fields.contains("inv") && fields.contains("cmask");
  for (const auto& [name, field] : fields) {
    const bool exclusive =
        std::any_of(fields.begin(), fields.end(), [&name = name, &field = field](const auto& its) {
          return its.first != name && Overlap(field, its.second);
        });
    if (exclusive) facts->exclusive_formats.push_back(name);
  }
}

void FindRefusals(const ProbedPmu& pmu, PmuFacts* facts) { Refusals(pmu, facts).Run(); }

void FindExclusive(PmuFacts* facts) {
  EventSpec spec;
  spec.type = facts->type;
  const OpenResult first = ProbedPmu::OpenAt(spec, {.pid = -1, .cpu = CurrentCpu()});
  const OpenResult second = ProbedPmu::OpenAt(spec, {.pid = -1, .cpu = CurrentCpu()});
  if (!first.ok() || second.error != EBUSY) return;
  const std::string how = "a second event of the same CPU " + ErrnoText(second.error);
  facts->refused.emplace_back("exclusive", Finding{0, second.error, how});
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// The errno model predicts the result of the kernel: for one violation, for two, and for many.
#include <algorithm>
#include <random>
#include <tuple>

#include "cases/common.h"
#include "cases/unprivileged.h"
#include "oracle/open_environment.h"
#include "rules/ABI.h"
#include "rules/ERR.h"
#include "system/context.h"
#include "text/errno_name.h"

namespace pmuconf {
namespace {

using Violations = std::vector<const OpenViolation*>;

std::string Names(const Violations& violations) {
  std::string names;
  for (const OpenViolation* violation : violations) {
    names += (names.empty() ? "" : " + ") + std::string(violation->name);
  }
  return names.empty() ? "none" : names;
}

std::string PredictionText(const OpenPrediction& prediction) {
  if (prediction.check == nullptr) return "success";
  return ErrnoName(prediction.error) + " for " + std::string(prediction.check->rule) + ", " +
         std::string(prediction.check->name);
}

// Reports a failure unless the kernel returned a predicted errno. Returns whether it did.
bool Agrees(const OpenPrediction& predicted, int actual, const OpenCall& call,
            const Violations& violations) {
  if (predicted.error == actual || std::ranges::count(predicted.any_of, actual) != 0) return true;
  const perf_event_attr attr = call.Attr();
  ADD_FAILURE() << rule::ERR_027 << "\nviolations: " << Names(violations) << "\nthe model predicts "
                << PredictionText(predicted) << "\nthe kernel returns "
                << (actual == 0 ? "success" : ErrnoName(actual)) << "\nattr: size=" << attr.size
                << " " << Describe(attr) << " who=" << static_cast<int>(call.who)
                << " cpu=" << static_cast<int>(call.cpu)
                << " group=" << static_cast<int>(call.group) << " flags=" << call.flags;
  return false;
}

OpenCall CallWith(const OpenModel& model, const Violations& violations) {
  OpenCall call = model.ValidCall();
  for (const OpenViolation* violation : violations) violation->apply(call);
  return call;
}

bool Check(OpenEnvironment& environment, const Violations& violations) {
  const OpenCall call = CallWith(environment.model(), violations);
  return Agrees(environment.model().Predict(call), environment.Execute(call), call, violations);
}

void CheckEachAlone() {
  OpenEnvironment environment;
  EXPECT_TRUE(Check(environment, {}));
  for (const OpenViolation* violation : ApplicableViolations(environment.model()))
    Check(environment, {violation});
}

// Checks both orders, because a violation may overwrite a field that another one has set.
void CheckPairs() {
  OpenEnvironment environment;
  const Violations all = ApplicableViolations(environment.model());
  int wrong = 0;
  for (const OpenViolation* first : all) {
    for (const OpenViolation* second : all) {
      if (first != second && !Check(environment, {first, second})) ++wrong;
      ASSERT_LT(wrong, 10);
    }
  }
}

// Returns a random size of an attr. If a driver without a list of checks needs config2 for its
// event, the size covers it.
std::uint32_t RandomSize(const OpenPmu& pmu, std::mt19937_64& random) {
  constexpr std::array<std::uint32_t, 11> kSizes = {0,   64,  72,  80,  96, 104,
                                                    112, 120, 128, 136, 256};
  const std::uint32_t size = kSizes[random() % kSizes.size()];
  const bool needs_config2 = pmu.driver.empty() && pmu.config2 != 0;
  return needs_config2 ? std::max<std::uint32_t>(size, PERF_ATTR_SIZE_VER1) : size;
}

// Randomizes fields that do not change the result, or change it only in combination.
void ChangeAtRandom(const OpenPmu& pmu, OpenCall& call, std::mt19937_64& random) {
  constexpr std::uint64_t kPlainTypes =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_READ |
      PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID |
      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_WEIGHT;
  const std::uint64_t bits = random();
  call.Edit([&](perf_event_attr& attr) {
    attr.size = RandomSize(pmu, random);
    attr.sample_type |= bits & random() & kPlainTypes;
    attr.read_format |= random() & 31;
    attr.branch_sample_type = random();
    attr.sample_stack_user = static_cast<std::uint32_t>(random());
    attr.inherit = (bits & 1) != 0;
    attr.inherit_thread = (bits & 3) == 3;
    attr.mmap = (bits >> 2) & 1;
    attr.comm = (bits >> 3) & 1;
    attr.task = (bits >> 4) & 1;
    attr.sample_id_all = (bits >> 5) & 1;
    attr.inherit_stat = (bits >> 6) & 1;
    attr.watermark = (bits >> 7) & 1;
    attr.wakeup_events = static_cast<std::uint32_t>(random());
    attr.sig_data = random();
    attr.clockid = static_cast<std::int32_t>(random());
    attr.sample_max_stack = static_cast<std::uint16_t>(random());
  });
}

Violations RandomSubset(const Violations& all, std::mt19937_64& random) {
  Violations some;
  for (std::uint64_t n = random() % 5; n > 0; --n) some.push_back(all[random() % all.size()]);
  return some;
}

void CheckAtRandom(OpenEnvironment& environment, std::uint64_t seed, int calls) {
  std::mt19937_64 random(seed);
  const Violations all = ApplicableViolations(environment.model());
  int opened = 0;
  for (int i = 0; i < calls; ++i) {
    const Violations some = RandomSubset(all, random);
    OpenCall call = environment.model().ValidCall();
    ChangeAtRandom(environment.model().pmu(), call, random);
    for (const OpenViolation* violation : some) violation->apply(call);
    const OpenPrediction predicted = environment.model().Predict(call);
    const int actual = environment.Execute(call);
    ASSERT_TRUE(Agrees(predicted, actual, call, some)) << "seed " << seed << ", call " << i;
    if (actual == 0) ++opened;
  }
  EXPECT_GT(opened, calls / 50) << "too few random calls succeed";
}

// Random combinations. The fixed seeds make them the same in each run.
void CheckCombinations() {
  OpenEnvironment environment;
  for (const std::uint64_t seed : {1, 2, 3, 4}) CheckAtRandom(environment, seed, 750);
}

// The kernel checks the attr before it checks the event that the request would modify.
void CheckModifying() {
  OpenEnvironment environment;
  const OpenModel& model = environment.model();
  const OpenCall valid = model.ValidCall();
  const Event event = Open(valid.Attr(), valid.who == OpenWho::kAllTasks ? -1 : 0,
                           valid.cpu == OpenCpu::kAny ? -1 : target().Cpu(0));
  const Violations all = ApplicableViolations(model);
  for (const OpenViolation* first : all) {
    for (const OpenViolation* second : all) {
      const OpenCall call = CallWith(model, {first, second});
      ASSERT_TRUE(Agrees(model.PredictModify(call), environment.Modify(event, call), call,
                         {first, second}));
    }
  }
}

// Compares the next free descriptor, the driver's live events and the references to its module
// before and after each failed open.
void CheckTraces() {
  OpenEnvironment environment;
  const std::string references = "/sys/module/" + target().module() + "/refcnt";
  const auto state = [&] {
    const Fd next(dup(environment.leader().fd()));
    return std::tuple(next.get(), port().Stats().live_events, ReadFile(references));
  };
  const auto before = state();
  for (const OpenViolation* violation : ApplicableViolations(environment.model())) {
    const OpenCall call = CallWith(environment.model(), {violation});
    for (int i = 0; i < 3; ++i) environment.Execute(call);
    EXPECT_EQ(state(), before) << violation->name;
  }
}

// This violation needs another event on the exclusive PMU. An unprivileged process may not open it.
Violations WithoutOthers(Violations violations) {
  std::erase_if(violations, [](const OpenViolation* v) { return v->choice == "exclusive"; });
  return violations;
}

// Makes calls with one violation or with two, as an unprivileged process.
void CheckRights(int paranoid, bool pairs) {
  const Sysctl setting("kernel/perf_event_paranoid", std::to_string(paranoid));
  OpenSystem system = LocalSystem();
  system.administrator = false;
  OpenEnvironment environment(system);
  const Violations all = WithoutOthers(ApplicableViolations(environment.model()));
  const Violations none = {nullptr};
  SkipIfEventsNeedPrivileges();
  const Unprivileged unprivileged;
  for (const OpenViolation* first : all) {
    for (const OpenViolation* second : pairs ? all : none) {
      for (const bool user_only : {false, true}) {
        Violations wrong = {first};
        if (second != nullptr) wrong.push_back(second);
        OpenCall call = environment.model().ValidCall();
        call.Edit([&](perf_event_attr& attr) { attr.exclude_kernel = user_only; });
        for (const OpenViolation* violation : wrong) violation->apply(call);
        ASSERT_TRUE(
            Agrees(environment.model().Predict(call), environment.Execute(call), call, wrong))
            << "kernel.perf_event_paranoid " << paranoid;
      }
    }
  }
}

void CheckEachLevel() {
  for (const int paranoid : {-1, 0, 1, 2, 3}) CheckRights(paranoid, false);
}

CONFORMANCE_CASE(OpenModel, SingleViolationReturnsItsErrno,
                 .rules = {rule::ERR_027, rule::ABI_038}) {
  CheckEachAlone();
}

CONFORMANCE_CASE(OpenModel, TwoViolationsReturnFirstChecked,
                 .rules = {rule::ERR_027, rule::ABI_038}, .budget_s = 60) {
  CheckPairs();
}

CONFORMANCE_CASE(OpenModel, ManyViolationsReturnFirstChecked,
                 .rules = {rule::ERR_027, rule::ABI_038, rule::ABI_004}, .needs = {Cap::kCounters},
                 .budget_s = 60) {
  CheckCombinations();
}

CONFORMANCE_CASE(OpenModel, ModifyChecksAttrLikeOpen, .rules = {rule::ABI_036}) {
  if (target().type() == PERF_TYPE_BREAKPOINT)
    SkipUnclaimed("needs events that are no breakpoints");
  CheckModifying();
}

CONFORMANCE_CASE(OpenModel, RefusedOpenLeavesNothingBehind, .rules = {rule::ERR_028},
                 .needs = {Cap::kStimulus, Cap::kRegisters}) {
  CheckTraces();
}

CONFORMANCE_CASE(OpenModelTrace, SingleViolationReturnsItsErrno,
                 .rules = {rule::ERR_027, rule::ABI_038}, .needs = {Cap::kTrace}) {
  CheckEachAlone();
}

CONFORMANCE_CASE(OpenModelTrace, TwoViolationsReturnFirstChecked,
                 .rules = {rule::ERR_027, rule::ABI_038}, .needs = {Cap::kTrace}, .budget_s = 60) {
  CheckPairs();
}

CONFORMANCE_CASE(OpenModelTrace, ManyViolationsReturnFirstChecked,
                 .rules = {rule::ERR_027, rule::ABI_038, rule::ABI_004}, .needs = {Cap::kTrace},
                 .budget_s = 60) {
  CheckCombinations();
}

CONFORMANCE_CASE(OpenModelTrace, ModifyChecksAttrLikeOpen, .rules = {rule::ABI_036},
                 .needs = {Cap::kTrace}) {
  CheckModifying();
}

CONFORMANCE_CASE(OpenModelTrace, RefusedOpenLeavesNothingBehind, .rules = {rule::ERR_028},
                 .needs = {Cap::kTrace, Cap::kPort}) {
  CheckTraces();
}

CONFORMANCE_CASE(OpenModel, UnprivilegedViolationMatchesModel, .rules = {rule::ERR_027}) {
  CheckEachLevel();
}

CONFORMANCE_CASE(OpenModel, UnprivilegedViolationPairMatchesModel, .rules = {rule::ERR_027},
                 .budget_s = 60) {
  CheckRights(1, true);
}

CONFORMANCE_CASE(OpenModelTrace, UnprivilegedViolationMatchesModel, .rules = {rule::ERR_027},
                 .needs = {Cap::kTrace}) {
  CheckEachLevel();
}

CONFORMANCE_CASE(OpenModelTrace, UnprivilegedViolationPairMatchesModel, .rules = {rule::ERR_027},
                 .needs = {Cap::kTrace}, .budget_s = 60) {
  CheckRights(1, true);
}

}  // namespace
}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// The errno model predicts the result of the kernel: for one violation, for two, and for many.
#include <random>
#include <tuple>

#include "oracle/open_world.h"
#include "rules/ABI.h"
#include "rules/ERR.h"

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

std::string Told(const OpenAnswer& answer) {
  if (answer.check == nullptr) return "success";
  return ErrnoName(answer.error) + " for " + std::string(answer.check->rule) + ", " +
         std::string(answer.check->name);
}

// Reports a failure unless the kernel returned the predicted errno. Returns whether it did.
bool Agrees(const OpenAnswer& predicted, int seen, const OpenCall& call,
            const Violations& violations) {
  if (predicted.error == seen) return true;
  const perf_event_attr attr = call.Attr();
  ADD_FAILURE() << rule::ERR_027.text << "\nviolations: " << Names(violations)
                << "\nthe model predicts " << Told(predicted) << "\nthe kernel returns "
                << (seen == 0 ? "success" : ErrnoName(seen)) << "\nattr: size=" << attr.size << " "
                << Describe(attr) << " who=" << static_cast<int>(call.who)
                << " cpu=" << static_cast<int>(call.cpu)
                << " group=" << static_cast<int>(call.group) << " flags=" << call.flags;
  return false;
}

OpenCall With(const OpenModel& model, const Violations& violations) {
  OpenCall call = model.Good();
  for (const OpenViolation* violation : violations) violation->apply(call);
  return call;
}

bool Check(OpenWorld& world, const Violations& violations) {
  const OpenCall call = With(world.model(), violations);
  return Agrees(world.model().Predict(call), world.Make(call), call, violations);
}

void CheckEachAlone() {
  OpenWorld world;
  EXPECT_TRUE(Check(world, {}));
  for (const OpenViolation* violation : OpenViolationsOf(world.model())) Check(world, {violation});
}

// Checks both orders, because a violation may overwrite a field that another one has set.
void CheckPairs() {
  OpenWorld world;
  const Violations all = OpenViolationsOf(world.model());
  int wrong = 0;
  for (const OpenViolation* first : all) {
    for (const OpenViolation* second : all) {
      if (first != second && !Check(world, {first, second})) ++wrong;
      ASSERT_LT(wrong, 10);
    }
  }
}

// Randomizes fields that do not change the result, or change it only in combination.
void Vary(OpenCall& call, std::mt19937_64& random) {
  constexpr std::uint64_t kPlainTypes =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_READ |
      PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID |
      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_WEIGHT;
  constexpr std::array<std::uint32_t, 11> kSizes = {0,   64,  72,  80,  96, 104,
                                                    112, 120, 128, 136, 256};
  const std::uint64_t bits = random();
  call.Edit([&](perf_event_attr& attr) {
    attr.size = kSizes[random() % kSizes.size()];
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

Violations Some(const Violations& all, std::mt19937_64& random) {
  Violations some;
  for (std::uint64_t n = random() % 5; n > 0; --n) some.push_back(all[random() % all.size()]);
  return some;
}

void CheckAtRandom(OpenWorld& world, std::uint64_t seed, int calls) {
  std::mt19937_64 random(seed);
  const Violations all = OpenViolationsOf(world.model());
  int opened = 0;
  for (int i = 0; i < calls; ++i) {
    const Violations some = Some(all, random);
    OpenCall call = world.model().Good();
    Vary(call, random);
    for (const OpenViolation* violation : some) violation->apply(call);
    const OpenAnswer predicted = world.model().Predict(call);
    const int seen = world.Make(call);
    ASSERT_TRUE(Agrees(predicted, seen, call, some)) << "seed " << seed << ", call " << i;
    if (seen == 0) ++opened;
  }
  EXPECT_GT(opened, calls / 50) << "too few random calls succeed";
}

// Random combinations. The fixed seeds make them the same in each run.
void CheckCombinations() {
  OpenWorld world;
  for (const std::uint64_t seed : {1, 2, 3, 4}) CheckAtRandom(world, seed, 750);
}

// The kernel checks the attr before it checks the event that the request would modify.
void CheckModifying() {
  OpenWorld world;
  const OpenModel& model = world.model();
  const OpenCall good = model.Good();
  const Event event = Open(good.Attr(), good.who == OpenWho::kEveryone ? -1 : 0,
                           good.cpu == OpenCpu::kAny ? -1 : target().Cpu(0));
  const Violations all = OpenViolationsOf(model);
  for (const OpenViolation* first : all) {
    for (const OpenViolation* second : all) {
      const OpenCall call = With(model, {first, second});
      ASSERT_TRUE(
          Agrees(model.PredictModify(call), world.Modify(event, call), call, {first, second}));
    }
  }
}

// Compares the next free descriptor, the driver's live events and the references to its module
// before and after each failed open.
void CheckTraces() {
  OpenWorld world;
  const std::string references = "/sys/module/" + target().module() + "/refcnt";
  const auto state = [&] {
    const Fd next(dup(world.leader().fd()));
    return std::tuple(next.get(), port().Stats().live_events, ReadFile(references));
  };
  const auto before = state();
  for (const OpenViolation* violation : OpenViolationsOf(world.model())) {
    const OpenCall call = With(world.model(), {violation});
    for (int i = 0; i < 3; ++i) world.Make(call);
    EXPECT_EQ(state(), before) << violation->name << rule::ERR_028.text;
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
  OpenSystem system = SystemHere();
  system.administrator = false;
  OpenWorld world(system);
  const Violations all = WithoutOthers(OpenViolationsOf(world.model()));
  const Violations none = {nullptr};
  const Unprivileged unprivileged;
  for (const OpenViolation* first : all) {
    for (const OpenViolation* second : pairs ? all : none) {
      for (const bool user_only : {false, true}) {
        Violations wrong = {first};
        if (second != nullptr) wrong.push_back(second);
        OpenCall call = world.model().Good();
        call.Edit([&](perf_event_attr& attr) { attr.exclude_kernel = user_only; });
        for (const OpenViolation* violation : wrong) violation->apply(call);
        ASSERT_TRUE(Agrees(world.model().Predict(call), world.Make(call), call, wrong))
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
  CheckModifying();
}

CONFORMANCE_CASE(OpenModel, RefusedOpenLeavesNothingBehind, .rules = {rule::ERR_028},
                 .needs = {Cap::kStimulus, Cap::kPort}) {
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
                 .needs = {Cap::kTrace}) {
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

// SPDX-License-Identifier: Apache-2.0
// The errno model: violations reach each check, the table is valid, and the order is the kernel's.
#include "oracle/open_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>

namespace pmuconf {
namespace {

constexpr OpenBehaviour kWithoutCgroupEvents = {.cgroup_events = false};
constexpr OpenBehaviour kKernels[] = {kLikeLinux61, kLikeLinux612, kLikeLinux72,
                                      kWithoutCgroupEvents};

OpenSystem System(const OpenBehaviour& kernel) {
  OpenSystem system;
  system.behaviour = kernel;
  system.known_registers = 0xffff'ffff'00ff'0fff;
  system.extended_registers = 0xffff'ffff'0000'0000;
  return system;
}

// Returns a PMU whose driver accepts everything.
OpenPmu Plain() { return {.type = 42, .config = 7}; }

// Returns that PMU, and for each choice of a target file a PMU that refuses it.
std::vector<OpenPmu> PmusWithChoices() {
  std::vector<OpenPmu> pmus = {Plain()};
  for (const OpenCheck& check : OpenChecks()) {
    pmus.push_back(Plain());
    if (!check.choice.empty()) pmus.back().refusals[std::string(check.choice)] = EPERM;
    if (check.choice == "no_cpu") pmus.back().tasks = pmus.back().cpu_local = false;
  }
  return pmus;
}

const OpenViolation& Named(const OpenModel& model, std::string_view name) {
  for (const OpenViolation* violation : ApplicableViolations(model)) {
    if (violation->name == name) return *violation;
  }
  throw std::runtime_error("no violation " + std::string(name));
}

OpenPrediction PredictionOf(const OpenModel& model, const std::vector<std::string_view>& names) {
  OpenCall call = model.ValidCall();
  for (const std::string_view name : names) Named(model, name).apply(call);
  return model.Predict(call);
}

TEST(OpenModel, ValidCallsOpen) {
  for (const OpenBehaviour& kernel : kKernels) {
    for (const bool tasks : {true, false}) {
      OpenPmu pmu = Plain();
      pmu.tasks = pmu.cpu_local = tasks;
      const OpenModel model(System(kernel), pmu);
      EXPECT_EQ(model.Predict(model.ValidCall()).check, nullptr) << kernel.attr_size << tasks;
    }
  }
}

TEST(OpenModel, NoViolationNeedsAbsentCpu) {
  OpenPmu pmu = Plain();
  const std::size_t all = ApplicableViolations(OpenModel(System(kLikeLinux612), pmu)).size();
  pmu.cpus = 1;
  const OpenModel alone(System(kLikeLinux612), pmu);
  EXPECT_LT(ApplicableViolations(alone).size(), all);
  for (const OpenViolation* violation : ApplicableViolations(alone)) {
    OpenCall call = alone.ValidCall();
    violation->apply(call);
    EXPECT_NE(call.cpu, OpenCpu::kSecond) << violation->name;
  }
}

TEST(OpenModel, EveryCheckHasErrnoOrChoice) {
  for (const OpenCheck& check : OpenChecks()) {
    EXPECT_NE(check.refuses, nullptr) << check.name;
    EXPECT_EQ(check.error == 0, !check.choice.empty()) << check.name;
    EXPECT_TRUE(std::ranges::any_of(kKernels, [&](const OpenBehaviour& kernel) {
      return Includes(check.where, kernel);
    })) << check.name;
  }
}

// Each check must be reached by a single violation, so that a case covers it.
TEST(OpenModel, SingleViolationReachesEachCheck) {
  // Other tests cover privileges, and checks that need a machine in a special state.
  const std::set<std::string_view> elsewhere = {"PRM-001", "PRM-002", "PRM-005", "PRM-007",
                                                "PRM-008", "PRM-009", "PRM-010", "PRM-012",
                                                "ERR-005", "ERR-015", "INI-009"};
  std::set<const OpenCheck*> found;
  for (const OpenBehaviour& kernel : kKernels) {
    for (const bool tasks : {true, false}) {
      for (const OpenPmu& kind : PmusWithChoices()) {
        OpenPmu pmu = kind;
        pmu.tasks = pmu.cpu_local = tasks;
        const OpenModel model(System(kernel), pmu);
        for (const OpenViolation* violation : ApplicableViolations(model)) {
          found.insert(PredictionOf(model, {violation->name}).check);
        }
        OpenCall task = model.ValidCall();
        task.who = OpenWho::kThisTask;
        found.insert(model.Predict(task).check);
        // Not among the violations: another one would change the meaning of each fuzzed input.
        OpenCall config4 = model.ValidCall();
        config4.Put(offsetof(perf_event_attr, size), std::uint32_t{144});
        config4.Put(kOpenConfig4, std::uint64_t{1});
        found.insert(model.Predict(config4).check);
        OpenCall paused = model.ValidCall();
        paused.Put(kOpenReserved3, std::uint32_t{2});
        paused.Edit([](perf_event_attr& attr) { attr.aux_output = 1; });
        found.insert(model.Predict(paused).check);
      }
    }
  }
  for (const OpenCheck& check : OpenChecks()) {
    if (!elsewhere.contains(check.rule)) {
      EXPECT_TRUE(found.contains(&check)) << check.rule << " " << check.name;
    }
  }
}

TEST(OpenModel, UnstatedChoicesAreIgnored) {
  const OpenModel plain(System(kKernels[1]), Plain());
  for (const OpenViolation* violation : ApplicableViolations(plain)) {
    EXPECT_TRUE(violation->choice.empty()) << violation->name;
  }
  OpenPmu pmu = Plain();
  pmu.refusals["sampling"] = EOPNOTSUPP;
  const OpenModel model(System(kKernels[1]), pmu);
  EXPECT_EQ(PredictionOf(model, {"sampling"}).error, EOPNOTSUPP);
  EXPECT_EQ(ApplicableViolations(model).size(), ApplicableViolations(plain).size() + 1);
}

TEST(OpenModel, DriverMakesItsOwnChecksInAnyOrder) {
  OpenPmu pmu = Plain();
  pmu.tasks = pmu.cpu_local = false;
  pmu.refusals = {{"clock", EINVAL}, {"sampling", EOPNOTSUPP}, {"task", EINVAL}};
  const OpenModel model(System(kKernels[1]), pmu);
  EXPECT_EQ(PredictionOf(model, {"sampling", "task"}).any_of,
            (std::vector<int>{EINVAL, EOPNOTSUPP}));
  EXPECT_EQ(PredictionOf(model, {"sampling", "unknown clock"}).any_of,
            std::vector<int>{EOPNOTSUPP});
  EXPECT_EQ(PredictionOf(model, {"unknown clock"}).any_of, std::vector<int>());
}

// The driver's event_init precedes the capabilities of its PMU. The kernel checks
// PERF_PMU_CAP_NO_INTERRUPT last.
TEST(OpenModel, KernelRefusesSamplingAfterOtherCapabilities) {
  for (const OpenBehaviour& like : kKernels) {
    OpenPmu by_driver = Plain();
    by_driver.refusals["exclude"] = EINVAL;
    OpenPmu by_kernel = by_driver;
    by_driver.refusals["sampling"] = EOPNOTSUPP;
    by_kernel.refusals["no_interrupt"] = EOPNOTSUPP;
    const OpenModel driver(System(like), by_driver), kernel(System(like), by_kernel);
    EXPECT_EQ(PredictionOf(driver, {"sampling", "exclude_user"}).error, EOPNOTSUPP)
        << like.attr_size;
    EXPECT_EQ(PredictionOf(kernel, {"sampling without interrupt", "exclude_user"}).error, EINVAL)
        << like.attr_size;
    EXPECT_EQ(PredictionOf(kernel, {"sampling without interrupt"}).error, EOPNOTSUPP)
        << like.attr_size;
    EXPECT_EQ(PredictionOf(kernel, {"sampling without interrupt", "unknown clock"}).error,
              EOPNOTSUPP)
        << like.attr_size;
  }
}

TEST(OpenModel, FieldsBeyondTheSizeAreZero) {
  const OpenModel model(System(kKernels[0]), Plain());
  OpenCall call = model.ValidCall();
  call.Edit([](perf_event_attr& attr) {
    attr.sample_type = PERF_SAMPLE_STACK_USER;
    attr.sample_stack_user = 12;
    attr.use_clockid = 1;
    attr.clockid = 99;
  });
  EXPECT_EQ(model.Predict(call).check->rule, "ABI-024");
  call.Put(4, std::uint32_t{80});
  EXPECT_EQ(model.Predict(call).check, nullptr) << "no stack size, and the clock is number 0";
}

TEST(OpenModel, NewestFieldsDependOnKernel) {
  OpenPmu pmu = Plain();
  pmu.refusals["config4"] = EINVAL;
  const OpenModel before(System(kKernels[1]), pmu), newest(System(kKernels[2]), pmu);
  EXPECT_EQ(newest.attr_size(), 144u);
  OpenCall config4 = newest.ValidCall();
  config4.Put(offsetof(perf_event_attr, size), std::uint32_t{144});
  config4.Put(kOpenConfig4, std::uint64_t{1});
  EXPECT_EQ(before.Predict(config4).error, E2BIG);
  EXPECT_EQ(newest.Predict(config4).check->rule, "INI-011");
  OpenCall deferred = newest.ValidCall();
  deferred.Put(kOpenFlagBits + 4, std::uint8_t{0xc0});  // defer_callchain, defer_output
  EXPECT_EQ(before.Predict(deferred).check->rule, "ABI-012");
  EXPECT_EQ(newest.Predict(deferred).check, nullptr);
}

TEST(OpenModel, KnownFieldsDependOnKernel) {
  const OpenModel old(System(kKernels[0]), Plain());
  OpenPmu pmu = Plain();
  pmu.refusals["config3"] = EINVAL;
  const OpenModel recent(System(kKernels[1]), pmu);
  EXPECT_EQ(old.attr_size(), 128u);
  EXPECT_EQ(recent.attr_size(), 136u);
  EXPECT_EQ(PredictionOf(old, {"config3"}).error, E2BIG);
  EXPECT_EQ(PredictionOf(recent, {"config3"}).check->rule, "ABI-015");
  EXPECT_EQ(PredictionOf(old, {"aux_pause"}).check->rule, "ABI-014");
  EXPECT_EQ(PredictionOf(recent, {"aux_pause"}).check->rule, "ERR-031");
  OpenCall counts = recent.ValidCall();
  counts.Edit([](perf_event_attr& attr) {
    attr.inherit = 1;
    attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
  });
  EXPECT_EQ(old.Predict(counts).check->rule, "INH-009");
  EXPECT_EQ(recent.Predict(counts).check, nullptr);
}

TEST(OpenModel, OrderOfChecksDependsOnKernel) {
  OpenSystem system = System(kKernels[0]);
  system.administrator = false;
  system.paranoid = -1;
  const OpenModel old(system, Plain());
  system.behaviour = kKernels[1];
  const OpenModel recent(system, Plain());
  EXPECT_EQ(PredictionOf(old, {"another task than the leader's"}).error, EINVAL);
  EXPECT_EQ(PredictionOf(recent, {"another task than the leader's"}).error, EACCES);
  EXPECT_EQ(PredictionOf(old, {"output to another task"}).error, EINVAL);
  EXPECT_EQ(PredictionOf(recent, {"output to another task"}).error, EACCES);

  const auto offline = [](const OpenModel& model, OpenGroup group) {
    OpenCall call = model.ValidCall();
    call.who = OpenWho::kAllTasks;
    call.cpu = OpenCpu::kOffline;
    call.group = group;
    call.group_who = OpenWho::kAllTasks;
    call.group_cpu = OpenCpu::kOffline;
    return model.Predict(call).error;
  };
  EXPECT_EQ(offline(old, OpenGroup::kNone), ENODEV);
  EXPECT_EQ(offline(recent, OpenGroup::kNone), ENODEV);
  EXPECT_EQ(offline(old, OpenGroup::kSibling), EINVAL);
  EXPECT_EQ(offline(recent, OpenGroup::kSibling), ENODEV);
  EXPECT_EQ(offline(old, OpenGroup::kReadSizeLimit), E2BIG);
  EXPECT_EQ(offline(recent, OpenGroup::kReadSizeLimit), ENODEV);
  // An event that the kernel moves to another CPU ignores the offline CPU. `oracle` found that on
  // 6.1.
  OpenPmu elsewhere = Plain();
  elsewhere.cpu_local = false;
  EXPECT_EQ(offline(OpenModel(old.system(), elsewhere, {}), OpenGroup::kNone), 0);

  OpenPmu pmu = Plain();
  pmu.refusals = {{"exclude", EINVAL}, {"extended_registers", EOPNOTSUPP}};
  const std::vector<std::string_view> both = {"extended registers", "exclude_user"};
  EXPECT_EQ(PredictionOf(OpenModel(System(kKernels[0]), pmu), both).error, EINVAL);
  EXPECT_EQ(PredictionOf(OpenModel(System(kKernels[1]), pmu), both).error, EOPNOTSUPP);
}

TEST(OpenModel, KernelWithoutCgroupEventsRefusesEach) {
  const OpenModel with(System(kLikeLinux612), Plain());
  const OpenModel without(System(kWithoutCgroupEvents), Plain());
  EXPECT_EQ(PredictionOf(with, {"cgroup"}).error, 0);
  EXPECT_EQ(PredictionOf(without, {"cgroup"}).error, EINVAL);
  EXPECT_EQ(PredictionOf(with, {"no cgroup"}).error, EBADF);
  EXPECT_EQ(PredictionOf(without, {"no cgroup"}).error, EINVAL);
}

TEST(OpenModel, PrivilegesFollowParanoidLevel) {
  for (const OpenBehaviour& kernel : kKernels) {
    OpenSystem system = System(kernel);
    system.administrator = false;
    const auto found = [&](int paranoid, const std::vector<std::string_view>& names,
                           bool user_only) {
      system.paranoid = paranoid;
      const OpenModel model(system, Plain());
      OpenCall call = model.ValidCall();
      call.Edit([&](perf_event_attr& attr) { attr.exclude_kernel = user_only; });
      for (const std::string_view name : names) Named(model, name).apply(call);
      const OpenPrediction prediction = model.Predict(call);
      return prediction.check == nullptr ? std::string() : std::string(prediction.check->rule);
    };
    EXPECT_EQ(found(3, {}, true), "PRM-005");
    EXPECT_EQ(found(2, {}, false), "PRM-001");
    EXPECT_EQ(found(2, {}, true), "");
    EXPECT_EQ(found(1, {}, false), "");
    EXPECT_EQ(found(1, {"everyone"}, true), "PRM-002");
    EXPECT_EQ(found(0, {"everyone"}, true), "");
    EXPECT_EQ(found(2, {"physical addresses"}, true), "PRM-008");
    EXPECT_EQ(found(-1, {"namespaces"}, true), "PRM-008");
    EXPECT_EQ(found(-1, {"unchecked rights of a task"}, true), "PRM-007");
    EXPECT_EQ(found(2, {"call chain"}, true), kernel == kKernels[0] ? "" : "PRM-009");
  }
}

TEST(OpenModel, LockdownHidesRegistersFromRoot) {
  OpenSystem system = System(kKernels[0]);
  system.lockdown = true;
  const OpenModel model(system, Plain());
  OpenCall call = model.ValidCall();
  EXPECT_EQ(model.Predict(call).check, nullptr);
  call.Edit([](perf_event_attr& attr) {
    attr.sample_type = PERF_SAMPLE_REGS_INTR;
    attr.sample_regs_intr = 1;
  });
  EXPECT_EQ(model.Predict(call).error, EPERM);
  Named(model, "no such task").apply(call);
  EXPECT_EQ(model.Predict(call).check->rule, "PRM-012");
}

TEST(OpenModel, UnreadableSizeIsReportedForLongAttr) {
  const OpenModel model(System(kKernels[1]), Plain());
  OpenCall call = model.ValidCall();
  call.Put(4, std::uint32_t{4'096});
  EXPECT_EQ(model.Predict(call).error, EFAULT);
  call.Put(200, std::uint8_t{1});
  EXPECT_EQ(model.Predict(call).error, E2BIG) << "a byte that is not zero comes before it";
}

// Most drivers of such PMUs check the CPU alone.
TEST(OpenModel, DriverMayLeaveTaskEventsOfOneCpuToTheKernel) {
  for (const OpenBehaviour& kernel : kKernels) {
    OpenPmu pmu = Plain();
    pmu.tasks = pmu.cpu_local = false;
    pmu.refusals["no_cpu"] = EOPNOTSUPP;
    const OpenModel model(System(kernel), pmu);
    OpenCall call = model.ValidCall();
    call.who = OpenWho::kThisTask;
    EXPECT_EQ(model.Predict(call).error, EINVAL);
    EXPECT_EQ(PredictionOf(model, {"no CPU"}).error, EOPNOTSUPP);
  }
}

TEST(OpenModel, ModifyMakesParserChecksOnly) {
  OpenPmu pmu = Plain();
  pmu.refusals["exclude_idle"] = EOPNOTSUPP;
  const OpenModel model(System(kKernels[1]), pmu);
  OpenCall call = model.ValidCall();
  EXPECT_EQ(model.PredictModify(call).error, EOPNOTSUPP);
  Named(model, "no such task").apply(call);
  Named(model, "exclude_idle").apply(call);
  EXPECT_EQ(model.PredictModify(call).error, EOPNOTSUPP);
  Named(model, "unknown type").apply(call);
  EXPECT_EQ(model.PredictModify(call).error, EINVAL);
  Named(model, "size 63").apply(call);
  EXPECT_EQ(model.PredictModify(call).error, E2BIG);
}

}  // namespace
}  // namespace pmuconf

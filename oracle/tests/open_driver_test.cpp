// SPDX-License-Identifier: Apache-2.0
// The errno model with several PMUs: which PMU the kernel tries, and which errno each driver
// returns.
#include "oracle/open_driver.h"

#include <gtest/gtest.h>
#include <linux/hw_breakpoint.h>

#include <cerrno>
#include <set>
#include <string>

#include "oracle/open_random.h"

namespace pmuconf {
namespace {

constexpr OpenBehaviour kKernels[] = {kLikeLinux61, kLikeLinux612};
constexpr std::uint32_t kOwn = 40, kUncore = 41, kOpaque = 42;

OpenModel Model(const OpenBehaviour& kernel, const OpenPmu& target = ReferencePmu(kOwn)) {
  OpenSystem system;
  system.behaviour = kernel;
  return OpenModel(system, target,
                   {SoftwarePmu(), TracepointPmu({{PERF_TYPE_TRACEPOINT, 300}}), BreakpointPmu(),
                    ReferenceUncorePmu(kUncore, true), OpaquePmu(kOpaque)});
}

OpenPrediction PredictionOf(
    const OpenModel& model, const OpenEvent& event,
    const std::function<void(perf_event_attr&)>& edit = [](perf_event_attr&) {}) {
  OpenCall call = model.ValidCall();
  call.Edit([&](perf_event_attr& attr) {
    attr.type = event.type;
    attr.config = event.config;
    attr.config1 = event.config1;
    attr.config2 = event.config2;
    attr.bp_type = event.bp_type;
    edit(attr);
  });
  return model.Predict(call);
}

TEST(OpenDriver, EachListedEventOpens) {
  for (const OpenBehaviour& kernel : kKernels) {
    const OpenModel model = Model(kernel);
    for (const OpenPmu& pmu : model.pmus()) {
      for (const OpenEvent& event : pmu.events) {
        if (!pmu.tasks) continue;
        const OpenPrediction prediction = PredictionOf(model, event);
        EXPECT_EQ(prediction.check, nullptr)
            << event.type << " " << event.config << prediction.check->name;
      }
    }
  }
}

TEST(OpenDriver, EachCheckHasRuleAndErrno) {
  for (const std::span<const OpenCheck> driver : OpenDrivers()) {
    for (const OpenCheck& check : driver) {
      EXPECT_EQ(check.rule.size(), 7u) << check.name;
      EXPECT_NE(check.error, 0) << check.name;
      EXPECT_NE(check.refuses, nullptr) << check.name;
      EXPECT_FALSE(check.parser) << check.name;
    }
  }
}

TEST(OpenDriver, GenericEventsGoToCapableOrNamedPmu) {
  const std::uint64_t upper = 1ull << 32;
  for (const OpenBehaviour& kernel : kKernels) {
    const bool recent = kernel == kKernels[1];
    const OpenModel model = Model(kernel);
    const auto errno_of = [&](std::uint32_t type, std::uint64_t config) {
      return PredictionOf(model, {type, config}).error;
    };
    EXPECT_EQ(errno_of(PERF_TYPE_HARDWARE, 0), 0);
    EXPECT_EQ(errno_of(PERF_TYPE_HARDWARE, kOwn * upper), 0);
    EXPECT_EQ(errno_of(PERF_TYPE_HARDWARE, 77 * upper), 0) << "of no PMU: all are asked";
    EXPECT_EQ(errno_of(PERF_TYPE_HARDWARE, kUncore * upper), ENOENT);
    EXPECT_EQ(errno_of(PERF_TYPE_HARDWARE, kOpaque * upper), ENOENT);
    EXPECT_EQ(errno_of(PERF_TYPE_HARDWARE, PERF_TYPE_TRACEPOINT * upper), ENOENT);
    EXPECT_EQ(errno_of(PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE * upper), recent ? ENOENT : 0)
        << "older kernels do not look software up";
    EXPECT_EQ(errno_of(PERF_TYPE_HARDWARE, 10), EINVAL);
    EXPECT_EQ(errno_of(PERF_TYPE_HW_CACHE, 7), EINVAL);
    EXPECT_EQ(errno_of(PERF_TYPE_HW_CACHE, 0x201), ENOENT) << "a hole in the table";
    EXPECT_EQ(errno_of(PERF_TYPE_RAW, 0x01d0), 0);
    EXPECT_EQ(errno_of(99, 0), ENOENT);
    const OpenModel software = Model(kernel, SoftwarePmu());
    EXPECT_EQ(PredictionOf(software, {PERF_TYPE_HARDWARE, 0}).error, ENOENT);
    EXPECT_EQ(PredictionOf(software, {PERF_TYPE_RAW, 0}).check->rule, "INI-001");
  }
}

TEST(OpenDriver, MalformedEventIsReportedBeforeMissingFeature) {
  const OpenModel model = Model(kKernels[1]);
  const auto idle = [](perf_event_attr& attr) { attr.exclude_idle = 1; };
  EXPECT_EQ(PredictionOf(model, {kOwn, 0x01d0}, idle).error, EOPNOTSUPP);
  EXPECT_EQ(PredictionOf(model, {kOwn, 1ull << 32 | 0x01d0}, idle).check->rule, "INI-011");
  EXPECT_EQ(PredictionOf(model, {kOwn, 0x01d0, 1}, idle).check->rule, "INI-034");
  EXPECT_EQ(PredictionOf(model, {kOwn, 0x01b7, 0x3ffffc0001}).check, nullptr);
  EXPECT_EQ(PredictionOf(model, {kOwn, 0xffff}).check->rule, "INI-004");
  EXPECT_EQ(PredictionOf(model, {kOwn, 0x01d0 | 1u << 23}).check->rule, "INI-030");
}

TEST(OpenDriver, SmallerDeviceRejectsMore) {
  OpenPmu plain = ReferencePmu(kOwn);
  plain.refusals["precise"] = plain.refusals["branch_stack"] = EOPNOTSUPP;
  plain.min_period = 16;
  const OpenModel model = Model(kKernels[0], plain);
  EXPECT_EQ(PredictionOf(model, {PERF_TYPE_HW_CACHE, 2}).check->rule, "INI-006");
  EXPECT_EQ(PredictionOf(model, {kOwn, 0x01b7}).check->rule, "INI-004");
  const auto every = [](std::uint64_t period, bool freq) {
    return [=](perf_event_attr& attr) {
      attr.sample_period = period;
      attr.freq = freq;
    };
  };
  EXPECT_EQ(PredictionOf(model, {kOwn, 0x01d0}, every(15, false)).check->rule, "INI-035");
  EXPECT_EQ(PredictionOf(model, {kOwn, 0x01d0}, every(16, false)).check, nullptr);
  EXPECT_EQ(PredictionOf(model, {kOwn, 0x01d0}, every(15, true)).check, nullptr);
}

TEST(OpenDriver, FullGroupAcceptsFixedCounterEvents) {
  const OpenModel model = Model(kKernels[1]);
  OpenCall call = model.ValidCall();
  call.group = OpenGroup::kAllCounters;
  EXPECT_EQ(model.Predict(call).check->rule, "INI-021");
  call.Edit([](perf_event_attr& attr) { attr.config = 0x00c0; });
  EXPECT_EQ(model.Predict(call).check, nullptr);
  call.Edit([](perf_event_attr& attr) { attr.config = 0x00c0 | 1u << 18; });
  EXPECT_EQ(model.Predict(call).check->rule, "INI-021");
  call.group_type = PERF_TYPE_SOFTWARE;
  call.group_software = true;
  EXPECT_EQ(model.Predict(call).check, nullptr);
  call.group_type = kUncore;
  call.group_software = false;
  EXPECT_EQ(model.Predict(call).check->rule, "ERR-014");
}

TEST(OpenDriver, BreakpointTypeLengthAndAddressAreChecked) {
  const OpenModel model = Model(kKernels[0]);
  const auto errno_of = [&](std::uint64_t place, std::uint64_t length, std::uint32_t type) {
    return PredictionOf(model, {PERF_TYPE_BREAKPOINT, 0, place, length, type}).error;
  };
  EXPECT_EQ(errno_of(0x1000, 4, HW_BREAKPOINT_W), 0);
  EXPECT_EQ(errno_of(0x1002, 4, HW_BREAKPOINT_W), EINVAL);
  EXPECT_EQ(errno_of(0x1000, 3, HW_BREAKPOINT_W), EINVAL);
  EXPECT_EQ(errno_of(0x1000, 16, HW_BREAKPOINT_W), EOPNOTSUPP);
  EXPECT_EQ(errno_of(0x1000, 4, HW_BREAKPOINT_R), EINVAL);
  EXPECT_EQ(errno_of(0x1000, 4, HW_BREAKPOINT_EMPTY), EINVAL);
  EXPECT_EQ(errno_of(0x1001, 8, HW_BREAKPOINT_X), 0);
  EXPECT_EQ(errno_of(0x1001, 4, HW_BREAKPOINT_X), EINVAL);
  EXPECT_EQ(errno_of(0x1000, 0, HW_BREAKPOINT_W), EINVAL);
}

// The drawn calls are reproducible for a seed, and they reach every check of every driver.
TEST(OpenDriver, RandomCallsAreRepeatableAndReachEveryDriver) {
  const OpenModel model = Model(kKernels[1]);
  const OpenCallGenerator generator(model);
  std::set<std::string_view> names;
  for (std::uint64_t number = 0; number < 20'000; ++number) {
    SeededSource one(7, number), other(7, number);
    const OpenCall call = generator.Call(OpenCallKind::kMutated, one);
    if (number < 100) {
      EXPECT_EQ(call.attr, generator.Call(OpenCallKind::kMutated, other).attr);
    }
    const OpenPrediction prediction = model.Predict(call);
    names.insert(prediction.check == nullptr ? "opens" : prediction.check->name);
    EXPECT_TRUE(call.Attr().disabled) << number;
    EXPECT_NE(call.Attr().type, kOpaque) << number;
  }
  const std::set<std::string_view> elsewhere = {
      "no privilege for raw tracepoint data", "no privilege for a kernel breakpoint",
      "generic event without a counter", "precise_ip on a device without records",
      "period below the minimum"};
  for (const std::span<const OpenCheck> driver : OpenDrivers()) {
    for (const OpenCheck& check : driver) {
      EXPECT_TRUE(names.contains(check.name) || elsewhere.contains(check.name)) << check.name;
    }
  }
}

}  // namespace
}  // namespace pmuconf

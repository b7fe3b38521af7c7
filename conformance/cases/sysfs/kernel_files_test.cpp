// SPDX-License-Identifier: Apache-2.0
// The kernel's settings for perf, and the files in sysfs about the device of a PMU.
#include <sys/stat.h>

#include <sstream>

#include "cases/common.h"
#include "cases/fdinfo.h"
#include "cases/write_file.h"
#include "harness/behaviour.h"
#include "perf/kernel_behaviour.h"
#include "rules/SYS.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

// Writes `value` to the setting. Returns the errno, or 0.
int SetError(const std::string& name, const std::string& value) {
  return WriteError("/proc/sys/" + name, value);
}

// A setting that accepts each value of `good`. It rejects each of `bad` with EINVAL and keeps its
// value.
struct Setting {
  const char* name;
  std::vector<std::string> good, bad;
};

CONFORMANCE_CASE(Sysctl, SettingsKeepValidValues, .rules = {rule::SYS_015}) {
  const std::vector<Setting> settings = {
      {"kernel/perf_event_paranoid", {"-1", "0", "1", "2"}, {"none"}},
      {"kernel/perf_event_mlock_kb", {"516", "8", "1024"}, {"many"}},
      {"kernel/perf_event_max_stack", {"0", "1", "127", "655360"}, {"-1", "655361", "deep"}},
      {"kernel/perf_event_max_contexts_per_stack", {"0", "8", "1000"}, {"-1", "1001"}},
      {"kernel/perf_cpu_time_max_percent", {"0", "25", "99", "100"}, {"-1", "101", "half"}},
  };
  for (const Setting& setting : settings) {
    const Sysctl restored(setting.name, Sysctl::Get(setting.name));
    for (const std::string& value : setting.good) {
      EXPECT_EQ(SetError(setting.name, value), 0) << setting.name;
      for (const std::string& bad : setting.bad) {
        EXPECT_EQ(SetError(setting.name, bad), EINVAL) << setting.name;
      }
      EXPECT_EQ(Sysctl::Get(setting.name), value) << setting.name;
    }
  }
}

CONFORMANCE_CASE(Sysctl, SampleRateNeedsCpuTimeLimit, .rules = {rule::SYS_015}) {
  const std::string rate = "kernel/perf_event_max_sample_rate";
  const std::string percent = "kernel/perf_cpu_time_max_percent";
  const SampleRateLimit restored(SampleRateLimit::kNoLimit);
  {
    const Sysctl limited(percent, "25");
    EXPECT_EQ(SetError(rate, "54321"), 0);
    EXPECT_EQ(SetError(rate, "0"), EINVAL);
    EXPECT_EQ(Sysctl::Get(rate), "54321");
    EXPECT_THAT(TryOpen(Software(PERF_COUNT_SW_CPU_CLOCK), {.sample_freq = 54'321}), Succeeds());
    EXPECT_THAT(TryOpen(Software(PERF_COUNT_SW_CPU_CLOCK), {.sample_freq = 54'322}),
                FailsWith(EINVAL));
  }
  for (const char* off : {"0", "100"}) {
    const Sysctl unlimited(percent, off);
    EXPECT_EQ(SetError(rate, "1000"), EINVAL);
    EXPECT_EQ(Sysctl::Get(rate), "54321");
  }
}

CONFORMANCE_CASE(Sysctl, MaxStackIsBusyWhileInUse, .rules = {rule::SYS_015}) {
  const std::string depth = "kernel/perf_event_max_stack";
  const Sysctl restored(depth, "100");
  const auto with_chain = [](unsigned frames) {
    return TryOpen(Software(PERF_COUNT_SW_CPU_CLOCK), {.sample_period = 1'000'000,
                                                       .sample_type = PERF_SAMPLE_CALLCHAIN,
                                                       .edit = [frames](perf_event_attr& attr) {
                                                         attr.sample_max_stack =
                                                             static_cast<std::uint16_t>(frames);
                                                       }});
  };
  {
    const OpenResult user = with_chain(100);
    ASSERT_THAT(user, Succeeds());
    EXPECT_EQ(SetError(depth, "90"), EBUSY);
    EXPECT_EQ(Sysctl::Get(depth), "100");
  }
  EXPECT_THAT(with_chain(101), FailsWith(EOVERFLOW));
  // The failed open does not use the call chain buffers.
  EXPECT_EQ(SetError(depth, "90"), 0);
}

CONFORMANCE_CASE(Sysfs, IdentifierAndDeviceLinkAreValid, .rules = {rule::SYS_018}) {
  struct stat info = {};
  if (stat(DeviceFile("identifier").c_str(), &info) == 0) {
    const auto text = ReadFile(DeviceFile("identifier"));
    ASSERT_TRUE(text);
    EXPECT_FALSE(text->empty() || text->find('\n') != std::string::npos);
  }
  // The folder of each PMU links to its bus. If the PMU has a device, it links to the folder of
  // that device.
  EXPECT_EQ(stat(DeviceFile("subsystem/devices").c_str(), &info), 0);
  if (lstat(DeviceFile("device").c_str(), &info) == 0) {
    EXPECT_EQ(stat(DeviceFile("device/uevent").c_str(), &info), 0);
  }
}

std::string Hex(std::uint64_t value) {
  std::ostringstream os;
  os << "0x" << std::hex << value;
  return os.str();
}

CONFORMANCE_CASE(Proc, FdinfoShowsTheAttr, .rules = {rule::SYS_022}) {
  if (!FdinfoShowsAttr()) SkipWithout("the attr in /proc/PID/fdinfo");
  const EventSpec spec = target().AnyEvent();
  const auto shown = [](int fd, const std::string& name) {
    return FdinfoValue(fd, name).value_or("not shown");
  };
  const auto check = [&](const Event& event, std::uint32_t type, std::uint64_t config) {
    EXPECT_EQ(shown(event.fd(), "perf_event_attr.type"), std::to_string(type));
    EXPECT_EQ(shown(event.fd(), "pmu_type"), std::to_string(spec.type));
    EXPECT_EQ(shown(event.fd(), "perf_event_attr.config"), Hex(config));
  };
  check(Open(spec), spec.type, spec.config);
  for (const EventSpec& each : target().Events()) {
    if (!each.generic) continue;
    check(Open(AsGeneric(each)), PERF_TYPE_HARDWARE, *each.generic);
    break;
  }
  perf_event_attr attr = MakeAttr(Software(PERF_COUNT_SW_DUMMY));
  attr.size = sizeof(attr);
  const std::vector<std::pair<std::string, __u64*>> words = {{"config1", &attr.config1},
                                                             {"config2", &attr.config2},
                                                             {"config3", &attr.config3},
                                                             {"config4", &attr.config4}};
  for (std::size_t i = 0; i < words.size(); ++i) *words[i].second = 0xabc0'0000 + i;
  const SysResult result = TryOpenRaw(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  ASSERT_THAT(result, Succeeds());
  const Fd dummy(static_cast<int>(result.value));
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(shown(dummy.get(), "perf_event_attr." + words[i].first), Hex(0xabc0'0000 + i));
  }
}

}  // namespace
}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Reads and writes kernel settings.
#include "system/sysctl.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "system/broken.h"
#include "system/context.h"
#include "system/fd.h"
#include "system/sysfs.h"

namespace pmuconf {
namespace {

constexpr const char* kRate = "kernel/perf_event_max_sample_rate";
constexpr const char* kPercent = "kernel/perf_cpu_time_max_percent";

}  // namespace

std::string Sysctl::Get(const std::string& name) {
  const auto value = ReadFile("/proc/sys/" + name);
  if (!value) throw BrokenErrno("reading sysctl " + name, errno);
  return *value;
}

void Sysctl::Set(const std::string& name, const std::string& value) {
  const Fd fd(open(("/proc/sys/" + name).c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0 || write(fd.get(), value.data(), value.size()) < 0) {
    throw BrokenErrno("setting sysctl " + name + " to " + value, errno);
  }
}

Sysctl::Sysctl(std::string name, const std::string& value)
    : name_(std::move(name)), before_(Get(name_)) {
  Set(name_, value);
}

Sysctl::~Sysctl() {
  try {
    Set(name_, before_);
  } catch (const Broken& broken) {
    if (!context().broken) context().broken = broken.what();
  }
}

void SampleRateLimit::Set(std::uint64_t rate) {
  const std::string text = std::to_string(rate);
  if (Sysctl::Get(kRate) == text && Sysctl::Get(kPercent) == "0") return;
  // The kernel rejects a new rate while perf_cpu_time_max_percent disables dynamic throttling, and
  // may lower the rate while it is enabled. So enable it, set the rate, and disable it again.
  Sysctl::Set(kPercent, "25");
  Sysctl::Set(kRate, text);
  Sysctl::Set(kPercent, "0");
}

SampleRateLimit::~SampleRateLimit() {
  try {
    Set(kNoLimit);
  } catch (const Broken& broken) {
    if (!context().broken) context().broken = broken.what();
  }
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Kernel settings that a case changes and that are restored when it ends.
#ifndef PMUCONF_SYSTEM_SYSCTL_H_
#define PMUCONF_SYSTEM_SYSCTL_H_

#include <cstdint>
#include <string>

namespace pmuconf {

// Sets /proc/sys/<name> ("kernel/perf_event_paranoid") to `value`, and restores it on destruction.
class Sysctl {
 public:
  Sysctl(std::string name, const std::string& value);
  Sysctl(const Sysctl&) = delete;
  ~Sysctl();

  static std::string Get(const std::string& name);
  static void Set(const std::string& name, const std::string& value);

 private:
  std::string name_;
  std::string before_;
};

// Sets kernel.perf_event_max_sample_rate (samples per second and CPU), and restores kNoLimit on
// destruction. A low rate makes the kernel throttle. The fixture sets kNoLimit before each case.
class SampleRateLimit {
 public:
  static constexpr std::uint64_t kNoLimit = 100'000'000;
  explicit SampleRateLimit(std::uint64_t rate) { Set(rate); }
  SampleRateLimit(const SampleRateLimit&) = delete;
  ~SampleRateLimit();
  static void Set(std::uint64_t rate);
};

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_SYSCTL_H_

// SPDX-License-Identifier: Apache-2.0
// Kernel settings that a case changes and that come back when it ends.
#ifndef PMUCONF_SYSCTL_H_
#define PMUCONF_SYSCTL_H_

#include <cstdint>
#include <string>

namespace pmuconf {

// The value of /proc/sys/<name> ("kernel/perf_event_paranoid") is `value` while this lives.
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

// kernel.perf_event_max_sample_rate, samples a second and CPU, while this lives: lower it to make
// the kernel throttle. (The fixture has raised it to kNoLimit before the case.)
class SampleRateLimit {
 public:
  static constexpr std::uint64_t kNoLimit = 100'000'000;
  explicit SampleRateLimit(std::uint64_t rate) { Set(rate); }
  SampleRateLimit(const SampleRateLimit&) = delete;
  ~SampleRateLimit();
  static void Set(std::uint64_t rate);
};

}  // namespace pmuconf

#endif  // PMUCONF_SYSCTL_H_

// SPDX-License-Identifier: Apache-2.0
// suspend: suspends the machine with open events, wakes it by its real-time clock, and prints JSON
// with counts and samples before and after. It reports facts without a judgement.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "perf/ring.h"
#include "system/cpu.h"
#include "system/sysctl.h"
#include "system/sysfs.h"
#include "target/target_of_process.h"
#include "target/target_port.h"

namespace pmuconf {
namespace {

using Json = nlohmann::json;

constexpr char kClock[] = "/sys/class/rtc/rtc0/wakealarm";

void Write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) throw BrokenErrno(path, errno);
}

// Suspends to memory for `seconds`. The write to wakeup_count makes the kernel abort a suspend if a
// wake-up event has arrived before.
void Suspend(unsigned seconds) {
  Write("/sys/power/mem_sleep", "deep");
  Write(kClock, "0");
  Write(kClock, "+" + std::to_string(seconds));
  Write("/sys/power/wakeup_count", ReadFile("/sys/power/wakeup_count").value_or(""));
  Write("/sys/power/state", "mem");
}

// A sampling event and its ring buffer. Samples() returns the number of samples since the last
// call.
class Sampler {
 public:
  Sampler(const EventSpec& spec, const OpenOptions& options)
      : event_(Open(spec, options)), ring_(event_, 8) {
    event_.Enable();
  }
  std::size_t Samples() { return ring_.Drain().samples.size(); }

 private:
  Event event_;
  Ring ring_;
};

Json Run(unsigned seconds) {
  const int here = target().Cpu(0), there = target().Cpu(1);
  const EventSpec spec = target().AnyEvent();
  const OpenOptions sample = {.sample_period = 10, .sample_type = PERF_SAMPLE_IP};
  PinTo(here);
  SampleRateLimit::Set(SampleRateLimit::kNoLimit);

  const Event task = Open(spec, {.disabled = false});
  const Event on_here = Open(spec, {.pid = -1, .cpu = here, .disabled = false});
  const Event on_there = Open(spec, {.pid = -1, .cpu = there, .disabled = false});
  Sampler sampler(spec, sample);
  const auto counts = [&] {
    return Json{{"task", task.Read().value},
                {"cpu_that_stays", on_here.Read().value},
                {"cpu_that_leaves", on_there.Read().value}};
  };

  Json facts;
  target().Stimulate(spec, 15);
  target().Stimulate(spec, 7, {.cpu = there});
  facts["before"] = {{"counts", counts()}, {"samples", sampler.Samples()}};
  Suspend(seconds);
  facts["asleep"] = {{"counts", counts()}, {"samples", sampler.Samples()}};
  target().Stimulate(spec, 15);
  target().Stimulate(spec, 7, {.cpu = there});
  facts["after"] = {{"counts", counts()}, {"samples", sampler.Samples()}};

  // The first counting event and the first precise event on the CPU that was offline. The latter
  // needs the CPU's record buffer.
  OpenOptions precise = {
      .pid = -1, .cpu = there, .sample_period = 10, .sample_type = PERF_SAMPLE_IP};
  precise.edit = [](perf_event_attr& attr) { attr.precise_ip = 2; };
  const Event fresh = Open(spec, {.pid = -1, .cpu = there, .disabled = false});
  Sampler fresh_sampler(spec, precise);
  target().Stimulate(spec, 33, {.cpu = there});
  facts["fresh"] = {{"counts", fresh.Read().value}, {"samples", fresh_sampler.Samples()}};

  // If the kernel throttles the event (one sample per tick), it is throttled during the suspend.
  Sampler often(spec, {.sample_period = 1, .sample_type = PERF_SAMPLE_IP});
  SampleRateLimit::Set(1'000);
  target().Stimulate(spec, 100);
  const bool throttled = often.Samples() < 100;
  Suspend(seconds);
  SampleRateLimit::Set(SampleRateLimit::kNoLimit);
  // Wait for the tick that unthrottles the event.
  BusyWait(0.1);
  target().Stimulate(spec, 3);
  facts["throttled"] = {{"was", throttled}, {"samples_after", often.Samples()}};
  return facts;
}

int Main(int argc, char** argv) {
  std::string file;
  unsigned seconds = 5;
  CLI::App app("Suspends the machine with open events; prints JSON.");
  app.add_option("--target", file, "file of the target")->required();
  app.add_option("--seconds", seconds, "time until the real-time clock wakes the machine")
      ->check(CLI::Range(1, 60));
  CLI11_PARSE(app, argc, argv);
  SetTarget(Target::Load(file));
  ResolveTarget();
  port().Reset();
  std::cout << Run(seconds).dump() << '\n';
  return 0;
}

}  // namespace
}  // namespace pmuconf

int main(int argc, char** argv) {
  try {
    return pmuconf::Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "suspend: " << error.what() << '\n';
    return 2;
  }
}

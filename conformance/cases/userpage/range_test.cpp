// SPDX-License-Identifier: Apache-2.0
// How far a counter may count before it interrupts. The control page shows that of an event whose
// counter user space may read.
#include <optional>

#include "cases/common.h"
#include "perf/ring.h"
#include "rules/DRC.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

// Permits user space to read the counters, as far as a setting of this machine forbids it.
class UserReads {
 public:
  UserReads() : path_(DeviceFile("rdpmc")), before_(ReadFile(path_)) {
    if (before_) std::ofstream(path_) << "1" << std::flush;
    if (ReadFile("/proc/sys/kernel/perf_user_access"))
      sysctl_.emplace("kernel/perf_user_access", "1");
  }
  UserReads(const UserReads&) = delete;
  ~UserReads() {
    if (before_) std::ofstream(path_) << *before_ << std::flush;
  }

 private:
  std::string path_;
  std::optional<std::string> before_;
  std::optional<Sysctl> sysctl_;
};

// `spec` with the request for user reads, on a PMU where an event must request them.
EventSpec WithUserReads(EventSpec spec) {
  const auto text = ReadFile(DeviceFile("format/rdpmc"));
  const auto field = text ? ParseFormat(*text) : std::nullopt;
  if (field && field->config == 1) spec.config1 |= *field->Encode(1);
  return spec;
}

// If the interrupt is late, the counter counts on. With the whole range to go it would pass the
// value at which it started, and the driver would lose a range.
CONFORMANCE_CASE(UserPage, CounterHasAtMostHalfItsRangeToGo, .rules = {rule::DRC_066},
                 .needs = {Cap::kStimulus, Cap::kCounters, Cap::kSampling, Cap::kLongPeriods}) {
  const UserReads user_reads;
  const EventSpec spec = WithUserReads(target().AnyEvent());
  const std::uint64_t range = target().counter_mask() + 1;
  for (const std::uint64_t period :
       {std::uint64_t{0}, range / 2 - 1, range / 2, range - 16, range - 1, 2 * range}) {
    SCOPED_TRACE(testing::Message() << "period " << period);
    auto [event, ring] = Sampler(spec, {.sample_period = period}, period == 0 ? 0 : 1);
    if (ring.page().index == 0) SkipCase(Cap::kUserReads, "the page shows no counter");
    // The count is the offset plus the signed value of the counter, which is minus what is to go.
    const std::uint64_t to_go = static_cast<std::uint64_t>(ring.page().offset) - event.Read().value;
    EXPECT_LE(to_go, range / 2);
    EXPECT_GT(to_go, 0u);
  }
}

}  // namespace
}  // namespace pmuconf

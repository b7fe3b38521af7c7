// SPDX-License-Identifier: Apache-2.0
// The 32-bit system calls of a 64-bit kernel return the same results as the 64-bit ones.
#include <sys/ioctl.h>

#include <array>
#include <cstring>

#include "cases/common.h"
#include "oracle/open_environment.h"
#include "perf/compat_call.h"
#include "rules/ABI.h"
#include "text/errno_name.h"

namespace pmuconf {
namespace {

// The errno of an open, and the contents of the attr after the call.
struct Result {
  int error = 0;
  std::vector<std::byte> attr;
  bool operator==(const Result&) const = default;
};

void PrintTo(const Result& result, std::ostream* os) { *os << ErrnoName(result.error); }

CONFORMANCE_CASE(Compat, OpenReturnsSameResult, .rules = {rule::ABI_037}, .needs = {Cap::kCompat}) {
  const OpenEnvironment environment;
  const LowPage low;
  const OpenModel& model = environment.model();
  const auto result_of = [&](const OpenCall& call, const auto& open) {
    std::memcpy(low.data(), call.attr.data(), call.attr.size());
    const SysResult result = open(static_cast<std::uint32_t>(call.flags));
    const Fd opened(result.ok() ? static_cast<int>(result.value) : -1);
    return Result{result.error, {low.data(), low.data() + call.attr.size()}};
  };
  const int pid = model.pmu().tasks ? 0 : -1;
  const int cpu = model.pmu().tasks ? -1 : target().Cpu(0);
  for (const OpenViolation* violation : ApplicableViolations(model)) {
    OpenCall call = model.ValidCall();
    violation->apply(call);
    call.flags &= ~static_cast<unsigned long>(PERF_FLAG_PID_CGROUP);
    const Result wide = result_of(
        call, [&](std::uint32_t flags) { return TryOpenRaw(low.data(), pid, cpu, -1, flags); });
    const Result narrow = result_of(
        call, [&](std::uint32_t flags) { return CompatOpen(low.address(), pid, cpu, -1, flags); });
    EXPECT_EQ(narrow, wide) << violation->name;
  }
}

// The kernel sign-extends the 32-bit arguments pid, cpu and group_fd.
CONFORMANCE_CASE(Compat, ArgumentsAreSignExtended, .rules = {rule::ABI_037},
                 .needs = {Cap::kCompat}) {
  const OpenEnvironment environment;
  const LowPage low;
  const OpenCall valid = environment.model().ValidCall();
  for (const int pid : {-1, 0, -2, 0x3fff'ffff}) {
    for (const int cpu : {-1, target().Cpu(0), -2, 1 << 20}) {
      for (const int group_fd : {-1, environment.leader().fd(), 999, -2}) {
        std::memcpy(low.data(), valid.attr.data(), valid.attr.size());
        const SysResult wide = TryOpenRaw(low.data(), pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);
        if (wide.ok()) close(static_cast<int>(wide.value));
        const SysResult narrow =
            CompatOpen(low.address(), pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);
        if (narrow.ok()) close(static_cast<int>(narrow.value));
        EXPECT_EQ(ErrnoName(narrow.error), ErrnoName(wide.error))
            << pid << " " << cpu << " " << group_fd;
      }
    }
  }
}

// The number of a request encodes the size of its argument. A pointer has 4 bytes in a 32-bit
// process and 8 bytes in this one.
constexpr std::uint32_t Narrow(unsigned long request) {
  return static_cast<std::uint32_t>(
      (request & ~(static_cast<unsigned long>(_IOC_SIZEMASK) << _IOC_SIZESHIFT)) |
      4ul << _IOC_SIZESHIFT);
}

CONFORMANCE_CASE(Compat, IoctlReturnsSameResult, .rules = {rule::ABI_037},
                 .needs = {Cap::kCompat}) {
  const OpenEnvironment environment;
  const LowPage low;
  const Event& event = environment.leader();
  struct Request {
    unsigned long wide;
    std::uint32_t narrow;
  };
  constexpr auto same = [](unsigned long r) { return Request{r, static_cast<std::uint32_t>(r)}; };
  const std::array<Request, 11> requests = {{
      same(PERF_EVENT_IOC_ENABLE),
      same(PERF_EVENT_IOC_DISABLE),
      same(PERF_EVENT_IOC_RESET),
      same(PERF_EVENT_IOC_REFRESH),
      same(PERF_EVENT_IOC_PERIOD),
      same(PERF_EVENT_IOC_PAUSE_OUTPUT),
      same(_IO('$', 99)),
      {PERF_EVENT_IOC_SET_FILTER, Narrow(PERF_EVENT_IOC_SET_FILTER)},
      {PERF_EVENT_IOC_ID, Narrow(PERF_EVENT_IOC_ID)},
      {PERF_EVENT_IOC_QUERY_BPF, Narrow(PERF_EVENT_IOC_QUERY_BPF)},
      {PERF_EVENT_IOC_MODIFY_ATTRIBUTES, Narrow(PERF_EVENT_IOC_MODIFY_ATTRIBUTES)},
  }};
  const std::vector<std::byte> attr = environment.model().ValidCall().attr;
  for (const Request& request : requests) {
    for (const std::uint32_t arg : {0u, low.address()}) {
      std::memcpy(low.data(), attr.data(), attr.size());
      const SysResult wide = event.TryIoctl(request.wide, arg);
      const std::vector<std::byte> after(low.data(), low.data() + attr.size());
      std::memcpy(low.data(), attr.data(), attr.size());
      const SysResult narrow = CompatIoctl(event.fd(), request.narrow, arg);
      EXPECT_EQ(ErrnoName(narrow.error), ErrnoName(wide.error)) << std::hex << request.wide;
      EXPECT_EQ(std::memcmp(low.data(), after.data(), after.size()), 0) << std::hex << request.wide;
    }
  }
}

}  // namespace
}  // namespace pmuconf

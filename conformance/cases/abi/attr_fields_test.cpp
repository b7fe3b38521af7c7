// SPDX-License-Identifier: Apache-2.0
// Reserved bits and contradictory fields of the attr, and the flags of the call.
#include <cstring>

#include "cases/branch/branch.h"
#include "harness/case.h"
#include "rules/ABI.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

using Edit = std::function<void(perf_event_attr&)>;

OpenResult OpenEdited(const Edit& edit, std::uint64_t sample_type = 0) {
  return TryOpen(target().AnyEvent(),
                 {.sample_period = 1'000, .sample_type = sample_type, .edit = edit});
}

CONFORMANCE_CASE(Attr, ReservedBitsAreRefused, .rules = {rule::ABI_012, rule::ABI_013},
                 .needs = {Cap::kSampling}) {
  constexpr std::size_t kFlagsOffset = 40;
  constexpr int kKnownFlags = 38;
  for (int bit = kKnownFlags; bit < 64; ++bit) {
    const Edit set_bit = [bit](perf_event_attr& attr) {
      std::uint64_t flags = 0;
      auto* bytes = reinterpret_cast<std::byte*>(&attr) + kFlagsOffset;
      std::memcpy(&flags, bytes, sizeof(flags));
      flags |= 1ull << bit;
      std::memcpy(bytes, &flags, sizeof(flags));
    };
    EXPECT_THAT(OpenEdited(set_bit), FailsWith(EINVAL)) << bit << rule::ABI_012.text;
  }
  for (int bit = 0; bit < 16; ++bit) {
    const Edit set_bit = [bit](perf_event_attr& attr) {
      attr.__reserved_2 = static_cast<std::uint16_t>(1u << bit);
    };
    EXPECT_THAT(OpenEdited(set_bit), FailsWith(EINVAL)) << bit << rule::ABI_013.text;
  }
}

CONFORMANCE_CASE(Attr, UnknownFormatBitsAreRefused, .rules = {rule::ABI_016, rule::ABI_017},
                 .needs = {Cap::kSampling}) {
  for (int bit = 25; bit < 64; ++bit) {
    EXPECT_THAT(OpenEdited({}, 1ull << bit), FailsWith(EINVAL)) << bit << rule::ABI_016.text;
  }
  for (int bit = 5; bit < 64; ++bit) {
    const Edit set_bit = [bit](perf_event_attr& attr) { attr.read_format |= 1ull << bit; };
    EXPECT_THAT(OpenEdited(set_bit), FailsWith(EINVAL)) << bit << rule::ABI_017.text;
  }
}

CONFORMANCE_CASE(Attr, BranchPrivilegesAloneAreRefused, .rules = {rule::ABI_019},
                 .needs = {Cap::kSampling}) {
  for (std::uint64_t privileges = 0; privileges < 8; ++privileges) {
    const Edit set = [privileges](perf_event_attr& attr) { attr.branch_sample_type = privileges; };
    EXPECT_THAT(OpenEdited(set, PERF_SAMPLE_BRANCH_STACK), FailsWith(EINVAL))
        << privileges << rule::ABI_019.text;
  }
}

CONFORMANCE_CASE(Attr, UserStackSizeIsBounded, .rules = {rule::ABI_024},
                 .needs = {Cap::kSampling}) {
  const auto open_with = [](std::uint32_t size) {
    return OpenEdited([size](perf_event_attr& attr) { attr.sample_stack_user = size; },
                      PERF_SAMPLE_STACK_USER);
  };
  for (const std::uint32_t size : {1u, 7u, 12u, 65'535u, 65'536u, ~0u - 7}) {
    EXPECT_THAT(open_with(size), FailsWith(EINVAL)) << size << rule::ABI_024.text;
  }
  for (const std::uint32_t size : {8u, 64u, 65'528u}) {
    EXPECT_THAT(open_with(size), Succeeds()) << size << rule::ABI_024.text;
  }
}

CONFORMANCE_CASE(Attr, ContradictionsAreRefused,
                 .rules = {rule::ABI_026, rule::ABI_028, rule::ABI_029, rule::ABI_030},
                 .needs = {Cap::kSampling}) {
  EXPECT_THAT(OpenEdited({}, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT), FailsWith(EINVAL))
      << rule::ABI_026.text;
  EXPECT_THAT(OpenEdited([](perf_event_attr& attr) { attr.inherit_thread = 1; }), FailsWith(EINVAL))
      << rule::ABI_028.text;
  EXPECT_THAT(OpenEdited([](perf_event_attr& attr) {
                attr.remove_on_exec = 1;
                attr.enable_on_exec = 1;
              }),
              FailsWith(EINVAL))
      << rule::ABI_029.text;
  EXPECT_THAT(OpenEdited([](perf_event_attr& attr) { attr.sigtrap = 1; }), FailsWith(EINVAL))
      << rule::ABI_030.text;
}

CONFORMANCE_CASE(Attr, SigtrapNeedsATask, .rules = {rule::ABI_031}, .needs = {Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  EXPECT_THAT(
      TryOpen(spec, {.pid = -1, .cpu = target().Cpu(0), .sample_period = 1'000, .sigtrap = true}),
      FailsWith(EINVAL))
      << rule::ABI_031.text;
  EXPECT_THAT(TryOpen(spec, {.sample_period = 1'000, .sigtrap = true}), Succeeds())
      << rule::ABI_031.text;
}

CONFORMANCE_CASE(Attr, FrequencyIsBoundedByTheSysctl, .rules = {rule::ABI_032},
                 .needs = {Cap::kFrequency}) {
  const EventSpec spec = target().AnyEvent();
  const SampleRateLimit limit(5'000);
  EXPECT_THAT(TryOpen(spec, {.sample_freq = 5'000}), Succeeds()) << rule::ABI_032.text;
  EXPECT_THAT(TryOpen(spec, {.sample_freq = 5'001}), FailsWith(EINVAL)) << rule::ABI_032.text;
  EXPECT_THAT(TryOpen(spec, {.sample_freq = ~0ull}), FailsWith(EINVAL)) << rule::ABI_032.text;
}

CONFORMANCE_CASE(Attr, PeriodHas63Bits, .rules = {rule::ABI_033}, .needs = {Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t longest = (1ull << 63) - 1;
  EXPECT_THAT(TryOpen(spec, {.sample_period = longest}), Succeeds()) << rule::ABI_033.text;
  for (const std::uint64_t period : {longest + 1, longest + 2, ~std::uint64_t{0}}) {
    EXPECT_THAT(TryOpen(spec, {.sample_period = period}), FailsWith(EINVAL)) << rule::ABI_033.text;
  }
}

CONFORMANCE_CASE(Attr, UnknownConfig3IsRefused, .rules = {rule::ABI_015}) {
  struct {
    perf_event_attr attr;
    std::uint64_t config3;
  } wide = {MakeAttr(target().AnyEvent()), 0};
  static_assert(sizeof(wide) == 136);
  const int pid = target().Claims(Cap::kTasks) ? 0 : -1;
  const int cpu = target().Claims(Cap::kTasks) ? -1 : target().DesignatedCpu();
  const auto open_with = [&](std::uint64_t config3) {
    wide.attr.size = sizeof(wide);
    wide.config3 = config3;
    const SysResult result = TryOpenRaw(&wide, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    const Fd opened(result.ok() ? static_cast<int>(result.value) : -1);
    return result;
  };
  EXPECT_THAT(open_with(0), Succeeds()) << rule::ABI_015.text;
  // A kernel that knows config3 passes it to the driver. The driver decides the result: INI-011.
  const bool too_big = ValueOnThisKernel(rule::ABI_015, "too_big") != 0;
  EXPECT_EQ(open_with(1ull << 63).error == E2BIG, too_big) << rule::ABI_015.text;
}

CONFORMANCE_CASE(Attr, BranchTypeWithoutStackIsIgnored, .rules = {rule::ABI_020}) {
  for (int bit = 0; bit < 64; ++bit) {
    const Edit set = [bit](perf_event_attr& attr) { attr.branch_sample_type = 1ull << bit; };
    EXPECT_THAT(TryOpen(target().AnyEvent(), {.edit = set}), Succeeds())
        << bit << rule::ABI_020.text;
  }
  EXPECT_THAT(TryOpen(target().AnyEvent(),
                      {.edit = [](perf_event_attr& attr) { attr.branch_sample_type = ~0ull; }}),
              Succeeds())
      << rule::ABI_020.text;
}

CONFORMANCE_CASE(Attr, BranchPrivilegesDefaultToEvent, .rules = {rule::ABI_021},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kExcludes}) {
  const std::vector<Branch> user = Jumps(0x60400000, 3);
  const std::vector<Branch> kernel = {InKernel(0), InKernel(16), InKernel(32), InKernel(48)};
  const NoPreemption no_preemption;
  std::vector<Branch> both = user;
  both.insert(both.end(), kernel.begin(), kernel.end());
  const EventSpec spec = target().AnyEvent();
  const auto stack = [&](bool exclude_kernel) {
    OpenOptions options = WithBranches(PERF_SAMPLE_BRANCH_ANY);
    options.exclude_kernel = exclude_kernel;
    const Event event = Open(spec, options);
    Ring ring(event, 4);
    event.Enable();
    RunBranches(port(), both);
    return StackNow(spec, ring);
  };
  EXPECT_EQ(stack(false), Newest(both, 7)) << rule::ABI_021.text;
  EXPECT_EQ(stack(true), Newest(user, 3)) << rule::ABI_021.text;
}

CONFORMANCE_CASE(Attr, CallChainsAreBoundedByTheSysctl, .rules = {rule::ABI_025}) {
  const Sysctl limit("kernel/perf_event_max_stack", "64");
  const auto open_with = [](std::uint64_t sample_type, std::uint16_t depth) {
    return TryOpen(target().AnyEvent(),
                   {.sample_type = sample_type,
                    .edit = [depth](perf_event_attr& attr) { attr.sample_max_stack = depth; }});
  };
  for (const std::uint16_t depth : {0, 1, 64}) {
    EXPECT_THAT(open_with(PERF_SAMPLE_CALLCHAIN, depth), Succeeds()) << depth << rule::ABI_025.text;
  }
  for (const std::uint16_t depth : {65, 127, 0xffff}) {
    EXPECT_THAT(open_with(PERF_SAMPLE_CALLCHAIN, depth), FailsWith(EOVERFLOW))
        << depth << rule::ABI_025.text;
    EXPECT_THAT(open_with(PERF_SAMPLE_IP, depth), Succeeds()) << depth << rule::ABI_025.text;
  }
}

CONFORMANCE_CASE(Attr, UnknownFlagsAreRefused, .rules = {rule::ABI_034, rule::ABI_035}) {
  const perf_event_attr attr = MakeAttr(target().AnyEvent());
  for (int bit = 4; bit < 64; ++bit) {
    EXPECT_THAT(TryOpenRaw(&attr, 0, -1, -1, 1ul << bit), FailsWith(EINVAL))
        << bit << rule::ABI_034.text;
    EXPECT_THAT(TryOpenRaw(nullptr, 0, -1, -1, 1ul << bit), FailsWith(EINVAL))
        << bit << rule::ABI_035.text;
  }
}

}  // namespace
}  // namespace pmuconf

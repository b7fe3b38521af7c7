// SPDX-License-Identifier: Apache-2.0
// Reserved bits and contradictory fields of the attr, and the flags of the call.
#include <sys/mman.h>

#include "cases/branch/branch.h"
#include "cases/fdinfo.h"
#include "cases/unprivileged.h"
#include "harness/behaviour.h"
#include "harness/case.h"
#include "perf/kernel_behaviour.h"
#include "rules/ABI.h"
#include "system/sysctl.h"
#include "text/errno_name.h"

namespace pmuconf {
namespace {

using Edit = std::function<void(perf_event_attr&)>;

OpenResult OpenEdited(const Edit& edit, std::uint64_t sample_type = 0) {
  return TryOpen(target().AnyEvent(),
                 {.sample_period = 1'000, .sample_type = sample_type, .edit = edit});
}

CONFORMANCE_CASE(Attr, ReservedBitsAreRefused, .rules = {rule::ABI_012, rule::ABI_013},
                 .needs = {Cap::kSampling}) {
  const int known = static_cast<int>(KnownAttrFlags());
  EXPECT_TRUE(IsBehaviour(rule::ABI_012, "known_flags", known)) << rule::ABI_012;
  for (int bit = known; bit < 64; ++bit) {
    const Edit set_bit = [bit](perf_event_attr& attr) {
      SetFlag(&attr, static_cast<unsigned>(bit));
    };
    EXPECT_THAT(OpenEdited(set_bit), FailsWith(EINVAL)) << bit << rule::ABI_012;
  }
  for (int bit = 0; bit < 16; ++bit) {
    const Edit set_bit = [bit](perf_event_attr& attr) {
      attr.__reserved_2 = static_cast<std::uint16_t>(1u << bit);
    };
    EXPECT_THAT(OpenEdited(set_bit), FailsWith(EINVAL)) << bit << rule::ABI_013;
  }
}

CONFORMANCE_CASE(Attr, UnknownFormatBitsAreRefused, .rules = {rule::ABI_016, rule::ABI_017},
                 .needs = {Cap::kSampling}) {
  for (int bit = 25; bit < 64; ++bit) {
    EXPECT_THAT(OpenEdited({}, 1ull << bit), FailsWith(EINVAL)) << bit << rule::ABI_016;
  }
  for (int bit = 5; bit < 64; ++bit) {
    const Edit set_bit = [bit](perf_event_attr& attr) { attr.read_format |= 1ull << bit; };
    EXPECT_THAT(OpenEdited(set_bit), FailsWith(EINVAL)) << bit << rule::ABI_017;
  }
}

CONFORMANCE_CASE(Attr, BranchPrivilegesAloneAreRefused, .rules = {rule::ABI_019},
                 .needs = {Cap::kSampling}) {
  for (std::uint64_t privileges = 0; privileges < 8; ++privileges) {
    const Edit set = [privileges](perf_event_attr& attr) { attr.branch_sample_type = privileges; };
    EXPECT_THAT(OpenEdited(set, PERF_SAMPLE_BRANCH_STACK), FailsWith(EINVAL)) << privileges;
  }
}

CONFORMANCE_CASE(Attr, UserStackSizeIsBounded, .rules = {rule::ABI_024},
                 .needs = {Cap::kSampling}) {
  const auto open_with = [](std::uint32_t size) {
    return OpenEdited([size](perf_event_attr& attr) { attr.sample_stack_user = size; },
                      PERF_SAMPLE_STACK_USER);
  };
  for (const std::uint32_t size : {1u, 7u, 12u, 65'535u, 65'536u, ~0u - 7}) {
    EXPECT_THAT(open_with(size), FailsWith(EINVAL)) << size;
  }
  for (const std::uint32_t size : {8u, 64u, 65'528u}) {
    EXPECT_THAT(open_with(size), Succeeds()) << size;
  }
}

CONFORMANCE_CASE(Attr, ContradictionsAreRefused,
                 .rules = {rule::ABI_026, rule::ABI_028, rule::ABI_029, rule::ABI_030},
                 .needs = {Cap::kSampling}) {
  EXPECT_THAT(OpenEdited({}, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT), FailsWith(EINVAL))
      << rule::ABI_026;
  EXPECT_THAT(OpenEdited([](perf_event_attr& attr) { attr.inherit_thread = 1; }), FailsWith(EINVAL))
      << rule::ABI_028;
  EXPECT_THAT(OpenEdited([](perf_event_attr& attr) {
                attr.remove_on_exec = 1;
                attr.enable_on_exec = 1;
              }),
              FailsWith(EINVAL))
      << rule::ABI_029;
  EXPECT_THAT(OpenEdited([](perf_event_attr& attr) { attr.sigtrap = 1; }), FailsWith(EINVAL))
      << rule::ABI_030;
}

CONFORMANCE_CASE(Attr, SigtrapNeedsATask, .rules = {rule::ABI_031}, .needs = {Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  EXPECT_THAT(
      TryOpen(spec, {.pid = -1, .cpu = target().Cpu(0), .sample_period = 1'000, .sigtrap = true}),
      FailsWith(EINVAL));
  EXPECT_THAT(TryOpen(spec, {.sample_period = 1'000, .sigtrap = true}), Succeeds());
}

CONFORMANCE_CASE(Attr, FrequencyIsBoundedByTheSysctl, .rules = {rule::ABI_032},
                 .needs = {Cap::kFrequency}) {
  const EventSpec spec = target().AnyEvent();
  const SampleRateLimit limit(5'000);
  EXPECT_THAT(TryOpen(spec, {.sample_freq = 5'000}), Succeeds());
  EXPECT_THAT(TryOpen(spec, {.sample_freq = 5'001}), FailsWith(EINVAL));
  EXPECT_THAT(TryOpen(spec, {.sample_freq = ~0ull}), FailsWith(EINVAL));
}

CONFORMANCE_CASE(Attr, PeriodHas63Bits, .rules = {rule::ABI_033}, .needs = {Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const std::uint64_t longest = (1ull << 63) - 1;
  EXPECT_THAT(TryOpen(spec, {.sample_period = longest}), Succeeds());
  for (const std::uint64_t period : {longest + 1, longest + 2, ~std::uint64_t{0}}) {
    EXPECT_THAT(TryOpen(spec, {.sample_period = period}), FailsWith(EINVAL));
  }
}

CONFORMANCE_CASE(Attr, UnknownConfig3IsRefused, .rules = {rule::ABI_015}) {
  perf_event_attr attr = MakeAttr(target().AnyEvent());
  const int pid = target().Claims(Cap::kTasks) ? 0 : -1;
  const int cpu = target().Claims(Cap::kTasks) ? -1 : target().DesignatedCpu();
  const auto open_with = [&](std::uint64_t config3) {
    attr.size = PERF_ATTR_SIZE_VER8;
    attr.config3 = config3;
    const SysResult result = TryOpenRaw(&attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    const Fd opened(result.ok() ? static_cast<int>(result.value) : -1);
    return result;
  };
  EXPECT_THAT(open_with(0), Succeeds());
  // A kernel that knows config3 passes it to the driver. The driver decides the result: INI-011.
  const bool too_big = ReportedAttrSize() < PERF_ATTR_SIZE_VER8;
  EXPECT_TRUE(IsBehaviour(rule::ABI_015, "too_big", too_big));
  EXPECT_EQ(open_with(1ull << 63).error == E2BIG, too_big);
}

// The attr of a dummy event, with all fields.
perf_event_attr LongAttr() {
  perf_event_attr attr = MakeAttr(Software(PERF_COUNT_SW_DUMMY));
  attr.size = sizeof(attr);
  return attr;
}

SysResult OpenLong(const perf_event_attr& attr) {
  const SysResult result = TryOpenRaw(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (result.ok()) close(static_cast<int>(result.value));
  return result;
}

CONFORMANCE_CASE(Attr, Config4IsPartOfTheNewestAttr, .rules = {rule::ABI_039}) {
  perf_event_attr attr = LongAttr();
  EXPECT_THAT(OpenLong(attr), Succeeds());
  const int error = ReportedAttrSize() < sizeof(attr) ? E2BIG : 0;
  EXPECT_TRUE(IsBehaviour(rule::ABI_039, "error", error));
  for (int bit = 0; bit < 64; ++bit) {
    attr.size = sizeof(attr);  // with E2BIG the kernel changes it
    attr.config4 = 1ull << bit;
    EXPECT_EQ(OpenLong(attr).error, error) << bit;
  }
}

// A copy of bytes, directly before memory that is not mapped.
class BytesBeforeAHole {
 public:
  explicit BytesBeforeAHole(std::span<const std::byte> bytes) : page_(PageSize()) {
    void* const pages =
        mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw BrokenErrno("mmap", errno);
    pages_ = static_cast<std::byte*>(pages);
    if (munmap(pages_ + page_, page_) != 0) throw BrokenErrno("munmap", errno);
    data_ = pages_ + page_ - bytes.size();
    std::ranges::copy(bytes, data_);
  }
  BytesBeforeAHole(const BytesBeforeAHole&) = delete;
  ~BytesBeforeAHole() { munmap(pages_, page_); }

  const std::byte* data() const { return data_; }

 private:
  std::size_t page_;
  std::byte* pages_ = nullptr;
  std::byte* data_ = nullptr;
};

// Opens a dummy event with the attr at `attr`, and returns its config4 as /proc shows it.
std::string ShownConfig4(const void* attr) {
  const SysResult result = TryOpenRaw(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (!result.ok()) return ErrnoName(result.error);
  const Fd event(static_cast<int>(result.value));
  return FdinfoValue(event.get(), "perf_event_attr.config4").value_or("not shown");
}

CONFORMANCE_CASE(Attr, ShorterAttrHasNoConfig4, .rules = {rule::ABI_040}) {
  if (!FdinfoShowsAttr()) SkipWithout("the attr in /proc/PID/fdinfo");
  perf_event_attr attr = LongAttr();
  attr.config4 = 0x1234;
  EXPECT_EQ(ShownConfig4(&attr), "0x1234");
  for (const std::uint32_t size : {128u, 136u}) {
    attr.size = size;
    EXPECT_EQ(ShownConfig4(&attr), "0x0") << size;
    const BytesBeforeAHole end(std::as_bytes(std::span(&attr, 1)).first(size));
    EXPECT_EQ(ShownConfig4(end.data()), "0x0") << size << " bytes and unmapped memory behind them";
  }
}

CONFORMANCE_CASE(Attr, DeferFlagsAreAccepted, .rules = {rule::ABI_041}) {
  const Sysctl paranoid(kParanoid, "2");
  const auto errors = [](const EventSpec& spec, int sample_type, unsigned flags) {
    OpenOptions options = {.sample_type = static_cast<std::uint64_t>(sample_type),
                           .exclude_kernel = target().Claims(Cap::kExcludes),
                           .edit = [flags](perf_event_attr& attr) {
                             attr.defer_callchain = (flags & 1) != 0;
                             attr.defer_output = (flags & 2) != 0;
                           }};
    if (target().Claims(Cap::kSampling)) options.sample_period = target().min_period();
    return std::pair(TryOpen(spec, options).error, UnprivilegedErrno(spec, options));
  };
  for (const EventSpec& spec : {target().AnyEvent(), Software(PERF_COUNT_SW_DUMMY)}) {
    for (const int sample_type : {0, +PERF_SAMPLE_CALLCHAIN}) {
      const auto without = errors(spec, sample_type, 0);
      ASSERT_EQ(without.first, 0);
      for (const unsigned flags : {1u, 2u, 3u}) {
        EXPECT_EQ(errors(spec, sample_type, flags), without) << flags;
      }
    }
  }
}

CONFORMANCE_CASE(Attr, BranchTypeWithoutStackIsIgnored, .rules = {rule::ABI_020}) {
  for (int bit = 0; bit < 64; ++bit) {
    const Edit set = [bit](perf_event_attr& attr) { attr.branch_sample_type = 1ull << bit; };
    EXPECT_THAT(TryOpen(target().AnyEvent(), {.edit = set}), Succeeds()) << bit;
  }
  EXPECT_THAT(TryOpen(target().AnyEvent(),
                      {.edit = [](perf_event_attr& attr) { attr.branch_sample_type = ~0ull; }}),
              Succeeds());
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
    auto [event, ring] = Sampler(spec, options, 4);
    RunBranches(port(), both);
    return StackNow(spec, ring);
  };
  EXPECT_EQ(stack(false), Newest(both, 7));
  EXPECT_EQ(stack(true), Newest(user, 3));
}

CONFORMANCE_CASE(Attr, CallChainsAreBoundedByTheSysctl, .rules = {rule::ABI_025}) {
  const Sysctl limit("kernel/perf_event_max_stack", "64");
  const auto open_with = [](std::uint64_t sample_type, std::uint16_t depth) {
    return TryOpen(target().AnyEvent(),
                   {.sample_type = sample_type,
                    .edit = [depth](perf_event_attr& attr) { attr.sample_max_stack = depth; }});
  };
  for (const std::uint16_t depth : {0, 1, 64}) {
    EXPECT_THAT(open_with(PERF_SAMPLE_CALLCHAIN, depth), Succeeds()) << depth;
  }
  OpenResult other;
  for (const bool alone : {true, false}) {
    if (!alone) other = open_with(PERF_SAMPLE_CALLCHAIN, 64);
    for (const std::uint16_t depth : {65, 127, 0xffff}) {
      EXPECT_THAT(open_with(PERF_SAMPLE_CALLCHAIN, depth), FailsWith(EOVERFLOW))
          << depth << (alone ? "" : " besides another call chain: ");
      EXPECT_THAT(open_with(PERF_SAMPLE_IP, depth), Succeeds()) << depth;
    }
  }
}

CONFORMANCE_CASE(Attr, UnknownFlagsAreRefused, .rules = {rule::ABI_034, rule::ABI_035}) {
  const perf_event_attr attr = MakeAttr(target().AnyEvent());
  for (int bit = 4; bit < 64; ++bit) {
    EXPECT_THAT(TryOpenRaw(&attr, 0, -1, -1, 1ul << bit), FailsWith(EINVAL))
        << bit << rule::ABI_034;
    EXPECT_THAT(TryOpenRaw(nullptr, 0, -1, -1, 1ul << bit), FailsWith(EINVAL))
        << bit << rule::ABI_035;
  }
}

}  // namespace
}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Call chains whose user part follows in PERF_RECORD_CALLCHAIN_DEFERRED. This file is compiled with
// frame pointers, because the kernel follows them.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "arch/arch.h"
#include "cases/tracepoint/tracepoint.h"
#include "harness/case.h"
#include "harness/uses.h"
#include "perf/ring.h"
#include "rules/REC.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

using Chain = std::vector<std::uint64_t>;

constexpr std::uint64_t kUser = PERF_CONTEXT_USER;
constexpr std::uint64_t kDeferred = PERF_CONTEXT_USER_DEFERRED;
constexpr std::uint64_t kLastAddress = PERF_CONTEXT_MAX;  // context markers are above it

// The flags of an event for deferred call chains.
enum class Defer { kNeither, kSamples, kRecords, kBoth };

std::function<void(perf_event_attr&)> WithFlags(Defer defer) {
  return [defer](perf_event_attr& attr) {
    attr.defer_callchain = defer == Defer::kSamples || defer == Defer::kBoth;
    attr.defer_output = defer == Defer::kRecords || defer == Defer::kBoth;
  };
}

OpenOptions Chains(Defer defer, std::uint64_t period = 1) {
  return {.sample_period = period,
          .sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_TID,
          .edit = WithFlags(defer)};
}

// An event that never samples, for deferred records alone.
Event OpenForRecords(Defer defer = Defer::kRecords) {
  return Open(Software(PERF_COUNT_SW_DUMMY), {.pid = getpid(),
                                              .sample_type = PERF_SAMPLE_TID,
                                              .disabled = false,
                                              .edit = WithFlags(defer)});
}

// The cookie at the end of a chain, 0 if it ends in another way.
std::uint64_t CookieOf(const Sample& sample) {
  const Chain& chain = *sample.callchain;
  const bool deferred = chain.size() >= 2 && chain[chain.size() - 2] == kDeferred;
  return deferred ? chain.back() : 0;
}

// A page of this process that nobody has touched.
class UntouchedPage {
 public:
  UntouchedPage() {
    page_ = mmap(nullptr, PageSize(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page_ == MAP_FAILED) throw BrokenErrno("mmap", errno);
  }
  UntouchedPage(const UntouchedPage&) = delete;
  ~UntouchedPage() { munmap(page_, PageSize()); }
  volatile char* get() const { return static_cast<volatile char*>(page_); }

 private:
  void* page_ = nullptr;
};

// Three nested functions that note their return addresses. The innermost one touches the page.
[[gnu::noinline]] void Inner(volatile char* page, Chain* returns) {
  returns->push_back(reinterpret_cast<std::uint64_t>(__builtin_return_address(0)));
  *page = 1;
}
[[gnu::noinline]] void Middle(volatile char* page, Chain* returns) {
  Inner(page, returns);
  returns->push_back(reinterpret_cast<std::uint64_t>(__builtin_return_address(0)));
}
[[gnu::noinline]] void Outer(volatile char* page, Chain* returns) {
  Middle(page, returns);
  returns->push_back(reinterpret_cast<std::uint64_t>(__builtin_return_address(0)));
}

void TouchNewPage() {
  const UntouchedPage page;
  *page.get() = 1;
}

CONFORMANCE_CASE(Record, DeferredChainEndsInMarkerAndCookie, .rules = {rule::REC_122},
                 .needs = {Cap::kStimulus, Cap::kAnyTask}) {
  const EventSpec spec = target().AnyEvent();
  auto [event, ring] = Sampler(spec, Chains(Defer::kSamples, target().min_period()), 4);
  for (int i = 0; i < 3; ++i) target().Stimulate(spec, target().min_period());
  event.Disable();
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 3u);
  for (const Sample& sample : got.samples) {
    const Chain& chain = *sample.callchain;
    EXPECT_NE(CookieOf(sample), 0u);
    EXPECT_EQ(std::ranges::count(chain, kDeferred), 1);
    EXPECT_THAT(chain, testing::Not(testing::Contains(kUser)));
  }
}

CONFORMANCE_CASE(Record, DeferredRecordFollowsItsSample, .rules = {rule::REC_123},
                 .needs = {Cap::kStimulus, Cap::kAnyTask}, .over = {Over<dim::Cpu>()}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, Chains(Defer::kBoth, target().min_period()));
  Ring ring(event, 8);
  const Event other = OpenForRecords();
  Ring other_ring(other, 8);
  event.Enable();
  for (int i = 0; i < 3; ++i) target().Stimulate(spec, target().min_period());
  // A record that comes after the task has returned to user space is too late.
  const std::uint64_t head = ring.head();
  const std::uint64_t other_head = other_ring.head();
  event.Disable();
  EXPECT_EQ(ring.head(), head);
  EXPECT_EQ(other_ring.head(), other_head);
  const RingContents got = ring.Drain();
  const std::vector<std::uint32_t> pair = {PERF_RECORD_SAMPLE, PERF_RECORD_CALLCHAIN_DEFERRED};
  EXPECT_THAT(got.order,
              testing::ElementsAre(pair[0], pair[1], pair[0], pair[1], pair[0], pair[1]));
  const RingContents others = other_ring.Drain();
  for (const RingContents* records : {&got, &others}) {
    ASSERT_EQ(records->deferred.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(records->deferred[i].cookie, CookieOf(got.samples.at(i)));
    }
  }
}

CONFORMANCE_CASE(Record, DeferredRecordHoldsAddressesAndSampleId, .rules = {rule::REC_124}) {
  OpenOptions options = Chains(Defer::kBoth);
  options.pid = getpid();
  options.sample_type |= PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
                         PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  for (const bool with_id : {false, true}) {
    options.sample_id_all = with_id;
    auto [event, ring] = Sampler(Software(PERF_COUNT_SW_PAGE_FAULTS), options, 8);
    TouchNewPage();
    event.Disable();
    std::vector<Record> records = ring.DrainRaw();
    std::erase_if(records,
                  [](const Record& r) { return r.type != PERF_RECORD_CALLCHAIN_DEFERRED; });
    ASSERT_FALSE(records.empty());
    for (const Record& record : records) {
      EXPECT_EQ(record.misc, PERF_RECORD_MISC_USER);
      const auto deferred = ParseDeferred(record, event.attr());
      ASSERT_TRUE(deferred.has_value());
      EXPECT_FALSE(deferred->ips.empty());
      EXPECT_THAT(deferred->ips, testing::Each(testing::Lt(kLastAddress)));
      if (!with_id) continue;
      EXPECT_EQ(deferred->trailer.id, event.Id());
      EXPECT_EQ(deferred->trailer.stream_id, event.Id());
      EXPECT_EQ(deferred->trailer.identifier, event.Id());
      EXPECT_EQ(deferred->trailer.pid, static_cast<std::uint32_t>(getpid()));
      EXPECT_EQ(deferred->trailer.tid, static_cast<std::uint32_t>(gettid()));
    }
  }
}

CONFORMANCE_CASE(Record, DeferredAddressesBeginAtTheEntry, .rules = {rule::REC_125}) {
  OpenOptions options = Chains(Defer::kBoth);
  options.pid = getpid();
  options.sample_type |= PERF_SAMPLE_REGS_USER;
  options.edit = [](perf_event_attr& attr) {
    WithFlags(Defer::kBoth)(attr);
    attr.sample_regs_user = reg::Bit(reg::kIp);
  };
  const Event event = Open(Software(PERF_COUNT_SW_PAGE_FAULTS), options);
  Ring ring(event, 8);
  const UntouchedPage page;
  Chain returns;
  returns.reserve(3);
  event.Enable();
  Outer(page.get(), &returns);
  event.Disable();
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 1u);
  ASSERT_EQ(got.deferred.size(), 1u);
  Chain want = {got.samples[0].regs_user->at(0)};
  want.insert(want.end(), returns.begin(), returns.end());
  const Chain& ips = got.deferred[0].ips;
  EXPECT_EQ(Chain(ips.begin(),
                  ips.begin() + static_cast<std::ptrdiff_t>(std::min(ips.size(), want.size()))),
            want);
}

CASE_USES(Record, CookieIdentifiesTheEntry, Feature::kSyscallEvents);
CONFORMANCE_CASE(Record, CookieIdentifiesTheEntry, .rules = {rule::REC_126},
                 .over = {Over<dim::Cpu>()}) {
  const TraceFs tracing;
  OpenOptions options = Chains(Defer::kBoth);
  options.pid = getpid();
  const Event entry = Open(SpecOfTracepoint("syscalls:sys_enter_getpgid"), options);
  const Event exit = Open(SpecOfTracepoint("syscalls:sys_exit_getpgid"), options);
  Ring ring(entry, 8);
  exit.SetOutput(entry);
  entry.Enable();
  exit.Enable();
  HitTracepoint({0, 0, 0});
  entry.Disable();
  exit.Disable();
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 6u);
  // Both events request the record, so each entry has two.
  ASSERT_EQ(got.deferred.size(), 6u);
  std::set<std::uint64_t> cookies;
  for (std::size_t i = 0; i < 6; i += 2) {
    const std::uint64_t cookie = CookieOf(got.samples[i]);
    EXPECT_NE(cookie, 0u);
    EXPECT_TRUE(cookies.insert(cookie).second) << "the cookie of another entry";
    EXPECT_EQ(CookieOf(got.samples[i + 1]), cookie);
    EXPECT_EQ(got.deferred[i].cookie, cookie);
    EXPECT_EQ(got.deferred[i + 1].cookie, cookie);
  }
}

CONFORMANCE_CASE(Record, DeferredRecordNeedsItsFlag, .rules = {rule::REC_127}) {
  OpenOptions options = Chains(Defer::kSamples);
  options.pid = getpid();
  const Event samples = Open(Software(PERF_COUNT_SW_PAGE_FAULTS), options);
  const Event records = OpenForRecords();
  const Event neither = OpenForRecords(Defer::kNeither);
  Ring samples_ring(samples, 4);
  Ring records_ring(records, 4);
  Ring neither_ring(neither, 4);
  samples.Enable();
  TouchNewPage();
  samples.Disable();
  const RingContents got = samples_ring.Drain();
  ASSERT_FALSE(got.samples.empty());
  EXPECT_NE(CookieOf(got.samples[0]), 0u);
  EXPECT_EQ(got.order, std::vector<std::uint32_t>(got.samples.size(), PERF_RECORD_SAMPLE));
  EXPECT_EQ(records_ring.Drain().deferred.size(), got.samples.size());
  EXPECT_THAT(neither_ring.Drain().order, testing::IsEmpty());
}

CASE_USES(Record, ExcludedUserChainIsNotDeferred, Feature::kTracepoints);
CONFORMANCE_CASE(Record, ExcludedUserChainIsNotDeferred, .rules = {rule::REC_128}) {
  const TraceFs tracing;
  OpenOptions options = Chains(Defer::kBoth);
  options.pid = getpid();
  options.edit = [](perf_event_attr& attr) {
    WithFlags(Defer::kBoth)(attr);
    attr.exclude_callchain_user = 1;
  };
  // The kernel hits this tracepoint within a system call, so the chain has a kernel part.
  auto [event, ring] = Sampler(SpecOfTracepoint("task:task_rename"), options, 4);
  prctl(PR_SET_NAME, "renamed");
  event.Disable();
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 1u);
  const Chain& chain = *got.samples[0].callchain;
  ASSERT_FALSE(chain.empty());
  EXPECT_EQ(chain[0], static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL));
  EXPECT_THAT(chain, testing::Not(testing::Contains(kDeferred)));
  EXPECT_THAT(chain, testing::Not(testing::Contains(kUser)));
  EXPECT_THAT(got.deferred, testing::IsEmpty());
}

CASE_USES(Record, ExitingTaskHasAnImmediateChain, Feature::kTracepoints);
CONFORMANCE_CASE(Record, ExitingTaskHasAnImmediateChain, .rules = {rule::REC_129}) {
  const TraceFs tracing;
  Child child([] { return 0; });
  OpenOptions options = Chains(Defer::kBoth);
  options.pid = child.pid();
  auto [event, ring] = Sampler(SpecOfTracepoint("sched:sched_process_exit"), options, 4);
  ASSERT_EQ(child.Run(), 0);
  const RingContents got = ring.Drain();
  ASSERT_EQ(got.samples.size(), 1u);
  const Chain& chain = *got.samples[0].callchain;
  EXPECT_THAT(chain, testing::Contains(kUser));
  EXPECT_LT(chain.back(), kLastAddress);
  EXPECT_THAT(chain, testing::Not(testing::Contains(kDeferred)));
  EXPECT_THAT(got.deferred, testing::IsEmpty());
}

// Another side-band record that the event requests must make no difference.
CONFORMANCE_CASE(Record, EventOfACpuReceivesDeferredRecords, .rules = {rule::REC_130}) {
  OpenOptions options = Chains(Defer::kSamples);
  options.pid = getpid();
  const Event samples = Open(Software(PERF_COUNT_SW_PAGE_FAULTS), options);
  Ring samples_ring(samples, 4);
  for (const bool comm : {true, false}) {
    SCOPED_TRACE(comm ? "with comm" : "without another record");
    const Event records =
        Open(Software(PERF_COUNT_SW_DUMMY), {.pid = -1,
                                             .cpu = sched_getcpu(),
                                             .sample_type = PERF_SAMPLE_TID,
                                             .disabled = false,
                                             .edit = [comm](perf_event_attr& attr) {
                                               attr.defer_output = 1;
                                               attr.comm = comm ? 1 : 0;
                                             }});
    Ring ring(records, 4);
    samples.Enable();
    TouchNewPage();
    samples.Disable();
    const RingContents got = samples_ring.Drain();
    ASSERT_FALSE(got.samples.empty());
    const RingContents there = ring.Drain();
    ASSERT_EQ(there.deferred.size(), got.samples.size());
    for (std::size_t i = 0; i < got.samples.size(); ++i) {
      EXPECT_EQ(there.deferred[i].cookie, CookieOf(got.samples[i]));
    }
  }
}

}  // namespace
}  // namespace pmuconf

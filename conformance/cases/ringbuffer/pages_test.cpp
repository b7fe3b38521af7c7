// SPDX-License-Identifier: Apache-2.0
// The pages of a mapped buffer, as other parts of the kernel treat them, and refused mappings.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <sstream>

#include "cases/locked_memory.h"
#include "harness/behaviour.h"
#include "perf/kernel_behaviour.h"
#include "perf/ring.h"
#include "rules/RB.h"
#include "system/smaps.h"

namespace pmuconf {
namespace {

// A mapping whose pages nobody has read yet.
class UnreadMapping {
 public:
  UnreadMapping(const Event& event, std::size_t pages) : size_((1 + pages) * PageSize()) {
    void* const base = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, event.fd(), 0);
    if (base == MAP_FAILED) throw BrokenErrno("mmap", errno);
    base_ = static_cast<const volatile std::byte*>(base);
  }
  UnreadMapping(const UnreadMapping&) = delete;
  ~UnreadMapping() { munmap(const_cast<std::byte*>(base_), size_); }

  void ReadEachPage() const {
    for (std::size_t at = 0; at < size_; at += PageSize()) static_cast<void>(base_[at]);
  }
  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(base_); }
  std::size_t pages() const { return size_ / PageSize(); }

 private:
  std::size_t size_;
  const volatile std::byte* base_ = nullptr;
};

long PageFaults() {
  rusage usage = {};
  if (getrusage(RUSAGE_THREAD, &usage) != 0) throw BrokenErrno("getrusage", errno);
  return usage.ru_minflt + usage.ru_majflt;
}

void* DataOf(const Ring& ring) { return const_cast<std::byte*>(ring.data().data()); }
void* ControlPageOf(const Ring& ring) { return static_cast<std::byte*>(DataOf(ring)) - PageSize(); }

SysResult ResultOf(long returned) {
  return returned < 0 ? SysResult{-1, errno} : SysResult{returned, 0};
}

int PolledEvents(const Event& event) {
  pollfd wait = {event.fd(), POLLIN, 0};
  if (poll(&wait, 1, 0) < 0) throw Broken("poll");
  return wait.revents;
}

// The four cases that depend on this must agree.
bool MapsAtOnce() {
  const std::optional<bool> at_once = MapsPagesAtOnce();
  if (!at_once) SkipWithout("/proc/self/smaps (CONFIG_PROC_PAGE_MONITOR)");
  return *at_once;
}

CONFORMANCE_CASE(RingBuffer, RedirectedEventCannotBeMapped, .rules = {rule::RB_028},
                 .needs = {Cap::kSampling}, .over = {Over<dim::Cpu>(), Over<dim::Scope>()}) {
  const OpenOptions options = AtScope(*this, {.sample_period = 1'000});
  const Event owner = Open(target().AnyEvent(), options);
  const Event redirected = Open(target().AnyEvent(), options);
  const Ring ring(owner, 4);
  redirected.SetOutput(owner);
  EXPECT_THAT(Ring::TryMap(redirected, 2), FailsWith(EINVAL));
  const int error = Ring::TryMap(redirected, 4).error;
  EXPECT_TRUE(IsBehaviour(rule::RB_028, "error", error));
  // Where a mapping succeeds, its end also ends the redirection.
  EXPECT_EQ(PolledEvents(redirected), error == 0 ? POLLHUP : 0);
  EXPECT_EQ(Ring::TryMap(redirected, 4, false).error, error);
  EXPECT_THAT(Ring::TryMap(owner, 4), Succeeds());
  ASSERT_THAT(redirected.TryIoctl(PERF_EVENT_IOC_SET_OUTPUT, ~0ul), Succeeds());
  EXPECT_THAT(Ring::TryMap(redirected, 4), Succeeds());
  EXPECT_THAT(Ring::TryMap(redirected, 2), Succeeds());
}

// A process of a machine with 39-bit addresses cannot map so many pages.
void NeedWideAddresses() {
  const std::size_t size = ((std::size_t{1} << 32) + 16) * PageSize();
  void* const area =
      mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) SkipWithout("addresses for 2^32 pages");
  munmap(area, size);
}

CONFORMANCE_CASE(RingBuffer, LengthBeyond31BitsIsRefused, .rules = {rule::RB_029},
                 .needs = {Cap::kSampling}) {
  NeedWideAddresses();
  constexpr std::size_t kPages = std::size_t{1} << 31;
  const Event event = Open(target().AnyEvent(), {.sample_period = 1'000});
  EXPECT_THAT(Ring::TryMap(event, kPages), FailsWith(ENOMEM));
  for (const std::size_t more : {std::size_t{1}, std::size_t{6}, kPages + 1, kPages + 4}) {
    EXPECT_TRUE(IsBehaviour(rule::RB_029, "invalid", Ring::TryMap(event, kPages + more).error))
        << more;
  }
  EXPECT_THAT(Ring::TryMap(event, 1), Succeeds());
}

// A kernel that checks the length last cuts this number to 32 bits, and maps a buffer without data
// pages.
CONFORMANCE_CASE(RingBuffer, LengthIsNotCutTo32Bits, .rules = {rule::RB_029},
                 .needs = {Cap::kSampling}) {
  NeedWideAddresses();
  const Event event = Open(target().AnyEvent(), {.sample_period = 1'000});
  if (Ring::TryMap(event, (std::size_t{1} << 31) + 1).error == EINVAL) {
    SkipWithout("a check of the length before the check of its form");
  }
  EXPECT_THAT(Ring::TryMap(event, std::size_t{1} << 32), FailsWith(ENOMEM));
  EXPECT_THAT(Ring::TryMap(event, 1), Succeeds());
}

CONFORMANCE_CASE(RingBuffer, FirstReadOfAPageCausesKnownFaults, .rules = {rule::RB_030},
                 .needs = {Cap::kSampling}) {
  const Event event = Open(target().AnyEvent(), {.sample_period = 1'000});
  const long faults = MapsAtOnce() ? 0 : 1;
  EXPECT_TRUE(IsBehaviour(rule::RB_030, "faults", faults));
  const UnreadMapping warm_up(event, 64);
  for (const int again : {0, 1}) {
    const Event other = Open(target().AnyEvent(), {.sample_period = 1'000});
    const UnreadMapping unread(other, 64);
    const long before = PageFaults();
    const UnreadMapping& mapping = again == 0 ? warm_up : unread;
    mapping.ReadEachPage();
    const long first = PageFaults() - before;
    mapping.ReadEachPage();
    const long second = PageFaults() - before;
    if (again == 0) continue;  // it also caused the faults of this code
    EXPECT_EQ(first, faults * static_cast<long>(unread.pages()));
    EXPECT_EQ(second, first);
  }
}

// The resident part of the mapping that begins at `address`, in kB.
std::size_t ResidentKb(std::uintptr_t address) {
  const auto resident = SmapsValue(address, "Rss:");
  if (!resident) throw Broken("/proc/self/smaps has no Rss of the mapping");
  return std::stoul(*resident);
}

CONFORMANCE_CASE(RingBuffer, PagesAreNotResident, .rules = {rule::RB_031},
                 .needs = {Cap::kSampling}) {
  const Event event = Open(target().AnyEvent(), {.sample_period = 1'000});
  const UnreadMapping mapping(event, 64);
  mapping.ReadEachPage();
  const bool resident = !MapsAtOnce();
  EXPECT_TRUE(IsBehaviour(rule::RB_031, "resident", resident));
  const std::size_t all = mapping.pages() * PageSize() / 1'024;
  EXPECT_EQ(ResidentKb(mapping.address()), resident ? all : 0);
}

CONFORMANCE_CASE(RingBuffer, MadviseLeavesBufferUsable, .rules = {rule::RB_032},
                 .needs = {Cap::kStimulus, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 10});
  Ring ring(event, 4);
  const int error = MapsAtOnce() ? EINVAL : 0;
  EXPECT_TRUE(IsBehaviour(rule::RB_032, "error", error));
  event.Enable();
  target().Stimulate(spec, 20);
  event.Disable();
  for (const int advice : {MADV_DONTNEED, MADV_DOFORK}) {
    // The whole mapping, because a part of it cannot be split off.
    const SysResult result = ResultOf(
        syscall(SYS_madvise, ControlPageOf(ring), ring.data().size() + PageSize(), advice));
    EXPECT_EQ(result.error, error) << advice;
  }
  event.Enable();
  target().Stimulate(spec, 30);
  event.Disable();
  EXPECT_EQ(ring.Drain().samples.size(), 5u);
}

CONFORMANCE_CASE(RingBuffer, DebuggerCannotReadPages, .rules = {rule::RB_033},
                 .needs = {Cap::kSampling}) {
  const Event event = Open(target().AnyEvent(), {.sample_period = 1'000});
  const Ring ring(event, 1);
  std::uint64_t word = 0;
  const iovec local = {&word, sizeof(word)};
  const iovec remote = {DataOf(ring), sizeof(word)};
  const SysResult copied =
      ResultOf(syscall(SYS_process_vm_readv, getpid(), &local, 1ul, &remote, 1ul, 0ul));
  // A kernel without CONFIG_CROSS_MEMORY_ATTACH has only the file.
  if (copied.error != ENOSYS) {
    EXPECT_EQ(copied.error, MapsAtOnce() ? EFAULT : 0);
    EXPECT_TRUE(IsBehaviour(rule::RB_033, "readv", copied.error));
  }
  const Fd memory(open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
  const SysResult read =
      ResultOf(syscall(SYS_pread64, memory.get(), &word, sizeof(word), DataOf(ring)));
  EXPECT_EQ(read.error, MapsAtOnce() ? EIO : 0);
  EXPECT_TRUE(IsBehaviour(rule::RB_033, "mem", read.error));
}

CONFORMANCE_CASE(RingBuffer, RefusedMappingLeavesNoBuffer, .rules = {rule::RB_034},
                 .needs = {Cap::kSampling}) {
  const Sysctl free_pages(kFree, OnePage());
  const Sysctl paranoid(kParanoid, "0");
  const OtherUser user;
  Child child([] {
    const Event event = Open(target().AnyEvent(), {.sample_period = 1'000});
    const rlimit limit = {PageSize(), PageSize()};
    if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0) throw Broken("setrlimit");
    DropIpcLock();
    for (const std::size_t pages : {16, 8}) {
      EXPECT_THAT(Ring::TryMap(event, pages), FailsWith(EPERM));
      EXPECT_EQ(Pinned(), 0u);
      EXPECT_EQ(PolledEvents(event), POLLHUP);
      EXPECT_THAT(Ring::TryMap(event, 1), Succeeds());
      EXPECT_THAT(Ring::TryMap(event, 0), Succeeds());
    }
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(child.Run(), 0);
}

}  // namespace
}  // namespace pmuconf

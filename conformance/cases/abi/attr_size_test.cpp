// SPDX-License-Identifier: Apache-2.0
// The size of the attr: known sizes, bytes that the kernel does not know, and unreadable memory.
#include <sys/mman.h>

#include <cstring>

#include "cases/plain_event.h"
#include "harness/behaviour.h"
#include "harness/case.h"
#include "perf/kernel_behaviour.h"
#include "perf/ring.h"
#include "rules/ABI.h"

namespace pmuconf {
namespace {

const std::size_t kPage = PageSize();

// A buffer of two pages with an attr at its start and zeros behind it. The caller chooses the value
// of the size field.
struct WideAttr {
  std::vector<std::byte> bytes = std::vector<std::byte>(2 * kPage);

  explicit WideAttr(std::uint32_t size) {
    const perf_event_attr attr = MakeAttr(PlainEvent(), {.read_format = 0});
    std::memcpy(bytes.data(), &attr, attr.size);
    SetSize(size);
  }
  void SetSize(std::uint32_t size) {
    std::memcpy(&bytes[offsetof(perf_event_attr, size)], &size, sizeof(size));
  }
  std::uint32_t size() const {
    std::uint32_t size = 0;
    std::memcpy(&size, &bytes[offsetof(perf_event_attr, size)], sizeof(size));
    return size;
  }
};

SysResult OpenHere(const void* attr) {
  const SysResult result = TryOpenRaw(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (result.ok()) close(static_cast<int>(result.value));
  return result;
}

// The size of the attr, found by the fields that the kernel accepts.
std::uint32_t AcceptedSize() {
  const std::uint32_t size = AcceptedAttrSize();
  EXPECT_TRUE(IsBehaviour(rule::ABI_008, "attr_size", size)) << rule::ABI_008;
  return size;
}

CONFORMANCE_CASE(AttrSize, ZeroMeansTheFirstSize, .rules = {rule::ABI_002},
                 .needs = {Cap::kTasks}) {
  EXPECT_THAT(OpenHere(WideAttr(0).bytes.data()), Succeeds());
  WideAttr unknown_behind_64(0);
  unknown_behind_64.bytes[kPage - 1] = std::byte{1};
  unknown_behind_64.bytes[64 + 8] = std::byte{0xff};
  EXPECT_THAT(OpenHere(unknown_behind_64.bytes.data()), Succeeds());
}

CONFORMANCE_CASE(AttrSize, TooSmallIsRefused, .rules = {rule::ABI_003, rule::ABI_008}) {
  const std::uint32_t known = AcceptedSize();
  for (std::uint32_t size = 1; size < 64; ++size) {
    WideAttr attr(size);
    EXPECT_THAT(OpenHere(attr.bytes.data()), FailsWith(E2BIG)) << size << rule::ABI_003;
    EXPECT_EQ(attr.size(), known) << rule::ABI_008;
  }
}

CONFORMANCE_CASE(AttrSize, PublishedSizesAreAccepted, .rules = {rule::ABI_004},
                 .needs = {Cap::kTasks}) {
  const std::uint32_t newest = ReportedAttrSize();
  EXPECT_TRUE(IsBehaviour(rule::ABI_004, "newest_size", newest));
  for (const std::uint32_t size : {64u, 72u, 80u, 96u, 104u, 112u, 120u, 128u, newest}) {
    WideAttr attr(size);
    attr.bytes[size] = std::byte{0xff};  // the kernel must not read it
    EXPECT_THAT(OpenHere(attr.bytes.data()), Succeeds()) << size;
  }
}

CONFORMANCE_CASE(AttrSize, MoreThanAPageIsRefused, .rules = {rule::ABI_005, rule::ABI_008},
                 .needs = {Cap::kTasks}) {
  const std::uint32_t known = AcceptedSize();
  for (const std::uint32_t size : {static_cast<std::uint32_t>(kPage) + 1,
                                   static_cast<std::uint32_t>(2 * kPage), 1u << 20, ~0u}) {
    WideAttr attr(size);
    EXPECT_THAT(OpenHere(attr.bytes.data()), FailsWith(E2BIG)) << size << rule::ABI_005;
    EXPECT_EQ(attr.size(), known) << rule::ABI_008;
    EXPECT_THAT(OpenHere(attr.bytes.data()), Succeeds()) << rule::ABI_008;
  }
}

CONFORMANCE_CASE(AttrSize, UnknownZerosAreAccepted, .rules = {rule::ABI_006},
                 .needs = {Cap::kTasks}) {
  const std::uint32_t known = ReportedAttrSize();
  for (const std::uint32_t size :
       {known + 1, known + 7, known + 8, known + 100, static_cast<std::uint32_t>(kPage)}) {
    EXPECT_THAT(OpenHere(WideAttr(size).bytes.data()), Succeeds()) << size;
  }
}

CONFORMANCE_CASE(AttrSize, UnknownNonzeroByteIsRefused, .rules = {rule::ABI_007, rule::ABI_008}) {
  const std::uint32_t known = ReportedAttrSize();
  WideAttr attr(kPage);
  // The first bytes after the known ones, and then each byte of a word in turn.
  constexpr std::size_t kEach = 64, kStep = 7;
  for (std::size_t at = known; at < kPage; at += at < known + kEach ? 1 : kStep) {
    attr.SetSize(kPage);
    attr.bytes[at] = std::byte{0x80};
    ASSERT_THAT(OpenHere(attr.bytes.data()), FailsWith(E2BIG)) << at << rule::ABI_007;
    ASSERT_EQ(attr.size(), known) << rule::ABI_008;
    attr.bytes[at] = std::byte{0};
  }
}

CONFORMANCE_CASE(AttrSize, FailedOpenPreservesAttr, .rules = {rule::ABI_009}) {
  const auto unchanged = [](void (*spoil)(perf_event_attr&), pid_t pid, int cpu, int group_fd,
                            unsigned long flags, int error) {
    perf_event_attr attr = MakeAttr(target().AnyEvent());
    spoil(attr);
    const perf_event_attr before = attr;
    EXPECT_THAT(TryOpenRaw(&attr, pid, cpu, group_fd, flags), FailsWith(error));
    EXPECT_EQ(std::memcmp(&before, &attr, sizeof(attr)), 0);
  };
  const auto no_edit = [](perf_event_attr&) {};
  unchanged([](perf_event_attr& attr) { attr.type = 0x7fff'fff0; }, 0, -1, -1, 0, ENOENT);
  unchanged([](perf_event_attr& attr) { attr.sample_type = 1ull << 60; }, 0, -1, -1, 0, EINVAL);
  unchanged([](perf_event_attr& attr) { attr.sample_period = 1ull << 63; }, 0, -1, -1, 0, EINVAL);
  unchanged(no_edit, -2, -1, -1, 0, ESRCH);
  unchanged(no_edit, -1, -1, -1, 0, EINVAL);
  unchanged(no_edit, 0, -1, 999, 0, EBADF);
  unchanged(no_edit, 0, -1, -1, 1ul << 40, EINVAL);
}

CONFORMANCE_CASE(AttrSize, UnreadableAttrReturnsEfault,
                 .rules = {rule::ABI_001, rule::ABI_010, rule::ABI_011}, .needs = {Cap::kTasks}) {
  auto* pages = static_cast<std::byte*>(
      mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(pages), MAP_FAILED);
  ASSERT_EQ(munmap(pages + kPage, kPage), 0);
  EXPECT_THAT(OpenHere(nullptr), FailsWith(EFAULT)) << rule::ABI_001;
  EXPECT_THAT(OpenHere(pages + kPage), FailsWith(EFAULT)) << rule::ABI_001;

  std::byte* at_the_end = pages + kPage - 64;
  for (const std::uint32_t size : {0u, 64u, 72u, 128u}) {
    std::memcpy(at_the_end, WideAttr(size).bytes.data(), 64);
    EXPECT_EQ(OpenHere(at_the_end).error, size <= 64 ? 0 : EFAULT) << rule::ABI_011;
  }
  std::memcpy(pages, WideAttr(5).bytes.data(), 128);
  ASSERT_EQ(mprotect(pages, kPage, PROT_READ), 0);
  EXPECT_THAT(OpenHere(pages), FailsWith(E2BIG)) << rule::ABI_010;
  munmap(pages, kPage);
}

}  // namespace
}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Reads into memory that is not mapped, and into pages that are allocated at the first access.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstring>

#include "cases/common.h"
#include "perf/ring.h"
#include "rules/RDF.h"

namespace pmuconf {
namespace {

// Two pages that are mapped and not yet allocated. The destructor unmaps them.
class Pages {
 public:
  explicit Pages(int protection = PROT_READ | PROT_WRITE, int fd = -1) {
    const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    base_ = static_cast<char*>(mmap(nullptr, 2 * PageSize(), protection, flags, fd, 0));
    if (base_ == MAP_FAILED) throw BrokenErrno("mmap of two pages", errno);
  }
  Pages(const Pages&) = delete;
  ~Pages() { munmap(base_, 2 * PageSize()); }
  char* first() const { return base_; }
  char* second() const { return base_ + PageSize(); }

 private:
  char* base_;
};

int ErrnoOfRead(const Event& event, void* to) { return ::read(event.fd(), to, 64) < 0 ? errno : 0; }

CONFORMANCE_CASE(ReadFormat, ReadToBadMemoryReturnsEfault, .rules = {rule::RDF_010},
                 .needs = {Cap::kStimulus, Cap::kQuietFork, Cap::kGroups}) {
  const EventSpec spec = target().AnyEvent();
  const Pages half;
  ASSERT_EQ(mprotect(half.second(), PageSize(), PROT_NONE), 0);
  const Pages read_only(PROT_READ);
  for (const std::uint64_t format : {kReadTimes, Group::kReadFormat}) {
    const Event leader = Open(spec, {.read_format = format});
    const Event member = Open(spec, {.group_fd = leader.fd(), .read_format = format});
    leader.EnableGroup();
    target().Stimulate(spec, 30);
    EXPECT_EQ(ErrnoOfRead(member, nullptr), EFAULT);
    EXPECT_EQ(ErrnoOfRead(leader, std::bit_cast<void*>(std::uintptr_t{0} - 4'096)), EFAULT);
    EXPECT_EQ(ErrnoOfRead(leader, half.second() - 16), EFAULT);
    EXPECT_EQ(ErrnoOfRead(leader, half.second()), EFAULT);
    EXPECT_EQ(ErrnoOfRead(leader, read_only.first()), EFAULT);
    target().Stimulate(spec, 12);
    const std::uint64_t count =
        format == kReadTimes ? leader.Read().value : leader.ReadGroup().entries.front().value;
    EXPECT_THAT(count, Counted(spec, 42));
  }
}

CONFORMANCE_CASE(ReadFormat, ReadToUnpopulatedMemorySucceeds, .rules = {rule::RDF_010},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  const EventSpec spec = target().AnyEvent();
  const Event event = Open(spec, {.sample_period = 1'000'000, .read_format = PERF_FORMAT_ID});
  event.Enable();
  target().Stimulate(spec, 30);
  const Pages fresh;
  const Fd file(memfd_create("pages", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(file.get(), static_cast<off_t>(2 * PageSize())), 0);
  const Pages of_file(PROT_READ | PROT_WRITE, file.get());
  Ring ring(event, 1);
  char* const own_page =
      reinterpret_cast<char*>(const_cast<perf_event_mmap_page*>(&ring.control()));
  char* const hole = own_page + 512;  // an unused part of the control page
  char* const across = fresh.second() - 8;
  for (char* to : {across, of_file.second() - 8, hole}) {
    ASSERT_EQ(::read(event.fd(), to, 64), 16);
    std::uint64_t words[2] = {};
    std::memcpy(words, to, sizeof(words));
    EXPECT_THAT(words[0], Counted(spec, 30));
    EXPECT_EQ(words[1], event.Id());
  }
  EXPECT_EQ(ErrnoOfRead(event, own_page + PageSize()), EFAULT) << "data pages are read-only";
}

}  // namespace
}  // namespace pmuconf

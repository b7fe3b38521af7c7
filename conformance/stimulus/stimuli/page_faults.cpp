// SPDX-License-Identifier: Apache-2.0
// Minor page faults: touches fresh anonymous pages one by one.
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "stimulus/stimuli.h"
#include "system/broken.h"

namespace pmuconf {
namespace {

constexpr std::size_t kPages = 256;  // of the area that is reused for all faults
constexpr std::size_t kStack = 256 * 1024;
constexpr std::size_t kHeap = 4 * 1024 * 1024;

std::size_t PageSize() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

volatile char* Area() {
  static char* const area = [] {
    const std::size_t size = kPages * PageSize();
    void* const mapped =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw BrokenErrno("an area for page faults", errno);
    // Huge pages would fault once for many pages. Kernels without them do not know this advice
    // (EINVAL).
    if (madvise(mapped, size, MADV_NOHUGEPAGE) != 0 && errno != EINVAL) {
      throw BrokenErrno("madvise(MADV_NOHUGEPAGE)", errno);
    }
    return static_cast<char*>(mapped);
  }();
  return area;
}

// Populates the stack that functions called later may use.
[[gnu::noinline]] void GrowStack() {
  volatile char memory[kStack];
  std::fill(memory, memory + kStack, 0);
}

// Makes the allocator keep freed memory, so that later allocations do not fault.
void GrowHeap() {
  if (mallopt(M_MMAP_MAX, 0) != 1 || mallopt(M_TRIM_THRESHOLD, INT_MAX) != 1) {
    throw Broken("the allocator does not keep memory");
  }
  auto* const memory = static_cast<volatile char*>(std::malloc(kHeap));
  if (memory == nullptr) throw Broken("no memory");
  for (std::size_t i = 0; i < kHeap; i += 1024) memory[i] = 0;
  std::free(const_cast<char*>(memory));
}

}  // namespace

void TouchFreshPages(std::uint64_t n) {
  volatile char* const area = Area();
  while (n > 0) {
    const std::uint64_t now = std::min<std::uint64_t>(n, kPages);
    if (madvise(const_cast<char*>(area), kPages * PageSize(), MADV_DONTNEED) != 0) {
      throw BrokenErrno("madvise(MADV_DONTNEED)", errno);
    }
    for (std::uint64_t i = 0; i < now; ++i) area[i * PageSize()] = 1;
    n -= now;
  }
}

void PrepareFaults() {
  GrowStack();
  GrowHeap();
  TouchFreshPages(1);
  // mlockall() populates all mappings. They need not stay locked.
  if (mlockall(MCL_CURRENT) != 0 || munlockall() != 0) throw BrokenErrno("mlockall", errno);
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Changes of an existing mapping by munmap(2), mmap(2) and mremap(2).
#ifndef PMUCONF_CASES_REMAP_H_
#define PMUCONF_CASES_REMAP_H_

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "perf/ring.h"

namespace pmuconf {

struct RemapAttempt {
  std::string what;
  int expected = 0;
  int error = 0;
};
constexpr int kCovered = -1;  // the errno of mapping other memory over a part

// Tries to remove parts of a mapping of `pages` pages at `base`, and to extend it. If the kernel
// permits an attempt, the mapping has changed. The kernels differ in the errno of kCovered.
inline std::vector<RemapAttempt> RefusedRemaps(void* base, std::size_t pages) {
  const std::size_t page = PageSize();
  const std::size_t size = pages * page;
  char* const at = static_cast<char*>(base);
  const auto failure = [](bool failed) { return failed ? errno : 0; };
  const auto cover = [&](char* from) {
    return mmap(from, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  };
  const auto remap = [&](std::size_t old_size, std::size_t new_size, int flags) {
    return mremap(at, old_size, new_size, flags);
  };
  return {
      {"its first page unmapped", EINVAL, failure(munmap(at, page) != 0)},
      {"its last page unmapped", EINVAL, failure(munmap(at + size - page, page) != 0)},
      {"its middle unmapped", EINVAL, failure(munmap(at + page, size - 2 * page) != 0)},
      {"its first page covered", kCovered, failure(cover(at) == MAP_FAILED)},
      {"its last page covered", kCovered, failure(cover(at + size - page) == MAP_FAILED)},
      {"shortened", EINVAL, failure(remap(size, size - page, 0) == MAP_FAILED)},
      {"extended", EFAULT, failure(remap(size, 2 * size, MREMAP_MAYMOVE) == MAP_FAILED)},
      {"duplicated", EFAULT, failure(remap(0, size, MREMAP_MAYMOVE) == MAP_FAILED)},
      {"moved, with its old range mapped", EINVAL,
       failure(remap(size, size, MREMAP_MAYMOVE | MREMAP_DONTUNMAP) == MAP_FAILED)},
  };
}

// Moves a whole mapping to a free range of addresses. Returns MAP_FAILED if the kernel rejects
// that.
inline void* MoveElsewhere(void* base, std::size_t size) {
  void* const destination = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (destination == MAP_FAILED) return MAP_FAILED;
  return mremap(base, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, destination);
}

}  // namespace pmuconf

#endif  // PMUCONF_CASES_REMAP_H_

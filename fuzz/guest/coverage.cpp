// SPDX-License-Identifier: Apache-2.0
// Passes places of the kernel to libFuzzer as counters.
#include "guest/coverage.h"

#include <fcntl.h>
#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "system/broken.h"

namespace pmuconf::fuzz {
namespace {

constexpr std::size_t kWords = 64 << 10;  // for one program; further places are not counted
constexpr unsigned kCounterBits = 15;
constexpr std::uint64_t kMix = 0x9e37'79b9'7f4a'7c15;

// libFuzzer finds the section by its name, clears it before each input, and reads it afterwards.
__attribute__((section("__libfuzzer_extra_counters"))) std::uint8_t counters[1 << kCounterBits];

}  // namespace

void ReportPlace(std::uint64_t place) {
  std::uint8_t& counter = counters[place * kMix >> (64 - kCounterBits)];
  if (counter < UINT8_MAX) ++counter;
}

Coverage::Coverage() {
  fd_.Reset(open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC));
  if (fd_.get() < 0) throw BrokenErrno("opening the kernel's coverage (a kernel with KCOV)", errno);
  if (ioctl(fd_.get(), KCOV_INIT_TRACE, kWords) != 0) throw BrokenErrno("KCOV_INIT_TRACE", errno);
  void* const at = mmap(nullptr, kWords * sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED,
                        fd_.get(), 0);
  if (at == MAP_FAILED) throw BrokenErrno("mapping the kernel's coverage", errno);
  area_ = static_cast<std::uint64_t*>(at);
}

Coverage::~Coverage() { munmap(area_, kWords * sizeof(std::uint64_t)); }

void Coverage::Start() const {
  __atomic_store_n(&area_[0], 0, __ATOMIC_RELAXED);
  if (ioctl(fd_.get(), KCOV_ENABLE, KCOV_TRACE_PC) != 0) throw BrokenErrno("KCOV_ENABLE", errno);
}

void Coverage::Stop() const { ioctl(fd_.get(), KCOV_DISABLE, 0); }

void Coverage::Count() {
  const std::uint64_t size = __atomic_load_n(&area_[0], __ATOMIC_RELAXED);
  for (std::uint64_t i = 1; i <= size && i < kWords; ++i) {
    ReportPlace(area_[i]);
    seen_.insert(area_[i]);
  }
  __atomic_store_n(&area_[0], 0, __ATOMIC_RELAXED);
}

}  // namespace pmuconf::fuzz

// SPDX-License-Identifier: Apache-2.0
// The 32-bit entry: interrupt 0x80 on x86-64. Other architectures have none for a 64-bit process.
#include "perf/compat_call.h"

#include <sys/mman.h>

#include <cerrno>

#include "perf/answers.h"
#include "system/broken.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

constexpr std::size_t kPage = 4096;

#if defined(__x86_64__)

constexpr std::uint32_t kGetpid = 20, kIoctl = 54, kOpen = 336;  // system call numbers of i386
constexpr int kLow = MAP_32BIT;
constexpr bool kDoor = true;

SysResult Call(std::uint32_t number, std::uint32_t a = 0, std::uint32_t b = 0, std::uint32_t c = 0,
               std::uint32_t d = 0, std::uint32_t e = 0) {
  std::uint64_t result = number;
  asm volatile("int $0x80"
               : "+a"(result)
               : "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
               : "memory", "cc", "r8", "r9", "r10", "r11");
  const auto value = static_cast<std::int32_t>(result);
  return value < 0 ? SysResult{-1, -value} : SysResult{value, 0};
}

#else

constexpr std::uint32_t kGetpid = 0, kIoctl = 0, kOpen = 0;
constexpr int kLow = 0;
constexpr bool kDoor = false;

SysResult Call(std::uint32_t, std::uint32_t = 0, std::uint32_t = 0, std::uint32_t = 0,
               std::uint32_t = 0, std::uint32_t = 0) {
  return {-1, ENOSYS};
}

#endif

}  // namespace

bool HasCompatCalls() {
  if (!kDoor) return false;
  // A kernel without the entry kills the process, so a child tries it.
  Child child([] { return Call(kGetpid).value == getpid() ? 0 : 1; });
  child.Go();
  return child.Wait() == 0;
}

SysResult CompatOpen(std::uint32_t attr, pid_t pid, int cpu, int group_fd, std::uint32_t flags) {
  SysResult result =
      Call(kOpen, attr, static_cast<std::uint32_t>(pid), static_cast<std::uint32_t>(cpu),
           static_cast<std::uint32_t>(group_fd), flags);
  if (perf_answers().compat_open != nullptr) perf_answers().compat_open(attr, &result);
  return result;
}

SysResult CompatIoctl(int fd, std::uint32_t request, std::uint32_t arg) {
  SysResult result = Call(kIoctl, static_cast<std::uint32_t>(fd), request, arg);
  if (perf_answers().compat_ioctl != nullptr) perf_answers().compat_ioctl(fd, request, &result);
  return result;
}

LowPage::LowPage()
    : page_(static_cast<std::byte*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | kLow, -1, 0))) {
  if (static_cast<void*>(page_) == MAP_FAILED) throw BrokenErrno("mmap of low memory", errno);
}

LowPage::~LowPage() { munmap(page_, kPage); }

}  // namespace pmuconf

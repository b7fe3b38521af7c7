// SPDX-License-Identifier: Apache-2.0
// System calls of 32-bit programs. Only some architectures have them for a 64-bit process.
#include "perf/compat_call.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "arch/arch.h"
#include "perf/answers.h"
#include "system/broken.h"
#include "system/cpu.h"

namespace pmuconf {
namespace {

constexpr std::size_t kPage = 4096;

SysResult Call(std::uint32_t number, std::uint32_t a = 0, std::uint32_t b = 0, std::uint32_t c = 0,
               std::uint32_t d = 0, std::uint32_t e = 0) {
  const std::int32_t value = processor::CompatCall(number, a, b, c, d, e);
  return value < 0 ? SysResult{-1, -value} : SysResult{value, 0};
}

}  // namespace

bool HasCompatCalls() {
  if (!processor::kCompatCalls) return false;
  // A kernel without the entry sends a signal, so a child tries it. The kernel logs a signal that
  // ends a process, and a log is a CRASH, so the child handles it.
  Child child([] {
    signal(SIGSEGV, [](int) { _exit(1); });
    return Call(processor::kCompatNumbers.getpid).value == getpid() ? 0 : 1;
  });
  child.Go();
  return child.Wait() == 0;
}

SysResult CompatOpen(std::uint32_t attr, pid_t pid, int cpu, int group_fd, std::uint32_t flags) {
  SysResult result =
      Call(processor::kCompatNumbers.perf_event_open, attr, static_cast<std::uint32_t>(pid),
           static_cast<std::uint32_t>(cpu), static_cast<std::uint32_t>(group_fd), flags);
  if (perf_answers().compat_open != nullptr) perf_answers().compat_open(attr, &result);
  return result;
}

SysResult CompatIoctl(int fd, std::uint32_t request, std::uint32_t arg) {
  SysResult result =
      Call(processor::kCompatNumbers.ioctl, static_cast<std::uint32_t>(fd), request, arg);
  if (perf_answers().compat_ioctl != nullptr) perf_answers().compat_ioctl(fd, request, &result);
  return result;
}

LowPage::LowPage()
    : page_(
          static_cast<std::byte*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | processor::kMapLow, -1, 0))) {
  if (static_cast<void*>(page_) == MAP_FAILED) throw BrokenErrno("mmap of low memory", errno);
}

LowPage::~LowPage() { munmap(page_, kPage); }

}  // namespace pmuconf

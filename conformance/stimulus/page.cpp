// SPDX-License-Identifier: Apache-2.0
// Answers the requests of a port by accesses of a port page.
#include "stimulus/page.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>

#include <cerrno>
#include <chrono>

#include "system/broken.h"
#include "system/context.h"
#include "system/fd.h"

namespace pmuconf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kMemory = "/dev/mem";
// A handler ends its interrupt long before that. So a pulse without progress fails the case.
constexpr std::chrono::seconds kHandling{1};
// If a pulse takes longer because the driver polls, the case is skipped: a period of minutes is no
// bug. Most cases end after ten seconds.
constexpr std::chrono::seconds kPolling{6};

}  // namespace

Page::Page(std::uint64_t address) {
  const Fd memory(open(kMemory, O_RDWR | O_SYNC | O_CLOEXEC));
  if (memory.get() < 0) throw BrokenErrno(kMemory, errno);
  void* const mapped = mmap(nullptr, PORT_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                            memory.get(), static_cast<off_t>(address));
  if (mapped == MAP_FAILED) throw BrokenErrno("mapping of the port page", errno);
  words_ = static_cast<volatile std::uint64_t*>(mapped);
  if (Get(PORT_PAGE_ID) == PORT_PAGE_MAGIC) return;
  munmap(mapped, PORT_PAGE_BYTES);
  throw Broken("no port page at the address in the target file");
}

Page::~Page() { munmap(const_cast<std::uint64_t*>(words_), PORT_PAGE_BYTES); }

std::uint64_t Page::Get(port_page_register reg) const { return words_[reg / sizeof(*words_)]; }

void Page::Set(port_page_register reg, std::uint64_t value) const {
  words_[reg / sizeof(*words_)] = value;
}

SysResult Page::Answer(unsigned long request, void* arg) const {
  switch (request) {
    case REFPMU_IOC_RESET:
      Set(PORT_PAGE_RESET, 1);
      AwaitNoInterrupt();
      return {0, 0};
    case REFPMU_IOC_INFO: {
      auto* const info = static_cast<refpmu_info*>(arg);
      info->general = static_cast<__u32>(Get(PORT_PAGE_COUNTERS));
      info->width = static_cast<__u32>(Get(PORT_PAGE_WIDTH));
      return {0, 0};
    }
    case REFPMU_IOC_LINE:
      Set(PORT_PAGE_HOLD, static_cast<refpmu_line*>(arg)->hold != 0 ? 1 : 0);
      return {0, 0};
    case REFPMU_IOC_STATS:
      Stats(static_cast<refpmu_stats*>(arg));
      return {0, 0};
    case REFPMU_IOC_PULSE: {
      auto* const pulse = static_cast<refpmu_pulse*>(arg);
      std::uint64_t done = 0;
      Pulse(pulse->event, pulse->n, pulse->cpu, &done);
      pulse->done = done;
      return {0, 0};
    }
    default:
      return {-1, ENOTTY};
  }
}

// An interrupt that never ends fails the case that caused it. A later case could not tell its own
// interrupts from that one.
void Page::AwaitNoInterrupt() const {
  const auto until = Clock::now() + kHandling;
  while (Get(PORT_PAGE_LINE) != 0) {
    if (Clock::now() > until) throw Broken("the driver does not end an earlier interrupt");
    sched_yield();
  }
}

void Page::Pulse(std::uint64_t code, std::uint64_t n, int cpu, std::uint64_t* done) const {
  const bool polled = Get(PORT_PAGE_POLLED) != 0;
  auto until = Clock::now() + (polled ? kPolling : kHandling);
  *done = 0;
  Set(PORT_PAGE_CODE, code);
  Set(PORT_PAGE_CPU, cpu < 0 ? PORT_PAGE_CPU_CURRENT : static_cast<std::uint64_t>(cpu));
  // The driver handles the last overflow before the request returns, as a port promises.
  while (*done < n || Get(PORT_PAGE_LINE) != 0) {
    const std::uint64_t left = n - *done;
    std::uint64_t more = 0;
    if (left > 0) {
      Set(PORT_PAGE_PULSE, left);
      more = Get(PORT_PAGE_PULSE);
    }
    *done += more;
    if (more > 0 && !polled) until = Clock::now() + kHandling;
    if (more > 0) continue;
    if (Clock::now() <= until) {
      sched_yield();
    } else if (polled) {
      throw Skipped{SkipReason::kKernelLacks,
                    "the driver reads its counters too seldom for a wrap"};
    } else {
      throw Violation{"the driver did not end the interrupt of an overflow within a second"};
    }
  }
}

void Page::Stats(refpmu_stats* stats) const {
  const bool polled = Get(PORT_PAGE_POLLED) != 0;
  stats->pmi = stats->pmi_claimed = Get(polled ? PORT_PAGE_READS : PORT_PAGE_INTERRUPTS);
  stats->used = Get(PORT_PAGE_ENABLED);
}

}  // namespace pmuconf

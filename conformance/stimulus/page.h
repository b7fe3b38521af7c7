// SPDX-License-Identifier: Apache-2.0
// The stimulus port of a device with a port page (port_page.h), which needs no driver.
#ifndef PMUCONF_STIMULUS_PAGE_H_
#define PMUCONF_STIMULUS_PAGE_H_

#include <uapi/refpmu.h>

#include <cstdint>
#include <optional>
#include <string>

#include "perf/event.h"
#include "stimulus/port_page.h"

namespace pmuconf {

// Returns the address in "page:0xfed81000", or nullopt if `path` is no such text.
std::optional<std::uint64_t> ParsePagePath(const std::string& path);

// Maps the page by /dev/mem. Throws Broken if that fails or no page is there.
class Page {
 public:
  explicit Page(std::uint64_t address);
  Page(const Page&) = delete;
  ~Page();

  // Does what the driver of a port does for REFPMU_IOC_INFO, PULSE, LINE, STATS and RESET. A pulse
  // has no origin. The statistics are the device's: interrupts, or for a device without them the
  // counters that the driver read, and the enabled counters. Other requests return ENOTTY.
  SysResult Answer(unsigned long request, void* arg) const;

  // Generates `n` events of `code` on `cpu` (REFPMU_CPU_CURRENT: that of the caller), and sets
  // `done` to the number that happened. Throws Violation if the driver does not end an interrupt,
  // and Skipped if it polls too seldom.
  void Pulse(std::uint64_t code, std::uint64_t n, int cpu, std::uint64_t* done) const;

 private:
  void AwaitNoInterrupt() const;
  std::uint64_t Get(port_page_register reg) const;
  void Set(port_page_register reg, std::uint64_t value) const;
  void Stats(refpmu_stats* stats) const;

  volatile std::uint64_t* words_;
};

}  // namespace pmuconf

#endif  // PMUCONF_STIMULUS_PAGE_H_

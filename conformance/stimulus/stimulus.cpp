// SPDX-License-Identifier: Apache-2.0
// Calls of the stimulus port.
#include "stimulus/stimulus.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <cerrno>

#include "system/broken.h"

namespace pmuconf {
namespace {

template <typename T>
T Request(int cpu) {
  T request = {};
  request.size = sizeof(T);
  request.cpu = cpu;
  return request;
}

void ThrowUnlessOk(const SysResult& result, const std::string& what) {
  if (!result.ok()) throw BrokenErrno("stimulus port: " + what, result.error);
}

}  // namespace

Port::Port(const std::string& path) {
  if (const auto address = ParsePagePath(path)) {
    page_ = std::make_shared<const Page>(*address);
    return;
  }
  fd_ = Fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (fd_.get() < 0) throw BrokenErrno("stimulus port " + path, errno);
}

SysResult Port::TryIoctl(unsigned long request, void* arg) const {
  if (page_ != nullptr) return page_->Answer(request, arg);
  const int value = ioctl(fd_.get(), request, arg);
  return value < 0 ? SysResult{-1, errno} : SysResult{value, 0};
}

SysResult Port::TryPulse(refpmu_pulse& pulse) const {
  pulse.size = sizeof(pulse);
  return TryIoctl(REFPMU_IOC_PULSE, &pulse);
}

void Port::Pulse(std::uint64_t code, std::uint64_t n, const PulseOptions& options) const {
  if (page_ != nullptr) {
    std::uint64_t done = 0;
    return page_->Pulse(code, n, options.cpu, &done);
  }
  auto pulse = Request<refpmu_pulse>(options.cpu);
  pulse.event = static_cast<std::uint32_t>(code);
  pulse.privilege = static_cast<std::uint32_t>(options.privilege);
  pulse.n = n;
  pulse.ip = options.ip;
  pulse.addr = options.addr;
  pulse.skid = options.skid;
  pulse.per_pulse = options.per_pulse;
  pulse.latency = options.latency;
  pulse.source = options.source;
  pulse.response = options.response;
  pulse.regs = reinterpret_cast<std::uint64_t>(options.regs);
  const SysResult result = TryPulse(pulse);
  const std::string what = "pulse of event " + std::to_string(code) + ", " +
                           std::to_string(pulse.done) + " of " + std::to_string(n) + " done";
  ThrowUnlessOk(result, what);
  if (pulse.done != n) throw Broken("stimulus port: " + what);
}

void Port::Branches(const std::vector<Branch>& branches, int cpu) const {
  std::vector<refpmu_branch_entry> entries;
  for (const Branch& branch : branches) {
    entries.push_back({branch.from, branch.to, static_cast<std::uint32_t>(branch.kind),
                       branch.flags, branch.cycles, static_cast<std::uint32_t>(branch.privilege)});
  }
  auto request = Request<refpmu_branches>(cpu);
  request.entries = reinterpret_cast<std::uint64_t>(entries.data());
  request.count = static_cast<std::uint32_t>(entries.size());
  const SysResult result = TryIoctl(REFPMU_IOC_BRANCHES, &request);
  const std::string what =
      std::to_string(request.done) + " of " + std::to_string(entries.size()) + " branches done";
  ThrowUnlessOk(result, what);
  if (request.done != entries.size()) throw Broken("stimulus port: " + what);
}

void Port::SetManualClock(int cpu, bool manual) const {
  auto clock = Request<refpmu_clock>(cpu);
  clock.mode = manual ? REFPMU_CLOCK_MANUAL : REFPMU_CLOCK_AUTO;
  ThrowUnlessOk(TryIoctl(REFPMU_IOC_CLOCK, &clock), "clock of CPU " + std::to_string(cpu));
}

void Port::Advance(std::uint64_t ticks, const PulseOptions& options) const {
  auto advance = Request<refpmu_advance>(options.cpu);
  advance.privilege = static_cast<std::uint32_t>(options.privilege);
  advance.skid = options.skid;
  advance.ticks = ticks;
  advance.ip = options.ip;
  const SysResult result = TryIoctl(REFPMU_IOC_ADVANCE, &advance);
  const std::string what = "advance of the clock, " + std::to_string(advance.done) + " of " +
                           std::to_string(ticks) + " ticks done";
  ThrowUnlessOk(result, what);
  if (advance.done != ticks) throw Broken("stimulus port: " + what);
}

std::uint64_t Port::ReadRegister(std::uint32_t reg, int cpu) const {
  auto request = Request<refpmu_reg>(cpu);
  request.reg = reg;
  ThrowUnlessOk(TryIoctl(REFPMU_IOC_REG, &request), "read of register " + std::to_string(reg));
  return request.value;
}

void Port::WriteRegister(std::uint32_t reg, std::uint64_t value, int cpu) const {
  auto request = Request<refpmu_reg>(cpu);
  request.reg = reg;
  request.write = 1;
  request.value = value;
  ThrowUnlessOk(TryIoctl(REFPMU_IOC_REG, &request), "write of register " + std::to_string(reg));
}

void Port::SetLine(bool held, int cpu) const {
  auto line = Request<refpmu_line>(cpu);
  line.hold = held ? 1 : 0;
  ThrowUnlessOk(TryIoctl(REFPMU_IOC_LINE, &line),
                held ? "hold of the line" : "release of the line");
}

InjectResult Port::Inject(std::uint64_t status, int cpu) const {
  auto inject = Request<refpmu_inject>(cpu);
  inject.status = status;
  ThrowUnlessOk(TryIoctl(REFPMU_IOC_INJECT, &inject), "injection of an interrupt");
  return {inject.runs, inject.claimed};
}

std::vector<refpmu_log_entry> Port::Log(std::size_t capacity, int cpu) const {
  std::vector<refpmu_log_entry> entries(capacity);
  auto log = Request<refpmu_log>(cpu);
  log.entries = reinterpret_cast<std::uint64_t>(entries.data());
  log.capacity = static_cast<std::uint32_t>(capacity);
  ThrowUnlessOk(TryIoctl(REFPMU_IOC_LOG, &log), "reading of the log");
  if (log.count > capacity) throw Broken("stimulus port: the log has more entries than requested");
  entries.resize(log.count);
  return entries;
}

refpmu_stats Port::Stats(int cpu) const {
  auto stats = Request<refpmu_stats>(cpu);
  ThrowUnlessOk(TryIoctl(REFPMU_IOC_STATS, &stats), "reading of the statistics");
  return stats;
}

refpmu_info Port::Info() const {
  refpmu_info info = {};
  info.size = sizeof(info);
  ThrowUnlessOk(TryIoctl(REFPMU_IOC_INFO, &info), "reading of the device's figures");
  return info;
}

void Port::Reset() const { ThrowUnlessOk(TryIoctl(REFPMU_IOC_RESET, nullptr), "reset"); }

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Opens events and calls their ioctls.
#include "perf/event.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>
#include <string>

#include "arch/arch.h"
#include "perf/counted.h"
#include "perf/cpu_wide.h"
#include "perf/descriptors.h"
#include "perf/matchers.h"
#include "system/broken.h"
#include "system/context.h"

namespace pmuconf {
namespace {

constexpr std::size_t kReadBuffer = 16 * 1024;

OpenPolicy& Policy() {
  static OpenPolicy the_policy;
  return the_policy;
}

// Skips a case whose period is shorter than the target file claims to support.
void SkipIfTooShort(std::uint64_t period) {
  const std::uint64_t shortest = Policy().min_period;
  if (period == 0 || period >= shortest) return;
  SkipUnclaimed("needs a period of " + std::to_string(period) +
                "; the shortest that the target supports is " + std::to_string(shortest));
}

// Skips a case that needs more breakpoints than the processor has. If the case has fewer, others
// leak.
void SkipIfAllAreUsed() {
  const std::size_t used = EventDescriptors("/proc/self/fd");
  if (used < processor::kFewestBreakpoints) return;
  SkipUnclaimed("needs more than the " + std::to_string(used) +
                " breakpoints that it uses already");
}

// Names of the PERF_SAMPLE_* bits, from bit 0.
constexpr std::array<const char*, 25> kSampleNames = {"ip",
                                                      "tid",
                                                      "time",
                                                      "addr",
                                                      "read",
                                                      "callchain",
                                                      "id",
                                                      "cpu",
                                                      "period",
                                                      "stream_id",
                                                      "raw",
                                                      "branch_stack",
                                                      "regs_user",
                                                      "stack_user",
                                                      "weight",
                                                      "data_src",
                                                      "identifier",
                                                      "transaction",
                                                      "regs_intr",
                                                      "phys_addr",
                                                      "aux",
                                                      "cgroup",
                                                      "data_page_size",
                                                      "code_page_size",
                                                      "weight_struct"};
// Names of the PERF_FORMAT_* bits, from bit 0.
constexpr std::array<const char*, 5> kReadNames = {"time_enabled", "time_running", "id", "group",
                                                   "lost"};
// Names of the PERF_SAMPLE_BRANCH_* bits, from bit 0.
constexpr std::array<const char*, 19> kBranchNames = {
    "user",     "kernel",    "hv",        "any",      "any_call",   "any_return", "ind_call",
    "abort_tx", "in_tx",     "no_tx",     "cond",     "call_stack", "ind_jump",   "call",
    "no_flags", "no_cycles", "type_save", "hw_index", "priv_save"};

// Returns "ip|tid|0x80000000": the names of the bits, and the bits without a name as a number.
std::string Names(std::uint64_t value, std::span<const char* const> names) {
  std::ostringstream os;
  const char* separator = "";
  for (std::size_t bit = 0; bit < names.size(); ++bit) {
    if ((value >> bit & 1) == 0) continue;
    os << separator << names[bit];
    separator = "|";
    value &= ~(1ULL << bit);
  }
  if (value != 0) os << separator << "0x" << std::hex << value;
  return os.str();
}

std::string Opened(const perf_event_attr& attr, pid_t pid, int cpu, int group_fd,
                   unsigned long flags) {
  std::ostringstream os;
  os << Describe(attr) << " | pid=" << pid << " cpu=" << cpu << " group_fd=" << group_fd
     << " flags=0x" << std::hex << flags;
  return os.str();
}

// Stores the last opens for the failure message of the case.
void RecordOpen(std::string opened) {
  auto& calls = context().opened;
  ++context().opens;
  if (calls.size() == Context::kMaxOpened) calls.pop_front();
  calls.push_back(std::move(opened));
}

std::optional<pid_t> DefaultTask() {
  return Policy().default_task ? Policy().default_task() : std::nullopt;
}

// On a system-wide PMU, replaces the default (this task, any CPU) by the designated CPU. If a
// worker makes the events happen, replaces this task by the worker.
void Place(const perf_event_attr& attr, pid_t* pid, int* cpu) {
  if (*pid == 0) *pid = DefaultTask().value_or(0);
  if (*pid == -1 && *cpu >= 0 && Policy().prepare_cpu) Policy().prepare_cpu(attr.type, *cpu);
  if (*pid != 0 || *cpu != -1 || !Policy().default_cpu) return;
  const std::optional<int> designated = Policy().default_cpu();
  if (!designated) return;
  *pid = -1;
  *cpu = *designated;
}

void ThrowUnlessOk(const SysResult& result, const char* what, const perf_event_attr& attr) {
  if (!result.ok()) throw BrokenErrno(std::string(what) + " on " + Describe(attr), result.error);
}

}  // namespace

void SetOpenPolicy(OpenPolicy policy) { Policy() = std::move(policy); }

EventSpec Software(perf_sw_ids id) {
  EventSpec spec;
  spec.name = "software event " + std::to_string(id);
  spec.type = PERF_TYPE_SOFTWARE;
  spec.config = id;
  return spec;
}

EventSpec AsGeneric(const EventSpec& spec) {
  if (!spec.generic) throw Broken(spec.name + " has no generic event");
  EventSpec generic = spec;
  generic.type = PERF_TYPE_HARDWARE;
  generic.config = *spec.generic;
  generic.config1 = 0;
  generic.config2 = generic.config3 = generic.config4 = 0;
  return generic;
}

perf_event_attr MakeAttr(const EventSpec& spec, const OpenOptions& options) {
  perf_event_attr attr = {};
  attr.size = PERF_ATTR_SIZE_VER7;
  attr.type = spec.type;
  attr.config = spec.config;
  attr.config1 = spec.config1;
  attr.config2 = spec.config2;
  attr.config3 = spec.config3;
  attr.config4 = spec.config4;
  if (spec.config3 != 0) attr.size = PERF_ATTR_SIZE_VER8;
  if (spec.config4 != 0) attr.size = PERF_ATTR_SIZE_VER9;
  attr.bp_type = spec.bp_type;
  attr.sample_period = options.sample_period;
  if (options.sample_freq != 0) {
    attr.freq = 1;
    attr.sample_freq = options.sample_freq;
  }
  attr.sample_type = options.sample_type;
  attr.read_format = options.read_format;
  attr.wakeup_events = options.wakeup_events;
  if (options.wakeup_watermark != 0) {
    attr.watermark = 1;
    attr.wakeup_watermark = options.wakeup_watermark;
  }
  attr.disabled = options.disabled;
  attr.inherit = options.inherit;
  attr.pinned = options.pinned;
  attr.exclusive = options.exclusive;
  attr.exclude_user = options.exclude_user;
  attr.exclude_kernel = options.exclude_kernel;
  attr.exclude_hv = options.exclude_hv;
  attr.exclude_idle = options.exclude_idle;
  attr.enable_on_exec = options.enable_on_exec;
  attr.sample_id_all = options.sample_id_all;
  attr.sigtrap = options.sigtrap;
  attr.remove_on_exec = options.sigtrap;
  attr.sig_data = options.sig_data;
  attr.write_backward = options.write_backward;
  // The default task works in user mode, and the kernel starts and stops it.
  const bool works = spec.stimulus == StimulusKind::kWork && DefaultTask().has_value();
  if (works && !options.exclude_user) attr.exclude_kernel = 1;
  if (options.edit) options.edit(attr);
  return attr;
}

std::string Describe(const perf_event_attr& attr) {
  std::ostringstream os;
  os << std::hex << "type=" << std::dec << attr.type << std::hex << " config=0x" << attr.config;
  const auto hex = [&](const char* name, std::uint64_t value) {
    if (value != 0) os << " " << name << "=0x" << std::hex << value;
  };
  const auto dec = [&](const char* name, std::uint64_t value) {
    if (value != 0) os << " " << name << "=" << std::dec << value;
  };
  const auto bits = [&](const char* name, std::uint64_t value, std::span<const char* const> names) {
    if (value != 0) os << " " << name << "=" << Names(value, names);
  };
  dec(attr.freq ? "sample_freq" : "sample_period", attr.sample_period);
  bits("sample_type", attr.sample_type, kSampleNames);
  bits("read_format", attr.read_format, kReadNames);
  hex("config1", attr.config1);
  hex("config2", attr.config2);
  hex("config3", attr.config3);
  hex("config4", attr.config4);
  hex("bp_type", attr.bp_type);
  dec(attr.watermark ? "wakeup_watermark" : "wakeup_events", attr.wakeup_events);
  bits("branch_sample_type", attr.branch_sample_type, kBranchNames);
  hex("sample_regs_user", attr.sample_regs_user);
  hex("sample_regs_intr", attr.sample_regs_intr);
  dec("sample_stack_user", attr.sample_stack_user);
  dec("aux_watermark", attr.aux_watermark);
  dec("aux_sample_size", attr.aux_sample_size);
  dec("sample_max_stack", attr.sample_max_stack);
  dec("precise_ip", attr.precise_ip);
  dec("clockid", static_cast<std::uint32_t>(attr.clockid));
  hex("sig_data", attr.sig_data);
#define PMUCONF_FLAG(field) \
  if (attr.field) os << " " #field
  PMUCONF_FLAG(disabled);
  PMUCONF_FLAG(inherit);
  PMUCONF_FLAG(pinned);
  PMUCONF_FLAG(exclusive);
  PMUCONF_FLAG(exclude_user);
  PMUCONF_FLAG(exclude_kernel);
  PMUCONF_FLAG(exclude_hv);
  PMUCONF_FLAG(exclude_idle);
  PMUCONF_FLAG(exclude_host);
  PMUCONF_FLAG(exclude_guest);
  PMUCONF_FLAG(exclude_callchain_kernel);
  PMUCONF_FLAG(exclude_callchain_user);
  PMUCONF_FLAG(mmap);
  PMUCONF_FLAG(mmap_data);
  PMUCONF_FLAG(mmap2);
  PMUCONF_FLAG(comm);
  PMUCONF_FLAG(comm_exec);
  PMUCONF_FLAG(task);
  PMUCONF_FLAG(inherit_stat);
  PMUCONF_FLAG(inherit_thread);
  PMUCONF_FLAG(enable_on_exec);
  PMUCONF_FLAG(remove_on_exec);
  PMUCONF_FLAG(sample_id_all);
  PMUCONF_FLAG(use_clockid);
  PMUCONF_FLAG(context_switch);
  PMUCONF_FLAG(write_backward);
  PMUCONF_FLAG(namespaces);
  PMUCONF_FLAG(ksymbol);
  PMUCONF_FLAG(bpf_event);
  PMUCONF_FLAG(aux_output);
  PMUCONF_FLAG(cgroup);
  PMUCONF_FLAG(text_poke);
  PMUCONF_FLAG(build_id);
  PMUCONF_FLAG(sigtrap);
#undef PMUCONF_FLAG
  return os.str();
}

void Event::Enable() const { ThrowUnlessOk(TryIoctl(PERF_EVENT_IOC_ENABLE), "ENABLE", attr_); }
void Event::Disable() const { ThrowUnlessOk(TryIoctl(PERF_EVENT_IOC_DISABLE), "DISABLE", attr_); }
void Event::Reset() const { ThrowUnlessOk(TryIoctl(PERF_EVENT_IOC_RESET), "RESET", attr_); }
void Event::EnableGroup() const {
  ThrowUnlessOk(TryIoctl(PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), "ENABLE group", attr_);
}
void Event::DisableGroup() const {
  ThrowUnlessOk(TryIoctl(PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), "DISABLE group", attr_);
}
void Event::ResetGroup() const {
  ThrowUnlessOk(TryIoctl(PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP), "RESET group", attr_);
}
void Event::Refresh(int n) const { ThrowUnlessOk(TryRefresh(n), "REFRESH", attr_); }
void Event::Period(std::uint64_t period) const {
  SkipIfTooShort(period);
  ThrowUnlessOk(TryPeriod(period), "PERIOD", attr_);
}

std::uint64_t Event::Id() const {
  std::uint64_t id = 0;
  ThrowUnlessOk(TryIoctl(PERF_EVENT_IOC_ID, reinterpret_cast<unsigned long>(&id)), "ID", attr_);
  return id;
}

void Event::SetOutput(const Event& to) const {
  ThrowUnlessOk(TryIoctl(PERF_EVENT_IOC_SET_OUTPUT, static_cast<unsigned long>(to.fd())),
                "SET_OUTPUT", attr_);
}
void Event::PauseOutput(bool pause) const {
  ThrowUnlessOk(TryIoctl(PERF_EVENT_IOC_PAUSE_OUTPUT, pause ? 1 : 0), "PAUSE_OUTPUT", attr_);
}
void Event::SetBpf(int program_fd) const {
  ThrowUnlessOk(TryIoctl(PERF_EVENT_IOC_SET_BPF, static_cast<unsigned long>(program_fd)), "SET_BPF",
                attr_);
}

Reading Event::Read() const {
  std::vector<std::byte> bytes;
  ThrowUnlessOk(TryRead(kReadBuffer, &bytes), "read", attr_);
  const auto reading = ParseReading(bytes, attr_.read_format);
  if (!reading) {
    throw Broken("read on " + Describe(attr_) + ": " + std::to_string(bytes.size()) +
                 " bytes are no reading (0 bytes: the event is in error state)");
  }
  NoteCount(attr_.type, reading->value);
  return *reading;
}

GroupReading Event::ReadGroup() const {
  std::vector<std::byte> bytes;
  ThrowUnlessOk(TryRead(kReadBuffer, &bytes), "read", attr_);
  auto reading = ParseGroupReading(bytes, attr_.read_format);
  if (!reading) {
    throw Broken("read on " + Describe(attr_) + ": " + std::to_string(bytes.size()) +
                 " bytes are no group reading (0 bytes: the event is in error state)");
  }
  if (!reading->entries.empty()) NoteCount(attr_.type, reading->entries.front().value);
  return *std::move(reading);
}

void Event::Close() { fd_.Reset(); }

SysResult Event::TryIoctl(unsigned long request, unsigned long arg) const {
  const int value = ioctl(fd_.get(), request, arg);
  return value < 0 ? SysResult{-1, errno} : SysResult{value, 0};
}
SysResult Event::TryEnable(unsigned long flags) const {
  return TryIoctl(PERF_EVENT_IOC_ENABLE, flags);
}
SysResult Event::TryRefresh(int n) const {
  return TryIoctl(PERF_EVENT_IOC_REFRESH, static_cast<unsigned long>(n));
}
SysResult Event::TryPeriod(std::uint64_t period) const {
  return TryIoctl(PERF_EVENT_IOC_PERIOD, reinterpret_cast<unsigned long>(&period));
}
SysResult Event::TryRead(std::size_t size, std::vector<std::byte>* bytes) const {
  NoteUsed(fd_.get());
  std::vector<std::byte> buffer(size);
  const ssize_t n = read(fd_.get(), buffer.data(), size);
  const int error = n < 0 ? errno : 0;
  buffer.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
  if (bytes != nullptr) *bytes = std::move(buffer);
  return {n, error};
}

SysResult TryOpenRaw(const void* attr, pid_t pid, int cpu, int group_fd, unsigned long flags) {
  const long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
  if (fd < 0) return SysResult{-1, errno};
  NoteOpened(static_cast<int>(fd), pid == -1 ? cpu : -1);
  return SysResult{fd, 0};
}

OpenResult TryOpen(const perf_event_attr& attr, pid_t pid, int cpu, int group_fd,
                   unsigned long flags) {
  Place(attr, &pid, &cpu);
  RecordOpen(Opened(attr, pid, cpu, group_fd, flags));
  perf_event_attr copy = attr;  // with E2BIG the kernel writes its own size to the attr
  const SysResult result = TryOpenRaw(&copy, pid, cpu, group_fd, flags);
  context().opened.back() += result.ok() ? ": open" : ": " + ErrnoName(result.error);
  if (result.error == EPERM || result.error == EACCES) context().denied = true;
  if (!result.ok()) return {Event(), result.error};
  return {Event(Fd(static_cast<int>(result.value)), attr), 0};
}

OpenResult TryOpen(const EventSpec& spec, const OpenOptions& options) {
  return TryOpen(MakeAttr(spec, options), options.pid, options.cpu, options.group_fd,
                 options.flags);
}

namespace {

// Some drivers refuse each event that would count from its open. Control.EnabledEventCountsFromOpen
// judges that, so no other case fails for it.
void SkipIfOpensAreDisabled(perf_event_attr attr, pid_t pid, int cpu) {
  if (attr.disabled != 0) return;
  attr.disabled = 1;
  if (TryOpen(attr, pid, cpu).ok()) SkipUnclaimed("needs events that count from their open");
}

}  // namespace

Event Open(const perf_event_attr& attr, pid_t pid, int cpu, int group_fd, unsigned long flags) {
  OpenResult result = TryOpen(attr, pid, cpu, group_fd, flags);
  if (result.error == EINVAL && group_fd < 0) SkipIfOpensAreDisabled(attr, pid, cpu);
  if (result.error == ENOSPC && attr.type == PERF_TYPE_BREAKPOINT) SkipIfAllAreUsed();
  if (!result.ok()) {
    throw BrokenErrno("perf_event_open(" + Opened(attr, pid, cpu, group_fd, flags) + ")",
                      result.error);
  }
  return std::move(result.event);
}

Event Open(const EventSpec& spec, const OpenOptions& options) {
  SkipIfTooShort(options.sample_period);
  return Open(MakeAttr(spec, options), options.pid, options.cpu, options.group_fd, options.flags);
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// The PMU under test: the claims of its target file, and its events as sysfs of this machine
// resolves them.
#ifndef PMUCONF_TARGET_TARGET_H_
#define PMUCONF_TARGET_TARGET_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "perf/event.h"
#include "stimulus/stimulus.h"
#include "system/broken.h"

namespace pmuconf {

// Capabilities that a target or a machine may lack. `applies` of a rule uses the name before the
// colon.
enum class Cap {
  kStimulus,       // stimulus: the suite can make events happen, a known number of times
  kPort,           // port: a stimulus port controls time, place, frequency and address of events
  kRegisters,      // registers: the port also shows registers, and the calls of the driver
  kSampling,       // sampling: overflow interrupts
  kFrequency,      // frequency: sampling by frequency
  kManualClock,    // manual_clock: a manual clock drives some events
  kCounters,       // counters: hardware counters of known number and width
  kSeveralEvents,  // several_events: three events that happen independently of each other
  kQuietFork,      // quiet_fork: neither a fork nor a new thread makes any of them happen
  kAnyTask,        // any_task: every task can make the events happen, in itself
  kCpuScope,       // cpu_scope: a CPU-wide event counts only the events that the case makes happen
  kSoftware,       // software: the kernel's software events
  kTracepoint,     // tracepoint: events are tracepoints
  kFixedCounters,  // fixed_counters: at least one fixed counter
  kMultiplexing,  // multiplexing: events take turns if they outnumber the counters, whose number is
                  // known
  kConstraints,   // constraints: some general counter cannot count some event
  kGenericEvents,  // generic_events: PERF_TYPE_HARDWARE selects some events too
  kExcludes,       // excludes: counts can be limited to user or kernel mode
  kBpf,            // bpf: BPF programs on overflow
  kCpus2,          // cpus2: two CPUs with the PMU are online
  kSomeCpus,       // some_cpus: CPUs without the PMU are online
  kHotplug,        // hotplug: the second of the PMU's CPUs can be taken offline
  kGroups,         // groups: two or more events count at the same time
  kCounters3,      // counters3: any three events count at the same time
  kPrecise,        // precise: samples of the exact place of an event (precise_ip)
  kBranches,       // branches: samples with a branch stack
  kTasks,          // tasks: every CPU has its own counters, so events can follow a task
  // system_wide: the machine, or each package and so on, has the PMU once, its events on one CPU
  kSystemWide,
  kPolled,       // polled: a timer of the driver reads the counters before they wrap
  kOwnCounters,  // own_counters: each event of a group takes a counter, also two of the same event
  kCounting,     // counting: its events count; cases without the need `trace` require it
  kTrace,        // trace: its events write to an AUX area
  kTraceExcludes,  // trace_excludes: a trace can be limited to user or kernel mode
  kTracePause,     // trace_pause: other events can pause and resume a trace
  kCacheEvents,    // cache_events: PERF_TYPE_HW_CACHE selects some events
  kFilters,        // filters: formats edge, inv and cmask count cycles with a condition, as on x86
  kOffCore,        // off_core: events that filter requests and responses, and share registers
  kLoadLatency,    // load_latency: events that filter loads by latency
  kWide,           // wide: events that use two counters
  kLog,            // log: the port logs callbacks, raises interrupts and holds the interrupt line
  kUserReads,      // user_reads: user space reads the counters of its own events
  kBreakpoints,    // breakpoints: the kernel and the processor have breakpoints
  kLongPeriods,    // long_periods: a period can exceed the range of a counter (60 bits)
  kCompat,         // compat: the kernel supports 32-bit programs on a 64-bit machine
  kAddresses,      // addresses: samples report data addresses, also of events that are not precise
  kSingleEvents,   // single_events: a period, or its remainder, can be a single event
  kUnwind,         // unwind: the kernel unwinds a task that returns to user space
};
std::string_view ToString(Cap cap);  // "manual_clock"
// Returns when a target has a capability, as in "its kind is core"; "" if there is no such one.
std::string_view ConditionOf(std::string_view name);
std::optional<Cap> CapFromString(std::string_view name);
const std::vector<Cap>& AllCaps();

// An invalid file of the project. The message is one line with file, line and key.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// No PMU matches the target file or --pmu.
class NoSuchPmu : public Broken {
 public:
  using Broken::Broken;
};

// Returns the type of the PMU with that name in sysfs. Otherwise throws ConfigError with a list of
// all PMUs.
std::uint32_t TypeOfPmu(const std::string& name);

// An event as the target file claims it. EventSpec is the resolved form.
struct EventClaim {
  std::string name;
  StimulusKind stimulus = StimulusKind::kNone;
  std::optional<std::uint64_t> code;     // if absent, the terms state it
  std::string terms;                     // that replace or follow those of sysfs: "port=0xffff"
  std::optional<std::uint16_t> syscall;  // number of the system call that generates it
  // Number of the variable (kStores) or function (uprobe) of this program that it watches.
  std::optional<std::uint16_t> watched;
  std::uint32_t ticks = 0;
  WorkKind work = WorkKind::kInstructions;
  std::uint32_t work_extra = 0;
  std::uint32_t work_interrupts = 0;
  std::uint32_t latency = 0;  // latency to `wide`: as in EventSpec
  std::uint64_t response = 0;
  std::uint64_t counters = 0;
  bool wide = false;
  std::optional<std::uint64_t> generic;
  Accuracy accuracy;
  std::optional<std::uint64_t> software;  // PERF_COUNT_SW_*
};

// A PERF_TYPE_HW_CACHE event that the target file claims. The PMU does not support the other ones.
struct CacheClaim {
  std::string name;          // "LL read miss"
  std::uint64_t config = 0;  // attr.config
  std::uint64_t code = 0;
  std::uint64_t response = 0;
  std::uint64_t counters = 0;
  Accuracy accuracy;
};

// The virtual machine that a target file asks for: its table [vm]. Empty values select the defaults
// of the VM runner.
struct MachineClaim {
  std::string arch, kernel, accel, cpu;
  std::string cmdline;     // additional parameters of the kernel
  std::string parameters;  // parameters of the module
  unsigned cpus = 2;
  unsigned memory_mb = 512;
  unsigned icount = 0;  // an instruction takes 2^icount ns; 0: time is independent of instructions
  std::vector<std::string> work;     // executed work that the emulator counts for the guest
  std::vector<std::string> devices;  // modelled PMUs that the emulator adds
  std::vector<std::string> drivers;  // drivers of the kernel itself, the one of the PMU last
};

// The properties of events that a case asks for.
struct EventFilter {
  std::optional<StimulusKind> stimulus = {};
  bool wide = false;         // also events that use two counters
  bool any_general = false;  // only events that every general counter can count
  bool constrained = false;  // only events that some general counter cannot count
  bool fixed = false;        // only events that a fixed counter can also count
  bool generic = false;      // only events that PERF_TYPE_HARDWARE also selects
  // Also events that are not exact, have no stimulus, or whose stimulus migrates the thread.
  bool inexact = false;
};

// A target file: its path and its content.
struct TargetText {
  std::string path;
  std::string text;
};
// Finds the file that another one names as its `base`. Returns nullopt if there is none.
using FindBase =
    std::function<std::optional<TargetText>(const std::string& name, const std::string& path)>;
// Looks in the directory of the file that names the base.
std::optional<TargetText> FindInSameFolder(const std::string& name, const std::string& path);

class Target {
 public:
  // Reads a target file. Throws ConfigError (file, line, key). Opens no event and needs no PMU.
  static Target Load(const std::string& path, const FindBase& find_base = FindInSameFolder);
  static Target Parse(std::string_view text, const std::string& path,
                      const FindBase& find_base = FindInSameFolder);

  const std::string& name() const { return name_; }
  const std::string& match() const { return match_; }
  const std::string& kind() const { return kind_; }
  const std::string& kernel() const { return kernel_; }
  // The series whose rules judge newer kernels; "" for the newest that the catalogue describes.
  const std::string& rules_of() const { return rules_of_; }
  const std::string& path() const { return path_; }
  const std::string& module() const { return module_; }  // "" if the kernel itself provides the PMU
  const MachineClaim& machine() const { return machine_; }
  // The number of general counters; 0 if counters do not limit events.
  unsigned general() const { return general_; }
  unsigned fixed() const { return fixed_; }  // number of fixed counters
  unsigned width() const { return width_; }  // width of a general counter in bits
  // The width in bits of the counters that can count `spec`.
  unsigned width(const EventSpec& spec) const;
  std::uint64_t counter_mask() const;  // 2^width - 1
  std::uint64_t counter_mask(const EventSpec& spec) const;
  const std::string& filter() const { return filter_; }  // terms that each event needs
  std::uint64_t min_period() const { return min_period_; }
  unsigned precise() const { return precise_; }           // highest supported precise_ip
  unsigned branches() const { return branches_; }         // maximum length of a branch stack
  const std::string& port_path() const { return port_; }  // "" for none
  double slowness() const { return slowness_; }           // factor for the budget of every case
  const std::vector<EventClaim>& claims() const { return claims_; }
  // Formats of which an event uses at most one, so their fields may overlap.
  const std::vector<std::string>& exclusive_formats() const { return exclusive_formats_; }
  // The errno that this target file states where a rule allows several ("sampling" → EOPNOTSUPP).
  std::optional<int> refusal(const std::string& what) const;

  bool Claims(Cap cap) const;  // by the file alone; assumes that the machine supports it
  bool Has(Cap cap) const;     // also checks this machine, for kBpf, CPUs and kernel features
  bool HasWork() const;        // a worker makes some events happen (StimulusKind::kWork)

  // Finds the PMU in sysfs. Throws Broken if none matches. `pmu` overrides match().
  void Resolve(const std::string& pmu = {});
  bool resolved() const { return !device_.empty(); }
  const std::string& device() const { return device_; }  // "refpmu"
  std::uint32_t type() const { return type_; }           // attr.type
  // Returns the online CPUs that have the PMU: those in its sysfs file `cpus`, or all if it has no
  // such file. The designated CPU is the first. Throws Broken if there is no such PMU.
  std::vector<int> Cpus() const;
  int Cpu(std::size_t i) const;  // the i-th of Cpus(); throws Broken if there are fewer
  // Returns the CPU in the cpumask of a system-wide PMU, where the kernel puts its events.
  int DesignatedCpu() const;

  // Returns the trace event of a PMU that has an AUX area.
  EventSpec Trace() const;
  // The size in bytes of a record in the AUX area.
  std::size_t trace_record() const { return trace_record_; }

  // Resolved events. An unknown name, or a wish that no event meets, ends the case as BROKEN.
  EventSpec Event(std::string_view name) const;
  // Returns the event with that name in events/, also if the file does not claim it. Nothing is
  // known that generates it.
  EventSpec EventInSysfs(const std::string& name) const;
  std::vector<EventSpec> Events(const EventFilter& filter = {}) const;  // in the order of the file
  std::vector<EventSpec> CacheEvents() const;
  // Returns the event codes of all events and cache events of the target file.
  std::vector<std::uint64_t> Codes() const;
  // Returns the first pulse event that any general counter counts, for cases where the choice does
  // not matter. Without a port it returns the first exact event that has a stimulus, or else the
  // first event.
  EventSpec AnyEvent() const;
  // Returns `n` events that any general counter counts and that happen independently of each other.
  // They are all different if the target has enough events.
  std::vector<EventSpec> AnyEvents(std::size_t n) const;

  // Makes `spec` happen exactly `n` times: by pulses of the port, by n * ticks clock ticks, or by a
  // call of stimuli.h within the accuracy of the target file. Throws Broken unless it completes.
  // Only the port uses `options`.
  void Stimulate(const EventSpec& spec, std::uint64_t n, const PulseOptions& options = {}) const;

 private:
  EventSpec ResolveClaim(const EventClaim& claim) const;
  bool HasPage() const;                           // the port is the page of a device
  bool Unlimited() const;                         // counters do not limit the number of events
  bool CanHappen(const EventClaim& claim) const;  // a case can generate it, and knows its count
  std::size_t IndependentEvents() const;          // number of exact events with different stimuli

  std::string path_, name_, match_, kind_, kernel_, rules_of_, module_;
  MachineClaim machine_;
  unsigned general_ = 0, fixed_ = 0, width_ = 0, fixed_width_ = 0;
  bool sampling_ = false, frequency_ = false, excludes_ = false, filters_ = false;
  bool addresses_ = true;
  bool user_reads_ = false;
  bool polled_ = false, shared_counters_ = false, groups_ = true;
  bool trace_excludes_ = false, trace_pause_ = false;
  std::size_t trace_record_ = 0;
  unsigned precise_ = 0, branches_ = 0;
  std::uint64_t min_period_ = 1;
  double slowness_ = 1.0;
  std::string port_, filter_;
  std::map<std::string, int> refusals_;
  std::vector<EventClaim> claims_;
  std::vector<CacheClaim> cache_claims_;
  std::vector<std::string> exclusive_formats_;
  std::string device_;
  std::uint32_t type_ = 0;
  std::map<std::string, std::uint64_t> tracepoints_;  // ids of the claimed tracepoints
};

// Returns whether one stimulus makes both events happen.
bool ShareStimulus(const EventSpec& a, const EventSpec& b);

// Returns `options` with the latency and response that `spec` needs, unless `options` sets them.
PulseOptions WithRequirements(const EventSpec& spec, PulseOptions options);

// Returns the target of this process (see target_of_process.h). Throws Broken if it has none.
const Target& target();

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_TARGET_H_

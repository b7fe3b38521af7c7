// SPDX-License-Identifier: Apache-2.0
// The PMU under test: what its target file claims, and its events as this machine's sysfs has them.
#ifndef PMUCONF_TARGET_H_
#define PMUCONF_TARGET_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "pmuconf/event.h"
#include "pmuconf/stimulus.h"

namespace pmuconf {

// What a target (or the machine) may lack. In a rule's `applies`: the name in the comment.
enum class Cap {
  kStimulus,       // stimulus: events can be made to happen, a number of times that is known
  kPort,           // port: what makes them happen says when, where, how often, at which address
  kSampling,       // sampling: overflow interrupts
  kFrequency,      // frequency: sampling by frequency
  kManualClock,    // manual_clock: events that a manual clock drives
  kCounters,       // counters: what counts is hardware, whose number and width are known
  kSeveralEvents,  // several_events: three events that happen independently of each other
  kQuietFork,      // quiet_fork: neither a fork nor a new thread makes any of them happen
  kSoftware,       // software: the kernel's own events
  kTracepoint,     // tracepoint: events are places in the kernel's code
  kRegisters,      // registers: the port reads and writes device registers, injects, holds lines
  kFixedCounters,  // fixed_counters: at least one fixed counter
  kMultiplexing,   // multiplexing: more events than counters take turns (general counters known)
  kConstraints,    // constraints: some event cannot go on every general counter
  kGenericEvents,  // generic_events: some events answer to PERF_TYPE_HARDWARE too
  kExcludes,       // excludes: counts can be confined to user or to kernel
  kBpf,            // bpf: programs on overflow
  kCpus2,          // cpus2: two CPUs are online that the PMU has
  kSomeCpus,       // some_cpus: CPUs are online that the PMU has not
  kHotplug,        // hotplug: the second of the PMU's CPUs can be taken offline
  kGroups,         // groups: two events or more count together
  kCounters3,      // counters3: three events or more count together, whichever they are
  kPrecise,        // precise: samples of where an event happened (precise_ip)
  kBranches,       // branches: samples with the branches before them
  kTasks,          // tasks: events can follow a task
  kCpuLocal,       // cpu_local: every CPU has counters of its own
  kSystemWide,     // system_wide: the machine has the PMU once, its events are on one CPU
  kCounting,       // counting: its events count; a case that does not need `trace` needs this
  kTrace,          // trace: its events write an AUX area
  kTraceExcludes,  // trace_excludes: a trace can be confined to user or to kernel
  kTracePause,     // trace_pause: other events can pause a trace and resume it
  kCacheEvents,    // cache_events: some events answer to PERF_TYPE_HW_CACHE
  kFilters,        // filters: formats edge, inv and cmask make cycles out of events, as on x86
  kOffCore,        // off_core: events that look at requests and responses, and share registers
  kLoadLatency,    // load_latency: events that look at the latency of a load
  kWide,           // wide: events that take two counters
  kLog,            // log: the port has a log of callbacks, and raises and holds the interrupt line
  kUserReads,      // user_reads: user space reads the counters of its own events
  kUserTime,       // user_time: the kernel tells user space how to read its clock
  kFaultTrace,     // fault_trace: a tracepoint tells of page faults of the kernel's own
  kHugePages,      // huge_pages: the kernel makes huge pages of a process's memory
  kLongPeriods,    // long_periods: a period can last for several ranges of a counter (60 bits)
  kCompat,         // compat: the machine runs 32-bit programs beside 64-bit ones
  kAddresses,      // addresses: samples tell data addresses, of events that are not precise, too
  kSingleEvents,   // single_events: a period, or what is left of one, can be a single event
  kModule,         // module: the PMU comes with a module
  kVectors,        // vectors: perf knows registers of the processor beyond the general ones
  kExactIp,        // exact_ip: the kernel can say of a sample that its place is exact
  kTextPoke,       // text_poke: the kernel tells of changes to its text
  kWholeWords,     // whole_words: a breakpoint covers 1, 2, 4 or 8 bytes at a multiple of that
};
std::string_view ToString(Cap cap);  // "manual_clock"
std::optional<Cap> CapFromString(std::string_view name);
const std::vector<Cap>& AllCaps();

// A file of the project's that is wrong: one line naming file, line and key.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The type of a PMU of this machine, by its name in sysfs. ConfigError that names those there are.
std::uint32_t TypeOfPmu(const std::string& name);

// An event as the target file has it; EventSpec is the resolved form.
struct EventClaim {
  std::string name;
  StimulusKind stimulus = StimulusKind::kNone;
  std::optional<std::uint16_t> code;  // else found through sysfs
  std::uint32_t ticks = 0;
  std::uint32_t latency = 0;  // these four as in EventSpec
  std::uint64_t response = 0;
  std::uint64_t counters = 0;
  bool wide = false;
  std::optional<std::uint64_t> generic;
  Accuracy accuracy;
  std::optional<std::uint64_t> software;  // PERF_COUNT_SW_*
};

// An event of PERF_TYPE_HW_CACHE that the target file claims; the others of the table are holes.
struct CacheClaim {
  std::string name;          // "LL read miss"
  std::uint64_t config = 0;  // of the attr
  std::uint16_t code = 0;
  std::uint64_t response = 0;
  std::uint64_t counters = 0;
  Accuracy accuracy;
};

// What a case wants of an event.
struct EventWish {
  std::optional<StimulusKind> stimulus = {};
  bool wide = false;         // those that take two counters as well
  bool any_general = false;  // only events that every general counter can count
  bool constrained = false;  // only events that some general counter cannot count
  bool fixed = false;        // only events that a fixed counter can count too
  bool generic = false;      // only events that answer to PERF_TYPE_HARDWARE
  // Those as well that are not exact, that cannot be made to happen, or only by moving the thread.
  bool rough = false;
};

// A target file: where it is, and what stands in it.
struct TargetText {
  std::string path;
  std::string text;
};
// How the file that another one names as its `base` is found; nullopt: there is none.
using FindBase =
    std::function<std::optional<TargetText>(const std::string& name, const std::string& path)>;
// In the folder of the file that names it.
std::optional<TargetText> FindBeside(const std::string& name, const std::string& path);

class Target {
 public:
  // Reads a target file; throws ConfigError (file, line, key). Opens no event, needs no PMU.
  static Target Load(const std::string& path, const FindBase& find_base = FindBeside);
  static Target Parse(std::string_view text, const std::string& path,
                      const FindBase& find_base = FindBeside);

  const std::string& name() const { return name_; }
  const std::string& match() const { return match_; }
  const std::string& kind() const { return kind_; }
  const std::string& kernel() const { return kernel_; }
  const std::string& path() const { return path_; }
  const std::string& module() const { return module_; }  // "" where the kernel has the PMU
  unsigned general() const { return general_; }          // counters; 0 where nothing limits them
  unsigned fixed() const { return fixed_; }              // counters
  unsigned width() const { return width_; }              // bits of a counter
  std::uint64_t counter_mask() const;                    // 2^width - 1
  std::uint64_t min_period() const { return min_period_; }
  unsigned precise() const { return precise_; }           // highest precise_ip
  unsigned branches() const { return branches_; }         // branches in a sample, at most
  const std::string& port_path() const { return port_; }  // "" for none
  double slowness() const { return slowness_; }           // factor on every case's budget
  const std::vector<EventClaim>& claims() const { return claims_; }
  // Formats of which an event has one at most, so that their fields may overlap.
  const std::vector<std::string>& exclusive_formats() const { return exclusive_formats_; }
  // The errno this target chose where a rule allows several ("sampling" → EOPNOTSUPP).
  std::optional<int> refusal(const std::string& what) const;

  bool Claims(Cap cap) const;  // by the file alone; what only a machine can tell counts as there
  bool Has(Cap cap) const;     // by the file and, for kBpf and what is of CPUs, by this machine

  // Finds the PMU in sysfs. Throws Broken if there is none that matches. `pmu` overrides match.
  void Resolve(const std::string& pmu = {});
  bool resolved() const { return !device_.empty(); }
  const std::string& device() const { return device_; }  // "refpmu"
  std::uint32_t type() const { return type_; }           // attr.type
  // The CPUs online that the PMU has: all, unless its file `cpus` names some. Throws Broken if
  // there is no such PMU.
  std::vector<int> Cpus() const;
  int Cpu(std::size_t i) const;  // of those the i-th; throws Broken where they are fewer
  // The CPU that a PMU of the whole machine shows in its cpumask: where its events belong.
  int DesignatedCpu() const;

  // The trace, of a PMU that has an AUX area: how to open it.
  EventSpec Trace() const;
  std::size_t trace_record() const { return trace_record_; }  // bytes of one, in the AUX area

  // Events, resolved. An unknown name, or a wish that nothing grants, ends the case as BROKEN.
  EventSpec Event(std::string_view name) const;
  std::vector<EventSpec> Events(const EventWish& wish = {}) const;  // in the file's order
  std::vector<EventSpec> CacheEvents() const;
  // Event codes that the target file names, by events and cache events.
  std::vector<std::uint16_t> Codes() const;
  // The first pulse event that any general counter counts: the one to use if it does not matter.
  // Without a port, the first event that can be made to happen exactly; or just the first.
  EventSpec AnyEvent() const;
  // `n` specs that any general counter takes, all different while the target has so many, and
  // which happen independently of each other.
  std::vector<EventSpec> AnyEvents(std::size_t n) const;

  // Makes `spec` happen exactly n times here and now (port pulse, n * ticks clock ticks, or what
  // stimuli.h has, as exactly as the target file says). Asserts that it went to the end. Only the
  // port takes options.
  void Stimulate(const EventSpec& spec, std::uint64_t n, const PulseOptions& options = {}) const;

 private:
  EventSpec ResolveClaim(const EventClaim& claim) const;
  bool Unlimited() const;                 // as many events as you like count together
  std::size_t IndependentEvents() const;  // that can be made to happen exactly

  std::string path_, name_, match_, kind_, kernel_, module_;
  unsigned general_ = 0, fixed_ = 0, width_ = 0;
  bool sampling_ = false, frequency_ = false, excludes_ = false, filters_ = false;
  bool addresses_ = true;
  bool user_reads_ = false;
  bool trace_excludes_ = false, trace_pause_ = false;
  std::size_t trace_record_ = 0;
  unsigned precise_ = 0, branches_ = 0;
  std::uint64_t min_period_ = 1;
  double slowness_ = 1.0;
  std::string port_;
  std::map<std::string, int> refusals_;
  std::vector<EventClaim> claims_;
  std::vector<CacheClaim> cache_claims_;
  std::vector<std::string> exclusive_formats_;
  std::string device_;
  std::uint32_t type_ = 0;
  std::map<std::string, std::uint64_t> tracepoints_;  // ids of the claimed ones
};

// Whether what makes one of them happen is what makes the other happen.
bool HappenTogether(const EventSpec& a, const EventSpec& b);

// `options` with what it takes for `spec` to happen, where they say nothing of it.
PulseOptions Meeting(const EventSpec& spec, PulseOptions options);

// Of the tracepoint behind Cap::kFaultTrace: the file with what attr.config must be.
inline constexpr const char* kFaultTracepoint =
    "/sys/kernel/tracing/events/exceptions/page_fault_kernel/id";

// The target of this process.
const Target& target();

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_H_

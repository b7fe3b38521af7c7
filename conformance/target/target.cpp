// SPDX-License-Identifier: Apache-2.0
// The capabilities of a target, and its events as sysfs resolves them.
#include "target/target.h"

#include <fnmatch.h>
#include <linux/hw_breakpoint.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <set>

#include "arch/arch.h"
#include "perf/compat_call.h"
#include "perf/event.h"
#include "stimulus/stimuli.h"
#include "stimulus/work/work.h"
#include "system/broken.h"
#include "system/context.h"
#include "system/cpu.h"
#include "system/hypervisor.h"
#include "system/interrupts.h"
#include "system/kernel_feature.h"
#include "system/sysfs.h"
#include "system/tracefs.h"
#include "target/target_claims.h"
#include "target/target_port.h"

namespace pmuconf {
namespace {

// Returns the first PMU whose name matches.
std::string Find(const std::string& pattern) {
  for (const std::string& device : ListFolder(kEventSource)) {
    if (fnmatch(pattern.c_str(), device.c_str(), 0) == 0) return device;
  }
  throw NoSuchPmu("no PMU matches '" + pattern + "' in " + kEventSource + HypervisorHint(pattern));
}

// Returns the entry of a system call without arguments in the kernel.
const std::string& EntryOf(const std::string& call) {
  static std::map<std::string, std::string> known;
  std::string& entry = known[call];
  if (entry.empty()) entry = std::string(processor::kSyscallPrefix) + "sys_" + call;
  return entry;
}

// Completes an event whose attr names the object that it watches. The kernel copies the strings
// when the event opens. `name`: of the system call, for a kprobe.
void Watch(const std::string& kind, const std::string& name, EventSpec* spec) {
  if (kind == "breakpoint") {
    spec->bp_type = HW_BREAKPOINT_W;
    spec->config1 = reinterpret_cast<std::uint64_t>(AddressOfVariable(spec->code));
    spec->config2 = HW_BREAKPOINT_LEN_8;
  } else if (kind == "kprobe") {
    spec->config1 = reinterpret_cast<std::uint64_t>(EntryOf(name).c_str());
  } else {
    static const char kProgram[] = "/proc/self/exe";
    spec->config1 = reinterpret_cast<std::uint64_t>(kProgram);
    spec->config2 = OffsetOfFunction(spec->code);
  }
}

// A breakpoint on the first variable.
EventSpec StoresToVariable() {
  EventSpec spec;
  spec.type = PERF_TYPE_BREAKPOINT;
  Watch("breakpoint", "", &spec);
  return spec;
}

// Stores once to a variable that `n` breakpoints watch, and returns how often they counted.
// Some hypervisors hide the debug registers of the processor: they accept writes, and no exception
// ever comes. QEMU's emulator reports only one of several breakpoints at an address.
std::uint64_t CountOneStore(std::size_t n) {
  const EventSpec spec = StoresToVariable();
  std::vector<Event> events;
  for (std::size_t i = 0; i < n; ++i) {
    OpenResult opened = TryOpen(spec, {.disabled = false, .exclude_kernel = true});
    if (opened.ok()) events.push_back(std::move(opened.event));
  }
  StoreTo(spec.code, 1);
  std::uint64_t sum = 0;
  for (const Event& event : events) sum += event.Read().value;
  return sum;
}

// A kernel has the PMU also on a processor that has no breakpoints, or that cannot use them:
// POWER9. It refuses each event with ENODEV there. On real hardware, and in an emulator that has
// debug registers, a breakpoint that never counts is a bug.
bool HasBreakpoints() {
  if (access((std::string(kEventSource) + "/breakpoint").c_str(), F_OK) != 0) return false;
  const int error = TryOpen(StoresToVariable(), {.exclude_kernel = true}).error;
  if (error == ENODEV) return false;
  return error != 0 || !IsVirtual() || processor::EmulatesDebugRegisters() || CountOneStore(1) == 1;
}

// Returns the event code of the port. On x86 the terms event and umask are the code, and filters of
// the count follow them. Other PMUs have other terms, and codes of more bits. Without a term in
// config, the code is in the first word that has a term.
std::uint64_t CodeOf(const Terms& terms, const std::map<std::string, FormatField>& formats,
                     const EventSpec& spec) {
  static const std::set<std::string> kFilters = {"edge", "inv", "cmask", "any", "in_tx"};
  std::uint64_t code = 0;
  for (const auto& [name, value] : terms) {
    const auto format = formats.find(name);
    if (kFilters.contains(name) || (format != formats.end() && format->second.config != 0))
      continue;
    const bool x86 = (name == "event" || name == "umask") && value <= 0xff;
    if (!x86) return spec.config;
    code |= name == "event" ? value : value << 8;
  }
  if (spec.config != 0) return code;
  for (const std::uint64_t word : {spec.config1, spec.config2, spec.config3, spec.config4}) {
    if (word != 0) return word;
  }
  return code;
}

// Appends the terms in `text` to `terms`, or replaces terms of the same name, as the perf tool does
// for event/term=value/. Readers of target files have parsed `text`.
void Override(std::string_view text, Terms* terms) {
  if (text.empty()) return;
  const Terms changes = ParseTerms(text).value_or(Terms());
  for (const auto& [name, value] : changes) {
    const auto same = std::ranges::find(*terms, name, &Terms::value_type::first);
    if (same == terms->end()) {
      terms->emplace_back(name, value);
    } else {
      same->second = value;
    }
  }
}

// Makes the worker of this process cause `n` events.
void Work(const EventSpec& spec, std::uint64_t n) {
  Worker* const worker = StartedWorker();
  if (worker == nullptr) throw Broken("this process has no worker");
  if (n != 0 && n <= spec.work_extra) {
    SkipUnclaimed("needs " + std::to_string(n) +
                  " events at once; the fewest that the work makes are " +
                  std::to_string(spec.work_extra + 1));
  }
  if (spec.work_interrupts == 0) return worker->Run(spec.work, n, spec.work_extra);
  const std::uint64_t before = InterruptsOf(EventCpu());
  worker->Run(spec.work, n, spec.work_extra);
  context().interrupts += InterruptsOf(EventCpu()) - before;
}

}  // namespace

bool Target::Has(Cap cap) const {
  if (!Claims(cap)) return false;
  switch (cap) {
    case Cap::kStimulus:
      return kind_ != "breakpoint" || CountOneStore(2) == 2;
    case Cap::kBpf:
      return KernelHas(Feature::kBpfCall) && KernelHas(Feature::kBpfEvents);
    case Cap::kCompat:
      return HasCompatCalls();
    case Cap::kUnwind:
      return processor::kUnwindsUserSpace;
    case Cap::kBreakpoints:
      return HasBreakpoints();
    case Cap::kCpus2:
      return Cpus().size() >= 2;
    // The case itself needs another CPU than the one where only the worker may run.
    case Cap::kCpuScope:
      return !HasWork() || OnlineCpus().size() >= 2;
    case Cap::kSomeCpus:
      return Cpus().size() < OnlineCpus().size();
    case Cap::kHotplug: {
      const std::vector<int> cpus = Cpus();
      if (cpus.size() < 2) return false;
      return CanLeave(std::max(cpus[0], cpus[1]));
    }
    default:
      return true;
  }
}

std::uint32_t TypeOfPmu(const std::string& name) {
  const auto type = ReadFile(std::string(kEventSource) + "/" + name + "/type");
  if (!name.empty() && type && !type->empty()) {
    return static_cast<std::uint32_t>(std::strtoul(type->c_str(), nullptr, 10));
  }
  std::string known;
  for (const std::string& there : ListFolder(kEventSource)) known += " " + there;
  throw ConfigError("no PMU '" + name + "' in " + kEventSource +
                    " (PMUs:" + (known.empty() ? " none" : known) + ")" + HypervisorHint(name));
}

void Target::Resolve(const std::string& pmu) {
  const std::string device = Find(pmu.empty() ? match_ : pmu);
  const std::string path = std::string(kEventSource) + "/" + device + "/type";
  const auto type = ReadFile(path);
  if (!type || type->empty() || type->find_first_not_of("0123456789") != std::string::npos) {
    throw Broken(path + " is not a number");
  }
  type_ = static_cast<std::uint32_t>(std::stoul(*type));
  device_ = device;
  if (kind_ != "tracepoint") return;
  const TraceFs tracing;
  for (const EventClaim& claim : claims_) {
    if (!claim.code) tracepoints_[claim.name] = tracing.Id(claim.name);
  }
}

std::vector<int> Target::Cpus() const {
  const std::string device = resolved() ? device_ : Find(match_);
  std::vector<int> online = OnlineCpus();
  const auto text = ReadFile(std::string(kEventSource) + "/" + device + "/cpus");
  const auto listed = text ? ParseCpuList(*text) : std::nullopt;
  if (!listed) {
    // Events of the whole machine are on the designated CPU. Cases run on the first one, too.
    if (Claims(Cap::kSystemWide)) {
      const auto mask = ReadFile(std::string(kEventSource) + "/" + device + "/cpumask");
      const auto designated = mask ? ParseCpuList(*mask) : std::nullopt;
      std::stable_partition(online.begin(), online.end(), [&](int cpu) {
        return designated && !designated->empty() && designated->front() == cpu;
      });
    }
    return online;
  }
  std::vector<int> cpus;
  std::set_intersection(online.begin(), online.end(), listed->begin(), listed->end(),
                        std::back_inserter(cpus));
  return cpus;
}

int Target::Cpu(std::size_t i) const {
  const std::vector<int> cpus = Cpus();
  if (i >= cpus.size()) throw Broken("fewer CPUs of " + name_ + " are online than the case needs");
  return cpus[i];
}

int Target::DesignatedCpu() const {
  const std::string path = std::string(kEventSource) + "/" + device_ + "/cpumask";
  const auto text = ReadFile(path);
  const auto cpus = text ? ParseCpuList(*text) : std::nullopt;
  if (!cpus || cpus->empty()) throw Broken(path + " names no CPU");
  return cpus->front();
}

EventSpec Target::ResolveClaim(const EventClaim& claim) const {
  if (!resolved()) throw Broken("event " + claim.name + ": the target is not resolved yet");
  EventSpec spec;
  spec.name = claim.name;
  spec.type = type_;
  spec.stimulus = claim.stimulus;
  spec.ticks = claim.ticks;
  spec.work = claim.work;
  spec.work_extra = claim.work_extra;
  spec.work_interrupts = claim.work_interrupts;
  spec.latency = claim.latency;
  spec.response = claim.response;
  spec.counters = claim.counters;
  spec.wide = claim.wide;
  spec.generic = claim.generic;
  spec.accuracy = claim.accuracy;
  if (claim.code) {
    spec.code = *claim.code;
    spec.config = *claim.code;
  }
  if (claim.syscall) spec.code = *claim.syscall;
  if (claim.watched) spec.code = *claim.watched;
  if (kind_ == "breakpoint" || kind_ == "kprobe" || kind_ == "uprobe") {
    Watch(kind_, claim.name, &spec);
    return spec;
  }
  if (claim.software) spec.config = *claim.software;
  const auto tracepoint = tracepoints_.find(claim.name);
  if (tracepoint != tracepoints_.end()) spec.config = tracepoint->second;
  const bool by_number = claim.code && claim.terms.empty();
  if (by_number || claim.software || tracepoint != tracepoints_.end()) return spec;
  const std::string folder = std::string(kEventSource) + "/" + device_;
  const std::string path = folder + "/events/" + claim.name;
  const auto text = ReadFile(path);
  const auto listed = text ? ParseTerms(*text) : std::nullopt;
  if (!listed && (text || claim.terms.empty()))
    throw Broken(path + " is no event (the target file claims it)");
  Terms terms = listed.value_or(Terms());
  Override(filter_, &terms);
  Override(claim.terms, &terms);
  std::map<std::string, FormatField> formats;
  for (const auto& [name, value] : terms) {
    if (IsWordOfAttr(name)) continue;
    const auto format = ReadFile(folder + "/format/" + name);
    const auto field = format ? ParseFormat(*format) : std::nullopt;
    if (!field)
      throw Broken(folder + "/format/" + name + " is no format, and " + path + " uses it");
    formats[name] = *field;
  }
  const auto configs = EncodeTerms(terms, formats);
  if (!configs) throw Broken(path + ": a term does not fit its format");
  spec.config = configs->config;
  spec.config1 = configs->config1;
  spec.config2 = configs->config2;
  spec.config3 = configs->config3;
  spec.config4 = configs->config4;
  if (!claim.syscall && !claim.code) spec.code = CodeOf(terms, formats, spec);
  return spec;
}

EventSpec Target::Trace() const {
  if (kind_ != "trace") throw Broken("target " + name_ + " has no trace");
  EventSpec spec;
  spec.name = "trace";
  spec.type = type_;
  return spec;
}

EventSpec Target::Event(std::string_view name) const {
  for (const EventClaim& claim : claims_) {
    if (claim.name == name) return ResolveClaim(claim);
  }
  throw Broken("target " + name_ + " has no event " + std::string(name));
}

EventSpec Target::EventInSysfs(const std::string& name) const {
  EventClaim claim;
  claim.name = name;
  return ResolveClaim(claim);
}

std::vector<EventSpec> Target::Events(const EventFilter& filter) const {
  std::vector<EventSpec> specs;
  const std::uint64_t all = LowBits(general_);
  const bool stimulated = Claims(Cap::kStimulus);
  for (const EventClaim& claim : claims_) {
    const bool everywhere = (claim.counters & all) == all;
    if (claim.wide && !filter.wide) continue;
    if (!filter.inexact && stimulated && !CanHappen(claim)) continue;
    if (filter.stimulus && claim.stimulus != *filter.stimulus) continue;
    if (filter.any_general && !everywhere) continue;
    if (filter.constrained && everywhere) continue;
    if (filter.fixed && (claim.counters >> kFixedBase) == 0) continue;
    if (filter.generic && !claim.generic) continue;
    specs.push_back(ResolveClaim(claim));
  }
  if (specs.empty() && filter.any_general)
    SkipUnclaimed("needs an event that every general counter can count");
  if (specs.empty()) throw Broken("target " + name_ + " has no event that the case asks for");
  return specs;
}

std::vector<EventSpec> Target::CacheEvents() const {
  std::vector<EventSpec> specs;
  for (const CacheClaim& claim : cache_claims_) {
    EventSpec spec;
    spec.name = claim.name;
    spec.type = PERF_TYPE_HW_CACHE;
    spec.config = claim.config;
    spec.stimulus = StimulusKind::kPulse;
    spec.code = claim.code;
    spec.response = claim.response;
    spec.counters = claim.counters;
    spec.accuracy = claim.accuracy;
    specs.push_back(spec);
  }
  return specs;
}

std::vector<std::uint64_t> Target::Codes() const {
  std::vector<std::uint64_t> codes;
  for (const EventSpec& spec : Events({.wide = true, .inexact = true})) {
    // The `code` of such an event is the number of its system call.
    const bool called = spec.stimulus == StimulusKind::kSyscalls;
    codes.push_back(called ? spec.config : spec.code);
  }
  for (const CacheClaim& claim : cache_claims_) codes.push_back(claim.code);
  return codes;
}

EventSpec Target::AnyEvent() const { return AnyEvents(1).front(); }

std::vector<EventSpec> Target::AnyEvents(std::size_t n) const {
  std::vector<EventSpec> known;
  if (!port_.empty()) {
    known = Events({.stimulus = StimulusKind::kPulse, .any_general = true});
  } else {
    for (const EventSpec& spec :
         Events({.any_general = true, .inexact = !Claims(Cap::kStimulus)})) {
      const auto same = [&spec](const EventSpec& other) { return ShareStimulus(spec, other); };
      if (std::none_of(known.begin(), known.end(), same)) known.push_back(spec);
    }
  }
  std::vector<EventSpec> specs;
  for (std::size_t i = 0; i < n; ++i) specs.push_back(known[i % known.size()]);
  return specs;
}

// All work is instructions.
bool ShareStimulus(const EventSpec& a, const EventSpec& b) {
  if (a.stimulus == StimulusKind::kWork) return b.stimulus == StimulusKind::kWork;
  return a.stimulus == b.stimulus && a.code == b.code;
}

PulseOptions WithRequirements(const EventSpec& spec, PulseOptions options) {
  if (options.latency == 0) options.latency = spec.latency;
  if (options.response == 0) options.response = spec.response;
  return options;
}

void Target::Stimulate(const EventSpec& spec, std::uint64_t n, const PulseOptions& options) const {
  if (port_.empty() && options != PulseOptions{}) {
    throw Broken("the case sets options of a pulse, which need a stimulus port");
  }
  switch (spec.stimulus) {
    case StimulusKind::kPulse:
      port().Pulse(spec.code, n, WithRequirements(spec, options));
      return;
    case StimulusKind::kClock:
      port().Advance(n * spec.ticks, options);
      return;
    case StimulusKind::kPageFaults:
      return TouchFreshPages(n);
    case StimulusKind::kContextSwitches:
      return SwitchContexts(n);
    case StimulusKind::kMigrations:
      return Migrate(n, Cpu(0), Cpu(1));
    case StimulusKind::kSyscalls:
      return CallSystem(spec.code, n);
    case StimulusKind::kIncrements:
      return Increment(n);
    case StimulusKind::kStores:
      return StoreTo(spec.code, n);
    case StimulusKind::kWork:
      return Work(spec, n);
    case StimulusKind::kNone:
      throw Broken("event " + spec.name + " has no stimulus");
  }
}

}  // namespace pmuconf

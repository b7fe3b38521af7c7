// SPDX-License-Identifier: Apache-2.0
// Reads a target file.
#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <utility>

#include "arch/arch.h"
#include "arch/machines.h"
#include "stimulus/stimuli.h"
#include "stimulus/work/work.h"
#include "system/sysfs.h"
#include "target/expression.h"
#include "target/target.h"
#include "target/target_base.h"
#include "target/target_claims.h"
#include "target/toml_table.h"
#include "text/errno_name.h"

namespace pmuconf {
namespace {

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 10> kGenericEvents = {{
    {"cpu-cycles", PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_COUNT_HW_INSTRUCTIONS},
    {"cache-references", PERF_COUNT_HW_CACHE_REFERENCES},
    {"cache-misses", PERF_COUNT_HW_CACHE_MISSES},
    {"branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    {"branch-misses", PERF_COUNT_HW_BRANCH_MISSES},
    {"bus-cycles", PERF_COUNT_HW_BUS_CYCLES},
    {"stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES},
}};

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 12> kSoftwareEvents = {{
    {"cpu-clock", PERF_COUNT_SW_CPU_CLOCK},
    {"task-clock", PERF_COUNT_SW_TASK_CLOCK},
    {"page-faults", PERF_COUNT_SW_PAGE_FAULTS},
    {"context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS},
    {"minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS},
    {"dummy", PERF_COUNT_SW_DUMMY},
    {"bpf-output", PERF_COUNT_SW_BPF_OUTPUT},
    {"cgroup-switches", PERF_COUNT_SW_CGROUP_SWITCHES},
}};

constexpr std::array<std::pair<std::string_view, StimulusKind>, 10> kStimuli = {{
    {"work", StimulusKind::kWork},
    {"none", StimulusKind::kNone},
    {"port", StimulusKind::kPulse},
    {"clock", StimulusKind::kClock},
    {"page_faults", StimulusKind::kPageFaults},
    {"context_switches", StimulusKind::kContextSwitches},
    {"migrations", StimulusKind::kMigrations},
    {"syscalls", StimulusKind::kSyscalls},
    {"increments", StimulusKind::kIncrements},
    {"stores", StimulusKind::kStores},
}};

bool NeedsPort(StimulusKind stimulus) {
  return stimulus == StimulusKind::kPulse || stimulus == StimulusKind::kClock;
}

// Returns the value for `name` in a table. Otherwise fails with a message about `key` that lists
// all names.
template <std::size_t N, typename T>
T Known(TomlTable* event, const char* key, const std::string& name,
        const std::array<std::pair<std::string_view, T>, N>& table) {
  std::string all;
  for (const auto& [known, value] : table) {
    if (known == name) return value;
    all += (all.empty() ? "" : ", ") + std::string(known);
  }
  event->Fail(key, "must be one of " + all);
}

// Parses "LL read miss": cache, operation and result of PERF_TYPE_HW_CACHE. Returns attr.config.
std::optional<std::uint64_t> ParseCacheEvent(std::string_view text) {
  static constexpr std::array<std::string_view, 7> kCaches = {"L1D",  "L1I", "LL",  "DTLB",
                                                              "ITLB", "BPU", "NODE"};
  static constexpr std::array<std::string_view, 3> kOps = {"read", "write", "prefetch"};
  static constexpr std::array<std::string_view, 2> kResults = {"access", "miss"};
  for (std::uint64_t cache = 0; cache < kCaches.size(); ++cache) {
    for (std::uint64_t op = 0; op < kOps.size(); ++op) {
      for (std::uint64_t result = 0; result < kResults.size(); ++result) {
        const std::string name = std::string(kCaches[cache]) + " " + std::string(kOps[op]) + " " +
                                 std::string(kResults[result]);
        if (name == text) return cache | op << 8 | result << 16;
      }
    }
  }
  return std::nullopt;
}

// Parses "0-3,f0" (general counters 0 to 3 and fixed counter 0) to a mask; "all" means all general
// counters.
std::optional<std::uint64_t> ParseCounters(std::string_view text, unsigned general,
                                           unsigned fixed) {
  std::uint64_t mask = 0;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (part == "all") {
      mask |= (1ULL << general) - 1;
      continue;
    }
    const bool is_fixed = !part.empty() && part.front() == 'f';
    const auto list = ParseCpuList(is_fixed ? part.substr(1) : part);
    if (!list || list->empty()) return std::nullopt;
    for (const int counter : *list) {
      if (static_cast<unsigned>(counter) >= (is_fixed ? fixed : general)) return std::nullopt;
      mask |= 1ULL << (static_cast<unsigned>(counter) + (is_fixed ? kFixedBase : 0));
    }
  }
  return mask == 0 ? std::nullopt : std::optional(mask);
}

Accuracy ReadAccuracy(TomlTable* event) {
  const toml::node* const node = event->Node("accuracy");
  if (node == nullptr) event->Fail("accuracy", "is missing");
  if (node->value_exact<std::string>() == "exact") return {};
  const char* const wanted = "must be \"exact\", { abs = N }, { rel = X } or { step = N }";
  if (!node->is_table()) event->Fail("accuracy", wanted);
  TomlTable table = *event->Table("accuracy");
  Accuracy accuracy;
  accuracy.abs = static_cast<std::uint64_t>(table.IntOr("abs", 0, 0, INT64_MAX));
  accuracy.rel = table.DoubleOr("rel", 0.0);
  accuracy.step = static_cast<std::uint64_t>(table.IntOr("step", 1, 1, UINT32_MAX));
  table.Finish();
  if (accuracy.exact() && accuracy.step == 1) event->Fail("accuracy", wanted);
  return accuracy;
}

// Reads the name of an errno, or a table with one per machine: { x86_64 = "EINVAL" }. Returns
// nullopt if the driver on this machine does not refuse the feature.
std::optional<int> ReadRefusal(TomlTable* refusals, const char* key) {
  const auto read = [](TomlTable* table, const char* name) {
    const auto error = ErrnoFromName(table->String(name));
    if (!error) table->Fail(name, "must be the name of an errno, like \"EOPNOTSUPP\"");
    return *error;
  };
  if (!refusals->Node(key)->is_table()) return read(refusals, key);
  std::optional<int> here;
  TomlTable machines = *refusals->Table(key);
  for (const std::string& machine : machines.Keys()) {
    if (!processor::IsMachine(machine)) {
      machines.Fail(machine, "must be a machine: " + processor::ListOfMachines());
    }
    const int error = read(&machines, machine.c_str());
    if (machine == processor::kMachine) here = error;
  }
  machines.Finish();
  return here;
}

std::uint64_t ReadCounters(TomlTable* event, unsigned general, unsigned fixed) {
  const auto counters = ParseCounters(event->String("counters"), general, fixed);
  if (!counters) event->Fail("counters", "must list counters of this target, like \"0-3,f0\"");
  return *counters;
}

// Reads terms as the perf tool takes them: "event=0x10,port=0xffff".
std::string ReadTermList(TomlTable* table, const char* key) {
  const std::string text = table->StringOr(key, "");
  if (!text.empty() && (!ParseTerms(text) || text.find('?') != std::string::npos)) {
    table->Fail(key, "must be terms with values, like \"event=0x10,port=0xffff\"");
  }
  return text;
}

MachineClaim ReadMachine(TomlTable* vm) {
  MachineClaim machine;
  machine.arch = vm->StringOr("arch", "");
  machine.kernel = vm->StringOr("kernel", "");
  machine.accel = vm->StringOr("accel", "");
  machine.cpu = vm->StringOr("cpu", "");
  machine.cmdline = vm->StringOr("cmdline", "");
  machine.parameters = vm->StringOr("parameters", "");
  machine.cpus = static_cast<unsigned>(vm->IntOr("smp", machine.cpus, 1, 64));
  machine.memory_mb = static_cast<unsigned>(vm->IntOr("memory_mb", machine.memory_mb, 64, 65536));
  if (vm->Node("icount") != nullptr)
    machine.icount = static_cast<unsigned>(vm->Int("icount", 1, 10));
  machine.work = vm->StringsOr("work", {});
  machine.devices = vm->StringsOr("device", {});
  machine.drivers = vm->StringsOr("driver", {});
  return machine;
}

// Returns the name of the module that the driver in a file like "drivers/perf/arm-ccn.c" is.
std::string ModuleName(const std::string& file) {
  std::string name = std::filesystem::path(file).stem();
  std::ranges::replace(name, '-', '_');
  return name;
}

CacheClaim ReadCacheEvent(TomlTable event, unsigned general, unsigned fixed) {
  CacheClaim claim;
  claim.name = event.String("name");
  const auto config = ParseCacheEvent(claim.name);
  if (!config) event.Fail("name", "must be a cache, an operation and a result: \"LL read miss\"");
  claim.config = *config;
  claim.code = static_cast<std::uint64_t>(event.Int("code", 0, 0xffff));
  claim.response = static_cast<std::uint64_t>(event.IntOr("response", 0, 0, INT64_MAX));
  claim.counters = ReadCounters(&event, general, fixed);
  claim.accuracy = ReadAccuracy(&event);
  event.Finish();
  return claim;
}

EventClaim ReadEvent(TomlTable event, const std::string& kind, unsigned general, unsigned fixed) {
  EventClaim claim;
  claim.name = event.String("name");
  claim.stimulus = Known(&event, "stimulus", event.StringOr("stimulus", "none"), kStimuli);
  if (claim.stimulus == StimulusKind::kClock) {
    claim.ticks = static_cast<std::uint32_t>(event.Int("ticks", 1, 1'000'000));
  }
  if (claim.stimulus == StimulusKind::kWork) {
    const auto work = WorkKindFromString(event.StringOr("work", "instructions"));
    if (!work) event.Fail("work", "must be instructions, branches, loads, stores or calls");
    claim.work = *work;
    claim.work_extra = static_cast<std::uint32_t>(event.IntOr("work_extra", 0, 0, 1'000));
    claim.work_interrupts = static_cast<std::uint32_t>(event.IntOr("work_interrupts", 0, 0, 1'000));
  }
  if (claim.stimulus == StimulusKind::kSyscalls) {
    claim.syscall = CheapCall(event.String("syscall"));
    if (!claim.syscall)
      event.Fail("syscall",
                 "must be a system call without arguments and effects, like \"getppid\"");
  }
  if (claim.stimulus == StimulusKind::kStores) {
    claim.watched = static_cast<std::uint16_t>(event.Int("variable", 0, kVariables - 1));
  }
  if (kind == "uprobe") {
    claim.watched = static_cast<std::uint16_t>(event.Int("function", 0, kFunctions - 1));
  }
  // The values of attr of these PMUs depend on the watched object.
  const auto needs = [&](const char* of_kind, const char* stimulus) {
    if (kind == of_kind && event.StringOr("stimulus", "none") != stimulus) {
      event.Fail("stimulus", std::string("must be \"") + stimulus + "\" for the kind " + of_kind);
    }
  };
  needs("breakpoint", "stores");
  needs("kprobe", "syscalls");
  if (event.Node("code") != nullptr) {
    claim.code = static_cast<std::uint64_t>(event.Int("code", 0, INT64_MAX));
  }
  claim.terms = ReadTermList(&event, "terms");
  if (!claim.terms.empty() && kind != "core" && kind != "uncore") {
    event.Fail("terms", "needs a target of the kind core or uncore");
  }
  claim.latency = static_cast<std::uint32_t>(event.IntOr("latency", 0, 0, 0xffff));
  claim.response = static_cast<std::uint64_t>(event.IntOr("response", 0, 0, INT64_MAX));
  if (kind == "software" && !claim.code) {
    claim.software = Known(&event, "name", claim.name, kSoftwareEvents);
  }
  if (kind == "tracepoint" && !claim.code && claim.name.find(':') == std::string::npos) {
    event.Fail("name", "must be a tracepoint, like \"sched:sched_switch\"");
  }
  if (general > 0) claim.counters = ReadCounters(&event, general, fixed);
  claim.wide = event.BoolOr("wide", false);
  if (event.Node("generic") != nullptr) {
    claim.generic = Known(&event, "generic", event.String("generic"), kGenericEvents);
  }
  claim.accuracy = ReadAccuracy(&event);
  event.Finish();
  return claim;
}

}  // namespace

Target Target::Load(const std::string& path, const FindBase& find_base) {
  const auto text = ReadFile(path);
  if (!text) throw ConfigError(path + ": cannot be read");
  return Parse(*text, path, find_base);
}

Target Target::Parse(std::string_view text, const std::string& path, const FindBase& find_base) {
  const toml::table file = ReadWithBase(text, path, find_base);
  TomlTable root(file, path, "");
  Target target;
  target.path_ = path;

  auto head = root.Table("target");
  if (!head) root.Fail("target", "is missing");
  target.name_ = head->String("name");
  target.match_ = head->String("match");
  target.kind_ = head->String("kind");
  static const std::vector<std::string> kKinds = {"core",  "uncore",     "software", "tracepoint",
                                                  "trace", "breakpoint", "kprobe",   "uprobe"};
  if (std::find(kKinds.begin(), kKinds.end(), target.kind_) == kKinds.end()) {
    head->Fail(
        "kind",
        "must be one of core, uncore, software, tracepoint, trace, breakpoint, kprobe, uprobe");
  }
  target.kernel_ = head->StringOr("kernel", ">=6.1");
  try {
    KernelMatches(target.kernel_, "6.1");
  } catch (const ConfigError&) {
    head->Fail("kernel", "must be like \">=6.1\" or \">=6.1,<6.12\"");
  }
  target.rules_of_ = head->StringOr("rules_of", "");
  static const std::regex kSeries("[0-9]+\\.[0-9]+");
  if (!target.rules_of_.empty() && !std::regex_match(target.rules_of_, kSeries)) {
    head->Fail("rules_of", "must be a series like \"6.12\"");
  }
  target.slowness_ = head->DoubleOr("slowness", 1.0);
  if (target.slowness_ <= 0.0) head->Fail("slowness", "must be more than 0");
  target.port_ = head->StringOr("port", "");
  if (target.port_.starts_with("page:") && !target.HasPage()) {
    head->Fail("port", "must be a file, or the address of a page like \"page:0xfed81000\"");
  }
  target.filter_ = ReadTermList(&*head, "filter");
  if (target.Claims(Cap::kRegisters)) target.module_ = "refpmu";
  head->Finish();

  if (auto vm = root.Table("vm")) {
    target.machine_ = ReadMachine(&*vm);
    // A target that names a kernel needs no module: that kernel has the PMU built in.
    if (!target.machine_.kernel.empty()) target.module_.clear();
    if (!target.machine_.drivers.empty())
      target.module_ = ModuleName(target.machine_.drivers.back());
    target.module_ = vm->StringOr("module", target.module_);
    vm->Finish();
  }
  const bool traces = target.kind_ == "trace";
  if (auto counters = root.Table("counters")) {
    target.general_ = static_cast<unsigned>(counters->Int("general", 0, 32));
    if (target.general_ > 0) {
      target.fixed_ = static_cast<unsigned>(counters->IntOr("fixed", 0, 0, 16));
      target.width_ = static_cast<unsigned>(counters->Int("width", 16, 64));
      target.fixed_width_ =
          static_cast<unsigned>(counters->IntOr("fixed_width", target.width_, 16, 64));
    } else if (counters->Node("width") != nullptr) {
      target.width_ = static_cast<unsigned>(counters->Int("width", 16, 64));
    }
    const std::string reader = counters->StringOr("read_by", "interrupt");
    if (reader != "interrupt" && reader != "timer" && reader != "nothing") {
      counters->Fail("read_by", "must be interrupt, timer or nothing");
    }
    target.polled_ = reader == "timer";
    counters->Finish();
  } else if (target.kind_ == "core") {
    root.Fail("counters", "is missing");
  }
  if (traces) {
    auto trace = root.Table("trace");
    if (!trace) root.Fail("trace", "is missing: a target of kind trace has one");
    target.trace_record_ = static_cast<std::size_t>(trace->Int("record", 1, 4096));
    target.trace_excludes_ = trace->BoolOr("excludes", false);
    target.trace_pause_ = trace->BoolOr("pause", false);
    trace->Finish();
  }

  if (auto sampling = root.Table("sampling")) {
    target.sampling_ = true;
    target.min_period_ = static_cast<std::uint64_t>(sampling->IntOr("min_period", 1, 1, INT64_MAX));
    target.frequency_ = sampling->BoolOr("frequency", false);
    sampling->Finish();
  }
  if (auto features = root.Table("features")) {
    target.excludes_ = features->BoolOr("excludes", false);
    target.addresses_ = features->BoolOr("addresses", true);
    target.filters_ = features->BoolOr("filters", false);
    target.user_reads_ = features->BoolOr("user_reads", false);
    target.groups_ = features->BoolOr("groups", true);
    target.shared_counters_ = features->BoolOr("shared_counters", false);
    target.exclusive_formats_ = features->StringsOr("exclusive_formats", {});
    target.precise_ = static_cast<unsigned>(features->IntOr("precise", 0, 0, 3));
    target.branches_ = static_cast<unsigned>(features->IntOr("branches", 0, 0, 1024));
    features->Finish();
  }
  if (auto refusals = root.Table("refusals")) {
    for (const std::string& key : refusals->Keys()) {
      const auto error = ReadRefusal(&*refusals, key.c_str());
      if (error) target.refusals_[key] = *error;
    }
  }
  for (TomlTable& event : root.Tables("event")) {
    EventClaim claim = ReadEvent(event, target.kind_, target.general_, target.fixed_);
    for (const EventClaim& other : target.claims_) {
      if (other.name == claim.name) event.Fail("name", "'" + claim.name + "' is defined twice");
    }
    if (NeedsPort(claim.stimulus) && target.port_.empty()) {
      event.Fail("stimulus", "needs target.port");
    }
    target.claims_.push_back(std::move(claim));
  }
  for (TomlTable& event : root.Tables("cache")) {
    CacheClaim claim = ReadCacheEvent(event, target.general_, target.fixed_);
    for (const CacheClaim& other : target.cache_claims_) {
      if (other.name == claim.name) event.Fail("name", "'" + claim.name + "' is defined twice");
    }
    if (target.port_.empty()) event.Fail("code", "needs target.port");
    target.cache_claims_.push_back(std::move(claim));
  }
  for (TomlTable& accepted : root.Tables("review")) {  // For make review, which reads the source.
    accepted.String("check");
    accepted.StringOr("file", "");
    accepted.String("reason");
    accepted.Finish();
  }
  root.Finish();
  if (target.claims_.empty() && !traces)
    root.Fail("event", "is missing: a target has at least one [[event]]");
  return target;
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// The experiments of a probe.
#include "target/probe.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <initializer_list>

#include "perf/matchers.h"
#include "perf/permission.h"
#include "system/broken.h"
#include "system/cpu.h"
#include "system/sysfs.h"
#include "target/calibration.h"
#include "target/probe_actions.h"
#include "target/probe_names.h"
#include "target/target.h"

namespace pmuconf {
namespace {

constexpr unsigned kMostGeneral = 32;  // the maximum in a target file
constexpr unsigned kMostFixed = 16;
constexpr std::uint64_t kPeriod = 100'003;
constexpr std::uint64_t kFrequency_hz = 100;
constexpr std::uint64_t kNumbersTried = 64;
constexpr std::size_t kMaxEventSpecs = 16;

bool AnyOf(std::string_view name, const std::array<const char*, 3>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string Folder(const std::string& pmu) { return std::string(kEventSource) + "/" + pmu; }

// Returns the result as the comments of a target file state it.
std::string ErrnoText(int error) { return error == 0 ? "opens" : "gives " + ErrnoName(error); }

class Probe {
 public:
  explicit Probe(const std::string& pmu) { facts_.device = pmu; }

  PmuFacts Run() {
    if (const auto refused = WhyEventsDenied()) {
      throw ConfigError(std::string(Phrase(refused->skip_reason)) + ": " + refused->reason);
    }
    Identify();
    if (facts_.kind == "trace") {
      FindExclusive();
      return facts_;
    }
    FindEvents();
    Count();
    Refusals();
    if (facts_.sampling.ok()) Sampling();
    Formats();
    Choices();
    for (std::size_t i = 0; i < facts_.events.size(); ++i) {
      const ActionCounts counts = CountActions([this, i] { return Open(event_specs_[i], {}); });
      facts_.events[i].counts = counts.counts;
      facts_.events[i].stimulus = counts.stimulus;
    }
    FindWork();
    return facts_;
  }

 private:
  struct Spec {
    EventFacts facts;
    EventSpec spec;
  };

  // Opens a disabled event: of this task, or on the CPU of an uncore PMU.
  OpenResult Open(const EventSpec& spec, OpenOptions options, int group_fd = -1) const {
    options.pid = per_cpu_ ? -1 : 0;
    options.cpu = per_cpu_ ? cpu_ : -1;
    options.group_fd = group_fd;
    return OpenFor(spec, options);
  }

  static OpenResult OpenFor(const EventSpec& spec, const OpenOptions& options) {
    perf_event_attr attr = MakeAttr(spec, options);
    const SysResult result =
        TryOpenRaw(&attr, options.pid, options.cpu, options.group_fd, PERF_FLAG_FD_CLOEXEC);
    if (!result.ok()) return {Event(), result.error};
    return {Event(Fd(static_cast<int>(result.value)), attr), 0};
  }

  Finding Try(const EventSpec& spec, const OpenOptions& options, const std::string& what) const {
    const OpenResult opened = Open(spec, options);
    return {0, opened.error, what + " " + ErrnoText(opened.error)};
  }

  // Finds the event that counts work exactly on the most counters. One is enough, and all work is
  // instructions: two such events would not be independent.
  void FindWork() {
    if (per_cpu_ || !facts_.limited()) return;
    EventFacts* best = nullptr;
    for (std::size_t i = 0; i < facts_.events.size(); ++i) {
      EventFacts& event = facts_.events[i];
      if (event.stimulus != "none") continue;
      event.work = Calibrate([&](pid_t worker) {
        return OpenFor(event_specs_[i], {.pid = worker, .exclude_kernel = true});
      });
      if (event.work.extra && (best == nullptr || event.fit > best->fit)) best = &event;
    }
    if (best != nullptr) best->stimulus = "work";
  }

  void Identify() {
    const std::string folder = Folder(facts_.device);
    facts_.type = TypeOfPmu(facts_.device);
    const auto mask = ReadFile(folder + "/cpumask");
    const auto cpus = ReadFile(folder + "/cpus");
    const auto listed = ParseCpuList(mask.value_or(cpus.value_or("")));
    cpu_ = listed && !listed->empty() ? listed->front() : OnlineCpus().front();
    PinTo(cpu_);
    per_cpu_ = mask.has_value();
    if (mask) {
      facts_.kind = "uncore";
      facts_.kind_how = "sysfs has a cpumask: " + *mask;
    } else if (facts_.type == PERF_TYPE_SOFTWARE) {
      facts_.kind = "software";
      facts_.kind_how = "its type is PERF_TYPE_SOFTWARE";
    } else if (facts_.type == PERF_TYPE_TRACEPOINT) {
      facts_.kind = "tracepoint";
      facts_.kind_how = "its type is PERF_TYPE_TRACEPOINT";
    } else if (HasAux()) {
      facts_.kind = "trace";
      facts_.kind_how = "an event of it maps an AUX area";
    } else {
      facts_.kind = "core";
      facts_.kind_how = "sysfs has no cpumask, and no AUX area can be mapped";
    }
  }

  bool HasAux() const {
    perf_event_attr attr = {};
    attr.size = PERF_ATTR_SIZE_VER7;
    attr.type = facts_.type;
    attr.disabled = 1;
    const SysResult opened = TryOpenRaw(&attr, -1, cpu_, -1, PERF_FLAG_FD_CLOEXEC);
    if (!opened.ok()) return false;
    const Fd fd(static_cast<int>(opened.value));
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const base = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (base == MAP_FAILED) return false;
    auto* const control = static_cast<perf_event_mmap_page*>(base);
    control->aux_offset = 2 * page;
    control->aux_size = 4 * page;
    void* const aux = mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(),
                           static_cast<off_t>(2 * page));
    if (aux != MAP_FAILED) munmap(aux, 4 * page);
    munmap(base, 2 * page);
    return aux != MAP_FAILED;
  }

  // A PMU with PERF_PMU_CAP_EXCLUSIVE has one event in a context.
  void FindExclusive() {
    EventSpec spec;
    spec.type = facts_.type;
    const OpenResult first = OpenFor(spec, {.pid = -1, .cpu = cpu_});
    const OpenResult second = OpenFor(spec, {.pid = -1, .cpu = cpu_});
    if (!first.ok() || second.error != EBUSY) return;
    const std::string how = "a second event of the same CPU " + ErrnoText(second.error);
    facts_.refused.emplace_back("exclusive", Finding{0, second.error, how});
  }

  // Takes the events in sysfs that open. If there are none, tries small numbers as config.
  void FindEvents() {
    for (const std::string& name : ListFolder(Folder(facts_.device) + "/events")) {
      if (name.find('.') != std::string::npos) continue;  // a scale, a unit, a snapshot
      const std::string text = "[target]\nname = \"probe\"\nmatch = \"" + facts_.device +
                               "\"\nkind = \"" + facts_.kind +
                               "\"\n[counters]\ngeneral = 1\nwidth = 64\n[[event]]\nname = \"" +
                               name + "\"\ncounters = \"0\"\naccuracy = \"exact\"\n";
      try {
        Target target = Target::Parse(text, "probe");
        target.Resolve(facts_.device);
        AddEvent(EventNamed(name), target.Event(name));
      } catch (const std::exception& error) {
        facts_.skipped.push_back(name + ": " + error.what());
      }
    }
    if (facts_.kind == "software") FindSoftware();
    if (facts_.kind == "tracepoint") FindTracepoints();
    if (!specs_.empty()) return;
    for (std::uint64_t number = 0; number < kNumbersTried && specs_.size() < kMaxEventSpecs;
         ++number) {
      EventSpec spec;
      spec.type = facts_.type;
      spec.config = number;
      if (!Open(spec, {}).ok()) continue;
      EventFacts facts = EventNamed("config-" + std::to_string(number));
      facts.code = static_cast<std::uint16_t>(number);
      AddEvent(facts, spec);
    }
    if (specs_.empty()) {
      throw ConfigError("no event of PMU '" + facts_.device + "' opens: write its target by hand");
    }
  }

  void FindSoftware() {
    facts_.names_how = "as perf calls it";
    for (std::uint64_t number = 0; number < kSoftwareNames.size(); ++number) {
      EventSpec spec;
      spec.type = facts_.type;
      spec.config = number;
      AddEvent(EventNamed(kSoftwareNames[number]), spec);
    }
  }

  void FindTracepoints() {
    facts_.names_how = "of tracefs";
    for (const std::string name : kTracepointNames) {
      std::string folder = name;
      std::replace(folder.begin(), folder.end(), ':', '/');
      const auto id = ReadFile("/sys/kernel/tracing/events/" + folder + "/id");
      EventSpec spec;
      spec.type = facts_.type;
      spec.config = std::strtoull(id.value_or("0").c_str(), nullptr, 10);
      if (id) AddEvent(EventNamed(name), spec);
    }
  }

  static EventFacts EventNamed(const std::string& name) {
    EventFacts facts;
    facts.name = name;
    return facts;
  }

  void AddEvent(const EventFacts& facts, const EventSpec& spec) {
    const OpenResult opened = Open(spec, {});
    if (opened.ok()) {
      specs_.push_back({facts, spec});
    } else {
      facts_.skipped.push_back(facts.name + ": open " + ErrnoText(opened.error));
    }
  }

  // Returns how many of `specs` fit into one group, at most `most`. The events are enabled, because
  // a driver may ignore disabled events when it validates a group.
  unsigned CountFitting(const std::vector<EventSpec>& specs, unsigned most) const {
    std::vector<Event> group;
    for (const EventSpec& spec : specs) {
      if (group.size() == most) break;
      OpenResult opened = Open(spec, {.disabled = false}, group.empty() ? -1 : group.front().fd());
      if (!opened.ok()) break;
      group.push_back(std::move(opened.event));
    }
    return static_cast<unsigned>(group.size());
  }

  void Count() {
    std::map<unsigned, unsigned> votes;
    for (Spec& spec : specs_) {
      spec.facts.fit = CountFitting(std::vector(kMostGeneral, spec.spec), kMostGeneral);
      ++votes[spec.facts.fit];
    }
    const auto most =
        std::max_element(votes.begin(), votes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const unsigned general = most->first;
    facts_.general = {general, 0,
                      std::to_string(most->second) + " of " + std::to_string(specs_.size()) +
                          " events fit so often into one group" +
                          (general == kMostGeneral ? ", and perhaps more often" : "")};
    facts_.unlimited = general == kMostGeneral;
    std::vector<EventSpec> full;
    for (Spec& spec : specs_) {
      const bool everywhere = spec.facts.fit == general;
      if (everywhere && full.empty()) full.assign(general, spec.spec);
    }
    // An event that fits although all general counters are in use has a fixed counter. In addition
    // it can use either all general counters or none. Events that use only some cannot be
    // identified this way.
    for (Spec& spec : specs_) {
      if (spec.facts.fit != general + 1 && spec.facts.fit != 1) continue;
      full.push_back(spec.spec);
      if (CountFitting(full, kMostGeneral + kMostFixed) == full.size()) {
        spec.facts.fixed = true;
      } else {
        full.pop_back();
      }
    }
    facts_.fixed = {
        full.size() - general, 0,
        "so many more events fit into a group with " + std::to_string(general) + " others"};
    for (const Spec& spec : specs_) {
      if (spec.facts.fit == general || spec.facts.fixed) {
        facts_.events.push_back(spec.facts);
        event_specs_.push_back(spec.spec);
      } else {
        facts_.skipped.push_back(spec.facts.name + ": " + std::to_string(spec.facts.fit) +
                                 " fit into a group: its `counters` are unknown");
      }
    }
    Generic();
    Width();
  }

  void Generic() {
    for (EventFacts& event : facts_.events) {
      for (const GenericName& generic : kGenericNames) {
        if (!AnyOf(event.name, generic.in_sysfs)) continue;
        EventSpec spec;
        spec.type = PERF_TYPE_HARDWARE;
        spec.config = generic.config | static_cast<std::uint64_t>(facts_.type)
                                           << PERF_PMU_TYPE_SHIFT;
        if (Open(spec, {}).ok()) event.generic = generic.name;
      }
    }
  }

  // Reads the counter width from the control page, if user space may read counters.
  void Width() {
    facts_.width = {64, 0, "unknown; 64 claims nothing"};
    const OpenResult opened = Open(event_specs_.front(), {.disabled = false});
    if (!opened.ok()) return;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const base = mmap(nullptr, page, PROT_READ, MAP_SHARED, opened.event.fd(), 0);
    if (base == MAP_FAILED) return;
    const auto* const control = static_cast<const perf_event_mmap_page*>(base);
    const unsigned width = control->pmc_width;
    if (control->cap_user_rdpmc != 0 && width >= 16 && width <= 64) {
      facts_.width = {width, 0, "pmc_width of its mapped page"};
    }
    munmap(base, page);
  }

  // Returns the first success over all events; otherwise the result of the first event.
  Finding TryAny(const OpenOptions& options, const std::string& what) const {
    Finding first = Try(event_specs_.front(), options, what);
    for (const EventSpec& spec : event_specs_) {
      Finding finding = Try(spec, options, what);
      if (finding.ok()) return finding;
    }
    return first;
  }

  void Refusals() {
    facts_.sampling = TryAny({.sample_period = kPeriod, .sample_type = PERF_SAMPLE_IP},
                             "sample_period = " + std::to_string(kPeriod));
    const bool before = std::exchange(per_cpu_, false);
    facts_.task = TryAny({}, "an event of a task");
    per_cpu_ = before;
    facts_.exclude_user = TryAny({.exclude_user = true}, "exclude_user");
    facts_.exclude_kernel = TryAny({.exclude_kernel = true}, "exclude_kernel");
  }

  void Sampling() {
    facts_.frequency = TryAny({.sample_freq = kFrequency_hz, .sample_type = PERF_SAMPLE_IP},
                              "sample_freq = " + std::to_string(kFrequency_hz));
    const auto accepts = [&](std::uint64_t period) {
      return TryAny({.sample_period = period, .sample_type = PERF_SAMPLE_IP}, "").ok();
    };
    std::uint64_t refused = 0, accepted = kPeriod;
    while (accepted - refused > 1) {
      const std::uint64_t middle =
          refused == 0 && accepted > 2 ? 1 : refused + (accepted - refused) / 2;
      (accepts(middle) ? accepted : refused) = middle;
    }
    facts_.min_period = {accepted, 0, "the shortest that opens"};
    facts_.precise = {0, 0, "no precise_ip opens"};
    for (std::uint64_t level = 3; level > 0 && facts_.precise.value == 0; --level) {
      const auto edit = [level](perf_event_attr& attr) { attr.precise_ip = level & 3; };
      const bool opens =
          TryAny({.sample_period = kPeriod, .sample_type = PERF_SAMPLE_IP, .edit = edit}, "").ok();
      if (opens) facts_.precise = {level, 0, "the highest precise_ip that opens"};
    }
    if (facts_.precise.value > 0 && !ReadFile(Folder(facts_.device) + "/caps/max_precise")) {
      facts_.precise = {0, 0, "precise_ip opens, and sysfs has no caps/max_precise: ignored"};
    }
    const auto edit = [](perf_event_attr& attr) {
      attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
    };
    facts_.branches = TryAny({.sample_period = kPeriod,
                              .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
                              .edit = edit},
                             "PERF_SAMPLE_BRANCH_STACK");
    if (!facts_.branches.ok()) return;
    const auto deep = ReadFile(Folder(facts_.device) + "/caps/branches");
    facts_.branches.value = deep ? std::strtoul(deep->c_str(), nullptr, 10) : 1;
    facts_.branches.how += deep ? ", depth from caps/branches in sysfs" : ", depth unknown";
  }

  void Formats() {
    const std::map<std::string, FormatField> fields = ReadFormats(Folder(facts_.device));
    config2_ = std::any_of(fields.begin(), fields.end(),
                           [](const auto& field) { return field.second.config == 2; });
    facts_.filters = fields.contains("edge") && fields.contains("inv") && fields.contains("cmask");
    const auto overlap = [](const FormatField& a, const FormatField& b) {
      return a.config == b.config && std::any_of(a.bits.begin(), a.bits.end(), [&](const auto& x) {
               return std::any_of(b.bits.begin(), b.bits.end(), [&](const auto& y) {
                 return x.first <= y.second && y.first <= x.second;
               });
             });
    };
    for (const auto& [name, field] : fields) {
      for (const auto& [other, its] : fields) {
        if (name == other || !overlap(field, its)) continue;
        facts_.exclusive_formats.push_back(name);
        break;
      }
    }
  }

  // Returns whether `edit` makes a disabled event fail with one of `errors`.
  bool Refuses(const std::string& key, const std::string& what, std::initializer_list<int> errors,
               const std::function<void(perf_event_attr&)>& edit, const OpenOptions& plain = {}) {
    OpenOptions options = plain;
    options.edit = edit;
    Finding finding = Try(event_specs_.front(), options, what);
    if (std::find(errors.begin(), errors.end(), finding.error) == errors.end()) return false;
    facts_.refused.emplace_back(key, std::move(finding));
    return true;
  }

  // Finds the other errors that this PMU returns where a rule leaves the choice to the driver.
  void Choices() {
    const std::initializer_list<int> kAny = {EINVAL, EOPNOTSUPP};
    const OpenOptions samples = {.sample_period = kPeriod, .sample_type = PERF_SAMPLE_IP};
    const auto hv = [](perf_event_attr& attr) { attr.exclude_hv = 1; };
    const auto idle = [](perf_event_attr& attr) { attr.exclude_idle = 1; };
    const auto host = [](perf_event_attr& attr) { attr.exclude_host = 1; };
    const auto precise = [](perf_event_attr& attr) { attr.precise_ip = 1; };
    if (!config2_) {
      Refuses("config2", "config2 = 1, and sysfs has no format in it,", kAny,
              [](perf_event_attr& attr) { attr.config2 = 1; });
    }
    // The kernel rejects all exclude bits for a PMU with PERF_PMU_CAP_NO_EXCLUDE.
    const bool none = !facts_.exclude_user.ok() && !facts_.exclude_kernel.ok();
    if (!none || !Refuses("exclude", "exclude_hv", {EINVAL}, hv)) {
      Refuses("exclude_idle", "exclude_idle", kAny, idle);
      Refuses("exclude_host", "exclude_host", kAny, host);
    }
    if (facts_.sampling.ok() && facts_.precise.value == 0) {
      Refuses("precise", "precise_ip = 1", kAny, precise, samples);
    } else if (facts_.sampling.ok()) {
      Refuses("precise_counting", "precise_ip = 1 without sampling", kAny, precise);
    }
    if (facts_.sampling.ok() && !facts_.branches.ok()) {
      facts_.refused.emplace_back("branch_stack", facts_.branches);
    }
    bool extended = false;
    for (unsigned bit = 0; bit < 64 && !extended; ++bit) {
      extended =
          Refuses("extended_registers", "bit " + std::to_string(bit) + " of sample_regs_intr",
                  {EOPNOTSUPP}, [bit](perf_event_attr& attr) {
                    attr.sample_type = PERF_SAMPLE_REGS_INTR;
                    attr.sample_regs_intr = std::uint64_t{1} << bit;
                  });
    }
    Refuses("aux_output", "aux_output", {EOPNOTSUPP},
            [](perf_event_attr& attr) { attr.aux_output = 1; });
    Refuses("clock", "use_clockid with CLOCK_REALTIME", {EINVAL}, [](perf_event_attr& attr) {
      attr.use_clockid = 1;
      attr.clockid = CLOCK_REALTIME;
    });
  }

  PmuFacts facts_;
  std::vector<Spec> specs_;
  std::vector<EventSpec> event_specs_;  // the events in facts_.events
  bool config2_ = false;                // sysfs has a format that uses config2
  int cpu_ = 0;
  bool per_cpu_ = false;
};

}  // namespace

PmuFacts ProbePmu(const std::string& pmu) {
  try {
    return Probe(pmu).Run();
  } catch (const Broken& broken) {
    throw ConfigError("probing " + pmu + ": " + broken.what());
  }
}

}  // namespace pmuconf

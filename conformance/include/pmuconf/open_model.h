// SPDX-License-Identifier: Apache-2.0
// What perf_event_open answers, as a table: every check of the call in the order in which the
// kernel makes them, so that of several things that are wrong the one that is told is known too.
//
// The model knows the kernel's own checks exactly. What a driver chooses comes from the target
// file's [refusals]: a check with a `choice` exists only where the file says it. It needs neither a
// kernel nor GoogleTest: a fuzz harness can ask it as well as a case.
#ifndef PMUCONF_OPEN_MODEL_H_
#define PMUCONF_OPEN_MODEL_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pmuconf {

// What `pid` names.
enum class OpenWho {
  kThisTask,
  kOtherTask,
  kEveryone,  // -1
  kNobody,    // a number that no task has
  kExited,    // a task that has exited and was not waited for
  kCgroup,    // a descriptor of a cgroup's folder; with PERF_FLAG_PID_CGROUP
  kFile,      // a descriptor of something else; with PERF_FLAG_PID_CGROUP
};

// What `cpu` names.
enum class OpenCpu { kAny, kFirst, kSecond, kOffline, kBeyond };

// What `group_fd` names.
enum class OpenGroup {
  kNone,  // -1
  kClosed,
  kFile,     // a descriptor of something else
  kLeader,   // an event without a buffer
  kSibling,  // a member of that event's group
  kBuffer,   // an event with a buffer
  kDead,     // an event whose task has exited
  kFull,     // the leader of so many that readings of one more would be too long
  kCrowded,  // the leader of as many members as the PMU has general counters, all enabled
};

// Another event that exists meanwhile: matters where a PMU is exclusive.
enum class OpenOther { kNone, kOnTask, kOnCpu };

// One call. The event behind group_fd belongs to `group_who` on `group_cpu`, keeps the default
// clock, is not inherited and writes forwards.
struct OpenCall {
  std::vector<std::byte> attr;  // 256 bytes
  std::size_t readable = 256;   // of them, those that the kernel can read
  OpenWho who = OpenWho::kThisTask;
  OpenCpu cpu = OpenCpu::kAny;
  OpenGroup group = OpenGroup::kNone;
  OpenWho group_who = OpenWho::kThisTask;
  OpenCpu group_cpu = OpenCpu::kAny;
  std::uint32_t group_type = 0;  // of the PMU of that event
  bool group_software = false;   // its events go into the groups of any PMU
  unsigned long flags = PERF_FLAG_FD_CLOEXEC;
  bool descriptors_left = true;
  OpenOther other = OpenOther::kNone;

  // The first 128 bytes of the attr.
  perf_event_attr Attr() const;
  void Edit(const std::function<void(perf_event_attr&)>& edit);
  // What has no name in the headers of every kernel, by its offset.
  template <typename T>
  void Put(std::size_t offset, T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    for (std::size_t i = 0; i < sizeof(T); ++i) attr[offset + i] = bytes[i];
  }
};

// Offsets in the attr.
inline constexpr std::size_t kOpenFlagBits = 40;
inline constexpr std::size_t kOpenReserved3 = 116;
inline constexpr std::size_t kOpenConfig3 = 128;

// The kernel, its settings, and what the caller may do.
struct OpenSystem {
  std::string release;  // "6.12.5-1"
  std::size_t page_size = 4096;
  std::uint64_t known_registers = ~0ull;    // of sample_regs_*, those that the architecture has
  std::uint64_t extended_registers = 0;     // of them, those that a PMU has to support
  std::uint64_t max_sample_rate = 100'000;  // kernel.perf_event_max_sample_rate
  int max_stack = 127;                      // kernel.perf_event_max_stack
  int paranoid = 2;                         // kernel.perf_event_paranoid
  bool administrator = true;                // CAP_SYS_ADMIN, CAP_PERFMON and CAP_KILL, all or none
  bool paranoid_any = true;                 // paranoid 3 refuses everyone but CAP_SYS_ADMIN
  bool lockdown = false;                    // confidentiality: the kernel keeps what it holds
  int offline_cpu = -1;                     // one that is there and off; -1: none is
};

struct OpenCheck;

// What a PMU counts: enough to open an event of it.
struct OpenEvent {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  std::uint32_t bp_type = 0;
  bool for_all = false;  // a tracepoint whose raw data each task may have of itself
};

// A PMU, and what its target file says that its driver refuses.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct OpenPmu {
  std::uint32_t type = 0;
  std::uint64_t config = 0;  // of an event that it accepts
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  bool tasks = true;      // events can follow a task
  bool cpu_local = true;  // every CPU has counters of its own; else events are where the PMU is
  std::size_t cpus = 2;   // on which it counts
  std::map<std::string, int, std::less<>> refusals = {};
  bool software = false;  // its events go into the groups of any PMU
  bool generic = false;   // it answers to PERF_TYPE_HARDWARE, _HW_CACHE and _RAW as well
  bool extended = false;  // generic events may name it
  std::uint64_t min_period = 1;
  // What its driver refuses, if that is known check by check; else the target file's choices.
  std::span<const OpenCheck> driver = {};
  // Some that it takes. None: of this PMU no more is known than that its type is taken.
  std::vector<OpenEvent> events = {};

  bool Refuses(std::string_view what) const { return refusals.contains(what); }
};

// What a check looks at.
struct OpenFacts;

// One check. `error` 0: the target's choice. The members stand in the order in which a row reads.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct OpenCheck {
  std::string_view rule;     // of the catalogue
  std::string_view name;     // what is wrong
  std::string_view kernels;  // that check it here
  int error = 0;
  bool (*refuses)(const OpenFacts& facts) = nullptr;
  bool parser = false;           // of the attr alone: PERF_EVENT_IOC_MODIFY_ATTRIBUTES has it too
  std::string_view choice = {};  // of [refusals]
};

// In the order in which they are made; those of different kernels stand where they are made there.
std::span<const OpenCheck> OpenChecks();
// Of them, those of an event that a PMU has taken.
std::span<const OpenCheck> OpenEventChecks();

// What is told, and which check tells it; without one the event is opened.
struct OpenAnswer {
  int error = 0;
  const OpenCheck* check = nullptr;
};

class OpenModel {
 public:
  // `others`: the other PMUs of the machine. Throws ConfigError for a release that is none.
  explicit OpenModel(OpenSystem system, OpenPmu pmu, std::vector<OpenPmu> others = {});

  const OpenSystem& system() const { return system_; }
  const OpenPmu& pmu() const { return pmus_.front(); }
  const std::vector<OpenPmu>& pmus() const { return pmus_; }  // the target's first
  std::size_t attr_size() const { return attr_size_; }        // the kernel's

  // A call that opens an event of the PMU.
  OpenCall Good() const;
  OpenAnswer Predict(const OpenCall& call) const;
  // PERF_EVENT_IOC_MODIFY_ATTRIBUTES with that attr, on an event that Good() opened.
  OpenAnswer PredictModify(const OpenCall& call) const;

 private:
  // The checks that this kernel makes, in three parts.
  struct Checks {
    std::vector<const OpenCheck*> call;                 // before a PMU is looked for
    std::vector<std::vector<const OpenCheck*>> driver;  // of each PMU
    std::vector<std::vector<const OpenCheck*>> event;   // once a PMU has taken the event
  };
  OpenFacts Read(const OpenCall& call) const;
  // Those that are asked about the event, one after the other: by their places in pmus().
  std::vector<std::size_t> Asked(OpenFacts& facts) const;
  OpenAnswer Told(const OpenCheck& check, const OpenPmu& pmu) const;
  OpenAnswer First(const std::vector<const OpenCheck*>& checks, const OpenFacts& facts) const;

  OpenSystem system_;
  std::vector<OpenPmu> pmus_;
  std::size_t attr_size_ = 0;
  bool software_by_type_ = false;
  Checks checks_;
};

// One thing to do wrong, by itself or with others.
struct OpenViolation {
  std::string_view name;
  void (*apply)(OpenCall& call) = nullptr;
  std::string_view kernels = ">=6.1";
  // Where it can be done: the PMU takes tasks; it is there on two CPUs, with counters of their own;
  // [refusals] says what comes.
  bool tasks = false;
  bool cpu_local = false;
  std::string_view choice = {};
};
std::span<const OpenViolation> OpenViolations();

// Those that can be done to this PMU on this kernel.
std::vector<const OpenViolation*> OpenViolationsOf(const OpenModel& model);

}  // namespace pmuconf

#endif  // PMUCONF_OPEN_MODEL_H_

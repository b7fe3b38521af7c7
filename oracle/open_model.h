// SPDX-License-Identifier: Apache-2.0
// The errno model of perf_event_open(2): a table of every check, in the order of the kernel. So the
// model also predicts the errno of a call with several errors.
//
// The model contains the kernel's own checks. A driver's choices come from [refusals] of the target
// file: a check with a `choice` applies only if the file has that key. The model needs neither a
// kernel nor GoogleTest, so cases and fuzz harnesses can both use it.
#ifndef PMUCONF_ORACLE_OPEN_MODEL_H_
#define PMUCONF_ORACLE_OPEN_MODEL_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/open_behaviour.h"

namespace pmuconf {

// The meaning of the argument `pid`.
enum class OpenWho {
  kThisTask,
  kOtherTask,
  kAllTasks,  // -1
  kNoTask,    // a number that no task has
  kExited,    // a task that has exited but was not waited for
  kCgroup,    // a descriptor of a cgroup's directory; with PERF_FLAG_PID_CGROUP
  kFile,      // a descriptor of another file; with PERF_FLAG_PID_CGROUP
};

// The meaning of the argument `cpu`.
enum class OpenCpu { kAny, kFirst, kSecond, kOffline, kInvalid };

// The meaning of the argument `group_fd`.
enum class OpenGroup {
  kNone,  // -1
  kClosed,
  kFile,           // a descriptor that is no event
  kLeader,         // an event without a ring buffer
  kSibling,        // a member of that event's group
  kBuffer,         // an event with a ring buffer
  kExitedTask,     // an event whose task has exited
  kReadSizeLimit,  // the leader of a group so large that a reading of one more member would be too
                   // long
  kAllCounters,    // the leader of as many enabled members as the PMU has general counters
};

// Another event that exists during the call. It matters for exclusive PMUs only.
enum class OpenOther { kNone, kOnTask, kOnCpu };

// The arguments of one call. The event behind group_fd belongs to `group_who` on `group_cpu`, uses
// the default clock, is not inherited and does not write backward.
struct OpenCall {
  std::vector<std::byte> attr;  // 256 bytes
  std::size_t readable = 256;   // number of bytes of `attr` that the kernel can read
  OpenWho who = OpenWho::kThisTask;
  OpenCpu cpu = OpenCpu::kAny;
  OpenGroup group = OpenGroup::kNone;
  OpenWho group_who = OpenWho::kThisTask;
  OpenCpu group_cpu = OpenCpu::kAny;
  std::uint32_t group_type = 0;  // type of the PMU of the event behind group_fd
  bool group_software = false;   // that event may be in a group of any PMU
  unsigned long flags = PERF_FLAG_FD_CLOEXEC;
  bool descriptors_available = true;
  OpenOther other = OpenOther::kNone;

  // Returns the first 128 bytes of the attr.
  perf_event_attr Attr() const;
  void Edit(const std::function<void(perf_event_attr&)>& edit);
  // Sets a field by its offset, for fields that the headers of some supported kernels lack.
  template <typename T>
  void Put(std::size_t offset, T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    for (std::size_t i = 0; i < sizeof(T); ++i) attr[offset + i] = bytes[i];
  }
};

inline constexpr std::size_t kOpenFlagBits = 40;
inline constexpr std::size_t kOpenReserved3 = 116;
inline constexpr std::size_t kOpenConfig3 = 128;
inline constexpr std::size_t kOpenConfig4 = 136;

// The kernel, its settings, and the privileges of the caller.
struct OpenSystem {
  std::string release;  // "6.12.5-1", for reports
  OpenBehaviour behaviour = {};
  std::size_t page_size = 4096;
  std::uint64_t known_registers = ~0ull;    // sample_regs_* bits that the architecture has
  std::uint64_t extended_registers = 0;     // of these, the bits that need support by the PMU
  std::uint64_t max_sample_rate = 100'000;  // kernel.perf_event_max_sample_rate
  int max_stack = 127;                      // kernel.perf_event_max_stack
  int paranoid = 2;                         // kernel.perf_event_paranoid
  bool administrator = true;                // CAP_SYS_ADMIN, CAP_PERFMON and CAP_KILL: all or none
  // With kernel.perf_event_paranoid = 3 the kernel requires CAP_SYS_ADMIN for every event.
  bool paranoid_any = true;
  bool lockdown = false;  // confidentiality: the kernel does not disclose its memory
  int offline_cpu = -1;   // a CPU that is present and offline; -1: none
};

struct OpenCheck;

// An event of a PMU: the fields that are needed to open it.
struct OpenEvent {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  std::uint32_t bp_type = 0;
  bool cap_any = false;  // a tracepoint whose raw data an unprivileged task may sample for itself
};

// A PMU, and the errors that its target file states for its driver.
struct OpenPmu {
  std::uint32_t type = 0;
  std::uint64_t config = 0;  // config to config2: of an event that it accepts
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  std::uint32_t bp_type = 0;
  bool tasks = true;  // events can follow a task
  // Every CPU has counters; false: the kernel moves events to the CPU of the PMU.
  bool cpu_local = true;
  std::size_t cpus = 2;  // number of CPUs that have the PMU
  std::map<std::string, int, std::less<>> refusals = {};
  bool software = false;  // its events may be in a group of any PMU
  bool generic = false;  // it also accepts PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE and PERF_TYPE_RAW
  bool extended = false;  // generic events may name it in the upper half of config
  std::uint64_t min_period = 1;
  // The checks of its driver if the model knows them; else the choices of the target file apply.
  std::span<const OpenCheck> driver = {};
  // Some events that it accepts. Empty: the model knows only the type of this PMU.
  std::vector<OpenEvent> events = {};

  bool Refuses(std::string_view what) const { return refusals.contains(what); }
};

// The input of a check (open_facts.h).
struct OpenFacts;

// Whether a kernel with that behaviour is meant. nullptr: each kernel.
using OpenWhere = bool (*)(const OpenBehaviour& behaviour);
constexpr bool Includes(OpenWhere where, const OpenBehaviour& behaviour) {
  return where == nullptr || where(behaviour);
}

// One check. `error` is 0 if the target file states the errno. The order of the members is the
// order in which a row of the table reads.
struct OpenCheck {
  std::string_view rule;      // id in the catalogue
  std::string_view name;      // the error, in words
  OpenWhere where = nullptr;  // kernels that make the check at this position
  int error = 0;
  bool (*refuses)(const OpenFacts& facts) = nullptr;
  bool parser = false;  // of the attr alone, so PERF_EVENT_IOC_MODIFY_ATTRIBUTES makes it too
  std::string_view choice = {};  // key in [refusals]
};

// Returns all checks in the order of the kernel. A check that kernels make at different positions
// has a row for each position.
std::span<const OpenCheck> OpenChecks();
// Returns those of them that the kernel makes after a driver has accepted the event.
std::span<const OpenCheck> OpenEventChecks();

// The predicted errno and the check that returns it. Without a check the event opens.
struct OpenPrediction {
  int error = 0;
  const OpenCheck* check = nullptr;
  // The errnos of all checks of the driver that refuse the call, if `check` is one of them and the
  // target file states them. A driver may make its own checks in any order, so each is right.
  std::vector<int> any_of = {};
};

class OpenModel {
 public:
  // `others`: the other PMUs of the machine.
  explicit OpenModel(OpenSystem system, OpenPmu pmu, std::vector<OpenPmu> others = {});

  const OpenSystem& system() const { return system_; }
  const OpenPmu& pmu() const { return pmus_.front(); }
  const std::vector<OpenPmu>& pmus() const { return pmus_; }  // the target's PMU comes first
  // The size of struct perf_event_attr in this kernel.
  std::size_t attr_size() const { return system_.behaviour.attr_size; }

  // Returns a call that opens an event of the PMU.
  OpenCall ValidCall() const;
  OpenPrediction Predict(const OpenCall& call) const;
  // Predicts only the checks before the kernel looks for a PMU, which hold for every driver.
  OpenPrediction PredictBeforePmu(const OpenCall& call) const;
  // Predicts PERF_EVENT_IOC_MODIFY_ATTRIBUTES with that attr, on an event that ValidCall() opened.
  OpenPrediction PredictModify(const OpenCall& call) const;

 private:
  struct Checks {
    std::vector<const OpenCheck*> call;                 // before the kernel looks for a PMU
    std::vector<std::vector<const OpenCheck*>> driver;  // by the driver, for each PMU
    // After a driver has accepted the event, for each PMU.
    std::vector<std::vector<const OpenCheck*>> event;
  };
  OpenFacts Read(const OpenCall& call) const;
  // Returns the indices in pmus() of the PMUs that the kernel tries, in order. Moves the PMU that a
  // generic event names out of facts.attr.config.
  std::vector<std::size_t> CandidatePmus(OpenFacts& facts) const;
  OpenPrediction PredictionFor(const OpenCheck& check, const OpenPmu& pmu) const;
  OpenPrediction FirstFailing(const std::vector<const OpenCheck*>& checks,
                              const OpenFacts& facts) const;

  OpenSystem system_;
  std::vector<OpenPmu> pmus_;
  Checks checks_;
};

// One change that makes a call invalid, alone or combined with others.
struct OpenViolation {
  std::string_view name;
  void (*apply)(OpenCall& call) = nullptr;
  OpenWhere where = nullptr;
  // Requirements: `tasks`, events can follow a task; `cpu_local`, two CPUs have the PMU, each with
  // its own counters; `choice`, this key is in [refusals].
  bool tasks = false;
  bool cpu_local = false;
  std::string_view choice = {};
};
std::span<const OpenViolation> OpenViolations();

// Returns the violations that apply to this PMU on this kernel.
std::vector<const OpenViolation*> ApplicableViolations(const OpenModel& model);

}  // namespace pmuconf

#endif  // PMUCONF_ORACLE_OPEN_MODEL_H_

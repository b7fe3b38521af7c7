// SPDX-License-Identifier: Apache-2.0
// Finds the callbacks of a PMU through one of its events, and attaches the programs to them.
#include "tools/watch/watcher.h"

#include <bpf/btf.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "perf/bpf.h"
#include "system/broken.h"
#include "system/cpu.h"
#include "system/sysfs.h"
#include "target/target.h"
#include "tools/watch/watch.h"
#include "watch.skel.h"

namespace pmuconf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kCallbacks[] = {
#define X(name) #name,
    WATCH_CALLBACKS(X)
#undef X
        "(overflow)",
};

struct Kind {
  const char* name;
  const char* rule;
  const char* text;
  const char* values;
};
constexpr Kind kKinds[] = {
#define X(name, rule, text, values, calls) {#name, rule, text, values},
    WATCH_BREACHES(X)
#undef X
};

std::string Folder(const std::string& pmu) { return std::string(kEventSource) + "/" + pmu; }

// Opens an event that is never enabled. The programs find struct pmu through it.
Fd TryEvent(const std::string& pmu, std::uint32_t type, const Configs& configs) {
  perf_event_attr attr = {};
  attr.size = PERF_ATTR_SIZE_VER7;
  attr.type = type;
  attr.config = configs.config;
  attr.config1 = configs.config1;
  attr.config2 = configs.config2;
  attr.config3 = configs.config3;
  attr.config4 = configs.config4;
  if (configs.config3 != 0) attr.size = PERF_ATTR_SIZE_VER8;
  if (configs.config4 != 0) attr.size = PERF_ATTR_SIZE_VER9;
  attr.disabled = 1;
  const auto cpus = ParseCpuList(
      ReadFile(Folder(pmu) + "/cpumask").value_or(ReadFile(Folder(pmu) + "/cpus").value_or("")));
  const int cpu = cpus && !cpus->empty() ? cpus->front() : OnlineCpus().front();
  SysResult result = TryOpenRaw(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (!result.ok()) result = TryOpenRaw(&attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  errno = result.error;
  return Fd(result.ok() ? static_cast<int>(result.value) : -1);
}

Fd AnyEvent(const std::string& pmu, const std::string& event) {
  const std::string folder = Folder(pmu);
  const std::uint32_t type = TypeOfPmu(pmu);
  if (!event.empty()) {
    const std::string terms = ReadFile(folder + "/events/" + event).value_or(event);
    const auto configs = ReadTerms(folder, terms);
    if (!configs) {
      throw ConfigError("--event '" + event + "' is neither in " + folder +
                        "/events nor made of terms of " + folder + "/format");
    }
    Fd fd = TryEvent(pmu, type, *configs);
    if (fd.get() < 0) throw ConfigError("--event '" + event + "': " + std::strerror(errno));
    return fd;
  }
  int error = 0;
  for (const std::string& name : ListFolder(folder + "/events")) {
    const auto configs = ReadTerms(folder, ReadFile(folder + "/events/" + name).value_or(""));
    if (!configs) continue;  // a scale, a unit, or an event with a parameter
    Fd fd = TryEvent(pmu, type, *configs);
    if (fd.get() >= 0) return fd;
    error = errno;
  }
  Fd fd = TryEvent(pmu, type, {});
  if (fd.get() >= 0) return fd;
  if (error == 0) error = errno;
  if (error == EACCES || error == EPERM) {
    throw ConfigError("no right to open an event of " + pmu + ": watching needs root");
  }
  throw ConfigError("no event of " + pmu + " can be opened (" + std::strerror(error) +
                    "): name one with --event");
}

// Returns the type of the PMU "kprobe", which attaches the programs.
std::uint32_t KprobeType() {
  if (!ReadFile(Folder("kprobe") + "/type")) {
    throw ConfigError("this kernel has no kprobes (CONFIG_KPROBE_EVENTS)");
  }
  return TypeOfPmu("kprobe");
}

Skeleton<watch_bpf> Load(const std::string& btf) {
  if (!btf.empty()) {
    if (!std::ifstream(btf)) throw ConfigError("--btf " + btf + ": " + std::strerror(errno));
    SilenceLibbpf();
    struct btf* const types = btf__parse(btf.c_str(), nullptr);
    if (types == nullptr) throw ConfigError("--btf " + btf + ": the file has no BTF");
    btf__free(types);
  }
  if (btf.empty() && !ReadFile("/sys/kernel/btf/vmlinux")) {
    throw ConfigError(
        "this kernel has no BTF (/sys/kernel/btf/vmlinux; CONFIG_DEBUG_INFO_BTF), "
        "which is needed to read struct pmu: name a BTF file with --btf");
  }
  try {
    return Skeleton<watch_bpf>({}, btf);
  } catch (const Broken& broken) {
    throw ConfigError(std::string("the programs that watch cannot be loaded: ") + broken.what());
  }
}

// Returns the names of the functions at these addresses.
std::map<std::uint64_t, std::string> FunctionsAt(std::vector<std::uint64_t> addresses) {
  std::sort(addresses.begin(), addresses.end());
  std::map<std::uint64_t, std::string> names;
  std::ifstream symbols("/proc/kallsyms");
  for (std::string line; std::getline(symbols, line);) {
    std::istringstream fields(line);
    std::uint64_t address = 0;
    std::string kind, name;
    fields >> std::hex >> address >> kind >> name;
    if (std::binary_search(addresses.begin(), addresses.end(), address)) {
      names.emplace(address, name);
    }
  }
  return names;
}

}  // namespace

// The loaded programs and their kprobes.
class Watcher::Programs {
 public:
  Programs(const std::string& pmu, const std::string& event, const std::string& btf)
      : pmu_(pmu), event_(AnyEvent(pmu, event)), kprobe_type_(KprobeType()), bpf_(Load(btf)) {
    bpf()->bss->event_fd = static_cast<std::uint32_t>(event_.get());
    Find();
    const auto* const addresses = bpf()->bss->addresses;
    names_ = FunctionsAt({addresses, addresses + WATCH_overflow});
    if (!AreTypesOfThisKernel()) {
      throw ConfigError((btf.empty() ? "/sys/kernel/btf/vmlinux" : "--btf " + btf) +
                        ": not the types of this kernel, because PMU " + pmu +
                        " cannot be found with them");
    }
    event_.Reset();
    bpf()->bss->sees_enable = IsOwn(WATCH_pmu_enable) ? 1 : 0;
    // Attaches returns before entries: the programs ignore a return whose entry they missed.
    for (std::uint32_t i = 0; i < WATCH_overflow; ++i) {
      if (addresses[i] == 0) continue;
      unseen_[i] = IsOwn(i) ? Attach(bpf()->progs.returned, addresses[i], "", true, i)
                            : "its function, or a related one, serves other callbacks too";
      if (unseen_[i].empty()) {
        unseen_[i] = Attach(bpf()->progs.entered, addresses[i], "", false, i);
      }
    }
    // Without any watched callback there would be no breach for any driver.
    if (links_.empty()) {
      throw ConfigError("no callback of " + pmu + " can be watched: " + unseen_[WATCH_add]);
    }
    unseen_[WATCH_overflow] =
        Attach(bpf()->progs.overflow_returned, 0, "perf_event_overflow", true, WATCH_overflow);
    if (unseen_[WATCH_overflow].empty()) {
      unseen_[WATCH_overflow] =
          Attach(bpf()->progs.overflowed, 0, "perf_event_overflow", false, WATCH_overflow);
    }
    begin_ = Clock::now();
  }

  Watched Results() const {
    const auto& data = *bpf()->bss;
    Watched watched;
    watched.pmu = pmu_;
    utsname machine = {};
    uname(&machine);
    watched.release = machine.release;
    watched.arch = machine.machine;
    if (data.disable_count == 0) {
      watched.unjudged =
          "whether the PMU is disabled (DRC-044, DRC-082): this kernel does not tell where its "
          "data lies (CONFIG_KALLSYMS_ALL), or keeps count of it elsewhere";
    }
    watched.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    for (std::uint32_t i = 0; i < WATCH_CALLBACK_COUNT; ++i) {
      if (i != WATCH_overflow && data.addresses[i] == 0) continue;
      WatchedCalls calls;
      calls.name = kCallbacks[i];
      calls.function = i == WATCH_overflow ? "perf_event_overflow" : NameOf(data.addresses[i]);
      calls.unwatched = unseen_.contains(i) ? unseen_.at(i) : "";
      calls.calls = data.calls[i].calls;
      calls.longest = data.calls[i].longest;
      calls.total = data.calls[i].total;
      std::copy_n(data.calls[i].buckets, calls.buckets.size(), calls.buckets.begin());
      watched.calls.push_back(std::move(calls));
    }
    for (std::uint32_t i = 0; i < WATCH_BREACH_COUNT; ++i) {
      const auto& seen = data.seen[i];
      if (seen.times == 0) continue;
      WatchedBreach breach;
      breach.name = BreachName(kKinds[i].name);
      breach.rule = kKinds[i].rule;
      breach.text = kKinds[i].text;
      breach.times = seen.times;
      breach.callback = seen.callback < WATCH_CALLBACK_COUNT ? kCallbacks[seen.callback] : "?";
      if (kKinds[i].values[0] != '\0') {
        breach.values = std::string(kKinds[i].values) + ": expected " +
                        std::to_string(seen.expected) + ", found " + std::to_string(seen.found);
      }
      breach.type = seen.type;
      breach.config = seen.config;
      breach.flags = seen.flags;
      breach.cpu = seen.cpu;
      breach.pid = seen.pid;
      breach.command.assign(seen.comm, strnlen(seen.comm, sizeof(seen.comm)));
      watched.breaches.push_back(std::move(breach));
    }
    return watched;
  }

 private:
  Skeleton<watch_bpf>& bpf() const { return bpf_; }

  // BPF_PROG_TEST_RUN runs the program in this process, which has the descriptor of the event.
  void Find() {
    LIBBPF_OPTS(bpf_test_run_opts, options);
    const int error = bpf_prog_test_run_opts(ProgramFd(bpf()->progs.find_pmu), &options);
    if (error != 0) {
      throw ConfigError("struct pmu of " + pmu_ + " cannot be read: " + std::strerror(-error));
    }
  }

  // Returns whether the types match this kernel, by comparing values that the programs read with
  // known ones. With wrong types every check would read wrong fields.
  bool AreTypesOfThisKernel() const {
    const auto& data = *bpf()->bss;
    std::uint64_t id = 0;
    if (ioctl(event_.get(), PERF_EVENT_IOC_ID, &id) != 0 || data.event_id != id) return false;
    const std::uint32_t type = TypeOfPmu(pmu_);
    if (data.pmu_type != type || data.event_type != type) return false;
    if (names_.empty()) return true;  // kernel.kptr_restrict hides all addresses
    return std::all_of(data.addresses, data.addresses + WATCH_overflow,
                       [this](std::uint64_t at) { return at == 0 || names_.contains(at); });
  }

  // Returns whether no other callback has the same function. perf substitutes one empty function
  // for several callbacks that a driver lacks. The three callbacks of a transaction are watched all
  // or not at all.
  bool IsOwn(std::uint32_t callback) const {
    if (callback == WATCH_start_txn || callback == WATCH_commit_txn ||
        callback == WATCH_cancel_txn) {
      return IsSingle(WATCH_start_txn) && IsSingle(WATCH_commit_txn) && IsSingle(WATCH_cancel_txn);
    }
    return IsSingle(callback);
  }

  bool IsSingle(std::uint32_t callback) const {
    const auto* const addresses = bpf()->bss->addresses;
    return std::count(addresses, addresses + WATCH_overflow, addresses[callback]) == 1;
  }

  // Attaches the program to the function, by address or by name. Returns "", or why that failed.
  std::string Attach(const bpf_program* program, std::uint64_t address, const char* name,
                     bool at_return, std::uint32_t callback) {
    perf_event_attr attr = {};
    attr.size = PERF_ATTR_SIZE_VER7;
    attr.type = kprobe_type_;
    attr.config = at_return ? 1 : 0;
    if (address == 0) {
      attr.kprobe_func = reinterpret_cast<std::uintptr_t>(name);
    } else {
      attr.kprobe_addr = address;
    }
    const SysResult opened = TryOpenRaw(&attr, -1, OnlineCpus().front(), -1, PERF_FLAG_FD_CLOEXEC);
    if (!opened.ok()) return std::string("no kprobe: ") + std::strerror(opened.error);
    Event probe(Fd(static_cast<int>(opened.value)), attr);
    LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event = {.bpf_cookie = callback});
    const int link = bpf_link_create(ProgramFd(program), probe.fd(), BPF_PERF_EVENT, &options);
    if (link < 0) return std::string("no program on its kprobe: ") + std::strerror(-link);
    links_.emplace_back(link);
    probe.Enable();
    probes_.push_back(std::move(probe));
    return "";
  }

  std::string NameOf(std::uint64_t address) const {
    const auto name = names_.find(address);
    if (name != names_.end()) return name->second;
    char text[24];
    std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
    return text;
  }

  std::string pmu_;
  Fd event_;  // the programs find the PMU through it
  std::uint32_t kprobe_type_;
  mutable Skeleton<watch_bpf> bpf_;  // the kernel writes to its maps
  std::map<std::uint64_t, std::string> names_;
  std::map<std::uint32_t, std::string> unseen_;
  std::vector<Event> probes_;
  std::vector<BpfLink> links_;  // destroyed before probes_
  Clock::time_point begin_;
};

Watcher::Watcher(const std::string& pmu, const std::string& event, const std::string& btf)
    : programs_(std::make_unique<Programs>(pmu, event, btf)) {}

Watcher::~Watcher() = default;

Watched Watcher::Results() const { return programs_->Results(); }

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// reload: loads and unloads a PMU's module many times. In every second round each of its PMUs has
// an open event and a CPU goes offline and online. Prints JSON with refused unloads, remaining
// traces of the module, and memory growth. It reports facts without a judgement.
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "perf/event.h"
#include "system/broken.h"
#include "system/fd.h"
#include "system/sysfs.h"

namespace pmuconf {
namespace {

using Json = nlohmann::json;
using Names = std::set<std::string>;

constexpr char kDefaults[] = "defaults";  // stands for no parameters

struct Options {
  std::string module;
  std::string name = "refpmu";
  unsigned rounds = 100;
  std::vector<std::string> parameters = {kDefaults};
  std::vector<std::string> refused;
};

int Load(const Options& options, const std::string& parameters) {
  const Fd file(open(options.module.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw BrokenErrno(options.module, errno);
  const char* const fields = parameters == kDefaults ? "" : parameters.c_str();
  return syscall(SYS_finit_module, file.get(), fields, 0) == 0 ? 0 : errno;
}

int Unload(const Options& options) {
  return syscall(SYS_delete_module, options.name.c_str(), O_NONBLOCK) == 0 ? 0 : errno;
}

void Write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) throw BrokenErrno(path, errno);
}

Names Folder(const std::string& path) {
  const std::vector<std::string> names = ListFolder(path);
  return {names.begin(), names.end()};
}

// Returns field @field (from 0) of each line of a file with a table.
Names Column(const std::string& path, unsigned field) {
  Names names;
  std::istringstream lines(ReadFile(path).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string field_text;
    for (unsigned i = 0; i <= field; ++i) fields >> field_text;
    names.insert(field_text);
  }
  return names;
}

// Returns the functions of pending timers that belong to the module or have an address without a
// symbol.
Names Timers(const std::string& module) {
  Names names;
  std::istringstream lines(ReadFile("/proc/timer_list").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string number, place, function;
    fields >> number >> place >> function;
    if (number.empty() || number.front() != '#') continue;
    if (function.starts_with("0x") || line.find("[" + module + "]") != std::string::npos) {
      names.insert(function);
    }
  }
  return names;
}

// Returns the kernel's lists of named objects. An unloaded module must not appear in them.
std::map<std::string, Names> Traces(const std::string& module) {
  return {
      {"PMUs", Folder(kEventSource)},
      {"/dev", Folder("/dev")},
      {"misc devices", Column("/proc/misc", 1)},
      {"timers", Timers(module)},
      {"modules", Column("/proc/modules", 0)},
      {"interrupts", Column("/proc/interrupts", 0)},
      {"hotplug states", Column("/sys/devices/system/cpu/hotplug/states", 1)},
      {"kprobes", Column("/sys/kernel/debug/kprobes/list", 2)},
  };
}

Json Difference(const std::map<std::string, Names>& before,
                const std::map<std::string, Names>& after) {
  Json more = Json::array();
  for (const auto& [kind, names] : after) {
    for (const std::string& name : names) {
      if (!before.at(kind).contains(name)) more.push_back(kind + ": " + name);
    }
    for (const std::string& name : before.at(kind)) {
      if (!names.contains(name)) more.push_back(kind + " has lost: " + name);
    }
  }
  return more;
}

// The objects in each slab cache, and kilobytes of other memory, including free memory. Caches are
// shrunk first, because the kernel counts per-CPU free objects as used.
struct Memory {
  std::map<std::string, long> objects;
  std::map<std::string, long> kilobytes;
};

// Opens the `shrink` files of all caches. kmalloc-8 comes last, because the kernel copies the
// written text into it.
std::vector<Fd> Shrinkers() {
  std::vector<std::string> caches = ListFolder("/sys/kernel/slab");
  std::stable_partition(caches.begin(), caches.end(),
                        [](const std::string& cache) { return cache != "kmalloc-8"; });
  std::vector<Fd> files;
  for (const std::string& cache : caches) {
    const std::string path = "/sys/kernel/slab/" + cache + "/shrink";
    Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    // A merged cache leaves a dangling symlink.
    if (file.get() < 0 && errno == ENOENT) continue;
    if (file.get() < 0) throw BrokenErrno(path, errno);
    files.push_back(std::move(file));
  }
  return files;
}

// Rereads an open file of /proc.
std::istringstream Reread(const Fd& file) {
  std::string text;
  char part[4096];
  ssize_t n = 0;
  while ((n = pread(file.get(), part, sizeof(part), static_cast<off_t>(text.size()))) > 0) {
    text.append(part, static_cast<std::size_t>(n));
  }
  return std::istringstream(text);
}

Memory ReadMemory(const Fd& slabinfo, const Fd& meminfo) {
  Memory memory;
  std::istringstream caches = Reread(slabinfo);
  for (std::string line; std::getline(caches, line);) {
    std::istringstream fields(line);
    std::string name;
    long active = 0;
    if (fields >> name >> active) memory.objects[name] = active;
  }
  std::istringstream lines = Reread(meminfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    long kilobytes = 0;
    fields >> name >> kilobytes;
    if (name == "Percpu:" || name == "VmallocUsed:" || name == "MemFree:") {
      memory.kilobytes[name.substr(0, name.size() - 1)] = kilobytes;
    }
  }
  if (memory.objects.empty() || memory.kilobytes.size() != 3) {
    throw Broken("/proc/slabinfo and /proc/meminfo do not say what memory is used");
  }
  return memory;
}

// Measures memory in use, repeatedly until further grace periods free nothing more. The kernel
// counts a CPU's slab as fully used. So the last step before a reading shrinks the caches, through
// files that are already open.
Memory MeasureMemory() {
  constexpr int kGracePeriods = 32;
  const std::vector<Fd> shrinkers = Shrinkers();
  const Fd slabinfo(open("/proc/slabinfo", O_RDONLY | O_CLOEXEC));
  const Fd meminfo(open("/proc/meminfo", O_RDONLY | O_CLOEXEC));
  Memory last;
  for (int i = 0; i < kGracePeriods; ++i) {
    Write("/proc/sys/vm/drop_caches", "3\n");
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
    for (const Fd& file : shrinkers) {
      if (write(file.get(), "1", 1) != 1) throw BrokenErrno("shrinking a cache", errno);
    }
    Memory memory = ReadMemory(slabinfo, meminfo);
    if (memory.objects == last.objects) break;
    last = std::move(memory);
  }
  return last;
}

Json Growth(const std::map<std::string, long>& before, const std::map<std::string, long>& after) {
  Json growth = Json::object();
  for (const auto& [name, amount] : after) {
    const auto was = before.find(name);
    growth[name] = amount - (was == before.end() ? 0 : was->second);
  }
  return growth;
}

// Opens the first event of the PMU @name, on this task, or on a CPU if it does not support tasks.
Event OpenOn(const std::string& name) {
  const std::string folder = std::string(kEventSource) + "/" + name;
  EventSpec spec;
  spec.name = name;
  spec.type = static_cast<std::uint32_t>(std::stoul(ReadFile(folder + "/type").value_or("0")));
  for (const std::string& event : ListFolder(folder + "/events")) {
    const auto configs = ReadTerms(folder, ReadFile(folder + "/events/" + event).value_or(""));
    if (!configs) continue;
    spec.config = configs->config;
    break;
  }
  const perf_event_attr attr = MakeAttr(spec, {.disabled = false});
  SysResult opened = TryOpenRaw(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (!opened.ok()) opened = TryOpenRaw(&attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
  if (!opened.ok()) throw BrokenErrno("no event opens on " + name, opened.error);
  return Event(Fd(static_cast<int>(opened.value)), attr);
}

void SwitchCpu(bool on) { Write("/sys/devices/system/cpu/cpu1/online", on ? "1" : "0"); }

class Reloader {
 public:
  explicit Reloader(const Options& options) : options_(options) {}

  Json Run() {
    const std::map<std::string, Names> before = Traces(options_.name);
    for (unsigned i = 0; i < kWarmUp; ++i) Round(i);
    const Memory warm = MeasureMemory();
    const std::string taint = ReadFile("/proc/sys/kernel/tainted").value_or("");
    for (unsigned i = 0; i < options_.rounds; ++i) Round(i);
    for (const std::string& parameters : options_.refused) {
      for (unsigned i = 0; i < kRefusals; ++i) {
        const int error = Load(options_, parameters);
        if (error == 0) Unload(options_);
        refusals_[parameters].insert(error == 0 ? "loaded" : strerrorname_np(error));
      }
    }
    const Memory last = MeasureMemory();
    Json refusals = Json::object();
    for (const auto& [parameters, errors] : refusals_) refusals[parameters] = errors;
    return {{"rounds", options_.rounds},
            {"pmus", pmus_},
            {"unload_with_events", busy_},
            {"refusals", refusals},
            {"left_behind", Difference(before, Traces(options_.name))},
            {"taint_changed", taint != ReadFile("/proc/sys/kernel/tainted").value_or("")},
            {"object_growth", Growth(warm.objects, last.objects)},
            {"kilobyte_growth", Growth(warm.kilobytes, last.kilobytes)}};
  }

 private:
  // Rounds per set of parameters until all one-time allocations have happened.
  static constexpr unsigned kWarmUp = 12;
  static constexpr unsigned kRefusals = 5;

  void Round(unsigned i) {
    const std::string& parameters = options_.parameters[i / 2 % options_.parameters.size()];
    const Names before = Folder(kEventSource);
    if (const int error = Load(options_, parameters)) {
      throw BrokenErrno("loading with '" + parameters + "'", error);
    }
    Names pmus;
    for (const std::string& name : Folder(kEventSource)) {
      if (!before.contains(name)) pmus.insert(name);
    }
    pmus_[parameters] = pmus;
    if (i % 2 != 0) {
      WithEvents(pmus);
    } else {
      SwitchCpu(false);
      SwitchCpu(true);
    }
    if (const int error = Unload(options_)) throw BrokenErrno("unloading", error);
  }

  // Each event alone must prevent unloading, and so must all events together while a CPU is
  // offline.
  void WithEvents(const Names& pmus) {
    std::vector<Event> events;
    for (const std::string& name : pmus) {
      const Event event = OpenOn(name);
      TryUnload();
    }
    for (const std::string& name : pmus) events.push_back(OpenOn(name));
    SwitchCpu(false);
    TryUnload();
    SwitchCpu(true);
  }

  void TryUnload() {
    const int error = Unload(options_);
    if (error == 0) throw Broken("the module was unloaded although one of its events was open");
    busy_.insert(strerrorname_np(error));
  }

  Options options_;
  std::map<std::string, Names> pmus_;
  Names busy_;
  std::map<std::string, Names> refusals_;
};

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Loads and unloads a PMU's module many times; prints JSON.");
  app.add_option("--module", options.module, "file of the module")->required();
  app.add_option("--name", options.name, "name of the module")->capture_default_str();
  app.add_option("--rounds", options.rounds)->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--parameters", options.parameters,
                 "module parameters for two rounds, or 'defaults'; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--refused", options.refused,
                 "parameters that the module must refuse; may be repeated")
      ->allow_extra_args(false);
  CLI11_PARSE(app, argc, argv);
  std::cout << Reloader(options).Run().dump() << '\n';
  return 0;
}

}  // namespace
}  // namespace pmuconf

int main(int argc, char** argv) {
  try {
    return pmuconf::Main(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "reload: " << error.what() << '\n';
    return 2;
  }
}

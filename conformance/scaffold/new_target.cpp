// SPDX-License-Identifier: Apache-2.0
#include "scaffold/new_target.h"

#include <algorithm>

#include "scaffold/names.h"
#include "target/target.h"

namespace pmuconf::scaffold {
namespace {

// The smallest claims. A claim that a PMU does not meet fails a case, a missing one skips cases.
constexpr const char* kAlone = R"(kind = "core"     # core | uncore | trace | software | tracepoint
kernel = ">=6.1"  # kernels that have the PMU
slowness = 1.0    # factor for the deadline of each case

# The guest that `make run` boots. If a module has the PMU, add: module = "NAME"
[vm]
smp = 2
memory_mb = 512

# The counters: take the numbers from the manual of the hardware. The kinds software, tracepoint and trace do not have
# this table. The kind trace has [trace] instead, with the size of a record in bytes: record = 64
[counters]
general = 1  # 1 to 32
fixed = 0    # 0 to 16
width = 32   # bits of a counter, 16 to 64

# Overflow interrupts. Delete this table if the counters raise none.
[sampling]
min_period = 1     # shortest sample period that the PMU accepts
frequency = false  # frequency mode

# Optional features.
[features]
excludes = false    # exclude_user and exclude_kernel
filters = false     # formats edge, inv and cmask, as on x86
addresses = false   # data addresses in samples of events that are not precise
user_reads = false  # user space reads the counters of its own events
precise = 0         # highest precise_ip, 0 to 3
branches = 0        # maximum number of branches in a sample

# The errno of each request that the PMU refuses, for example: exclude_idle = "EOPNOTSUPP"
[refusals]

# One entry for each event. With a stimulus, the cases that count can run: see docs/targets.md. An entry [[cache]] for
# PERF_TYPE_HW_CACHE, and a stimulus "port" or "clock", need a `port` in [target].
[[event]]
name = "cycles"     # as in sysfs; a name that sysfs lacks needs a `code`
stimulus = "none"   # nothing causes the event on purpose
counters = "all"    # for example "0-3,f1": general and fixed counters
accuracy = "exact"  # or { abs = 3 } or { rel = 0.02 }
)";

constexpr const char* kBased = R"(
# The tables below change keys of the base. To change one, delete the '#' before it and before its table.

# The guest that `make run` boots.
#[vm]
#smp = 2

# Number and width of the counters.
#[counters]
#general = 4

# Overflow interrupts.
#[sampling]
#min_period = 1

# Optional features.
#[features]
#excludes = true

# The errno of each request that the PMU refuses.
#[refusals]
#exclude_idle = "EOPNOTSUPP"

# An entry with a name of the base changes that entry. Others are added, and need all keys. [[cache]] works alike.
#[[event]]
#name = "yours"
#code = 0x01
#counters = "all"
#accuracy = "exact"
)";

std::string Alone(const TargetRequest& request) {
  const std::string pmu = request.pmu.empty() ? request.name : request.pmu;
  return "[target]\nname = " + TomlString(request.name) + "\nmatch = " + TomlString(pmu) +
         "  # glob under /sys/bus/event_source/devices\n" + kAlone;
}

std::string Based(const TargetRequest& request) {
  std::string text = "base = " + TomlString(request.base) +
                     "\n# Parts of the base that this PMU lacks, for example: "
                     "\"features.precise\", \"event.mem-loads\", \"cache.LL *\"\nwithout = []\n\n" +
                     "[target]\nname = " + TomlString(request.name) + "\n";
  if (!request.pmu.empty()) {
    text += "match = " + TomlString(request.pmu) + "  # glob under /sys/bus/event_source/devices\n";
  }
  return text + kBased;
}

bool IsName(const std::string& name) {
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

}  // namespace

Scaffold NewTarget(const Checkout& checkout, const TargetRequest& request) {
  if (!IsName(request.name)) {
    throw ConfigError("target name '" + request.name +
                      "' must begin with a small letter, and have small letters, digits and '_'");
  }
  if (request.pmu.find('/') != std::string::npos) {
    throw ConfigError("--pmu '" + request.pmu +
                      "' must be a name below /sys/bus/event_source/devices, not a path");
  }
  const auto known = checkout.Targets();
  if (!request.base.empty() && std::find(known.begin(), known.end(), request.base) == known.end()) {
    throw ConfigError("unknown --base '" + request.base + "' (known: " + Joined(known) + ")");
  }
  const std::string path = std::string(kTargets) + "/" + request.name + ".toml";
  if (checkout.Exists(path)) throw ConfigError(path + " exists already");
  const std::string text =
      "# SPDX-License-Identifier: Apache-2.0\n# docs/targets.md describes all keys. Claim only "
      "what the PMU does: cases verify each claim.\n" +
      (request.base.empty() ? Alone(request) : Based(request));
  Target::Parse(text, checkout.root() + "/" + path);  // an argument may make the file invalid

  Scaffold scaffold;
  scaffold.changes.push_back({path, text, true});
  const std::string guest = "make run TARGET=" + path;
  if (request.base.empty()) {
    scaffold.notes.push_back("in a guest: " + guest);
    scaffold.next = "build/guest/conformance/pmuconf run --target " + path;
  } else {
    scaffold.next = guest;
  }
  return scaffold;
}

}  // namespace pmuconf::scaffold

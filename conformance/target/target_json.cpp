// SPDX-License-Identifier: Apache-2.0
// Prints a target as JSON.
#include "target/target_json.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "target/target_base.h"

namespace pmuconf {
namespace {

using Json = nlohmann::ordered_json;

Json OrNull(const std::string& value) { return value.empty() ? Json() : Json(value); }

Json Machine(const MachineClaim& machine) {
  return {{"arch", OrNull(machine.arch)},
          {"kernel", OrNull(machine.kernel)},
          {"accel", OrNull(machine.accel)},
          {"cpu", OrNull(machine.cpu)},
          {"cmdline", machine.cmdline},
          {"parameters", machine.parameters},
          {"smp", machine.cpus},
          {"memory_mb", machine.memory_mb},
          {"icount", machine.icount == 0 ? Json() : Json(machine.icount)},
          {"work", machine.work},
          {"device", machine.devices},
          {"driver", machine.drivers}};
}

}  // namespace

std::string MergedTarget(const TargetText& file, const FindBase& find_base) {
  Target::Parse(file.text, file.path, find_base);
  std::ostringstream toml;
  toml << ReadWithBase(file.text, file.path, find_base) << "\n";
  return toml.str();
}

std::string TargetAsJson(const TargetText& file, const FindBase& find_base) {
  const Target target = Target::Parse(file.text, file.path, find_base);
  const Json json = {{"name", target.name()},
                     {"path", target.path()},
                     {"match", target.match()},
                     {"module", OrNull(target.module())},
                     {"slowness", target.slowness()},
                     {"vm", Machine(target.machine())},
                     {"toml", MergedTarget(file, find_base)}};
  return json.dump(1) + "\n";
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Writes the profile as JSON.
#include <nlohmann/json.hpp>

#include "tools/profile/report.h"

namespace pmuconf::profile {
namespace {

using Json = nlohmann::json;

const char* KindName(FrameKind kind) {
  switch (kind) {
    case FrameKind::kCommand:
      return "command";
    case FrameKind::kUser:
      return "user";
    case FrameKind::kInlined:
      return "inlined";
    case FrameKind::kKernel:
      return "kernel";
  }
  return "";
}

}  // namespace

void WriteJson(const Report& report, std::ostream& out) {
  const Facts& facts = report.facts;
  const Count total = report.stacks.Total();
  Json json = {{"event", facts.event},
               {"frequency", facts.frequency},
               {"period", facts.period},
               {"seconds", facts.seconds},
               {"cpus", facts.cpus},
               {"samples", total.samples},
               {"events", total.events},
               {"lost", facts.lost},
               {"records_lost", facts.records_lost},
               {"throttled", facts.throttled}};
  Json& modules = json["modules"] = Json::array();
  for (const ModuleInfo& module : report.modules) {
    modules.push_back({{"path", module.path}, {"build_id", module.build_id}});
  }
  Json& frames = json["frames"] = Json::array();
  for (FrameId id = 0; id < report.stacks.frames(); ++id) {
    const Frame& frame = report.stacks.frame(id);
    Json entry = {{"kind", KindName(frame.kind)}, {"name", frame.name}, {"module", frame.module}};
    if (!frame.Known()) entry["offset"] = frame.offset;
    frames.push_back(std::move(entry));
  }
  // Names from files may be invalid UTF-8.
  const auto text = [](const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  // Writes stacks one by one, because a second copy of all would need too much memory.
  std::string head = text(json);
  head.back() = ',';
  out << head << "\"stacks\":[";
  const char* between = "";
  const auto& nodes = report.stacks.nodes();
  for (StackStore::NodeId node = 1; node < nodes.size(); ++node) {
    const Count& self = nodes[node].self;
    if (self.samples == 0) continue;
    out << between
        << text({{"frames", report.stacks.Stack(node)},
                 {"samples", self.samples},
                 {"events", self.events}});
    between = ",\n";
  }
  out << "]}\n";
}

}  // namespace pmuconf::profile

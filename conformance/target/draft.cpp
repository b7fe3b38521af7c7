// SPDX-License-Identifier: Apache-2.0
// Writes the findings of a probe as a target file.
#include <algorithm>
#include <sstream>

#include "perf/matchers.h"
#include "stimulus/work/work.h"
#include "target/probe.h"

namespace pmuconf {
namespace {

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

class Writer {
 public:
  void Table(const std::string& name) { os_ << "\n" << name << "\n"; }
  void Comment(const std::string& text) { os_ << "# " << text << "\n"; }
  void Line(const std::string& key, const std::string& value, const std::string& how) {
    std::string line = key + " = " + value;
    line.resize(std::max(line.size(), kColumn), ' ');
    os_ << line << " # " << how << "\n";
  }
  std::string Text() const { return os_.str(); }

 private:
  static constexpr std::size_t kColumn = 26;
  std::ostringstream os_;
};

std::string Range(unsigned n) { return n <= 1 ? "0" : "0-" + std::to_string(n - 1); }

void WriteCounters(const PmuFacts& facts, Writer* out) {
  out->Table("[counters]");
  out->Line("general", std::to_string(facts.general.value), facts.general.how);
  if (facts.fixed.value > 0) {
    out->Line("fixed", std::to_string(facts.fixed.value), facts.fixed.how);
  }
  out->Line("width", std::to_string(facts.width.value), facts.width.how);
}

void WriteSampling(const PmuFacts& facts, Writer* out) {
  if (!facts.sampling.ok()) return;
  out->Table("[sampling]");
  out->Comment(facts.sampling.how);
  out->Line("min_period", std::to_string(facts.min_period.value), facts.min_period.how);
  out->Line("frequency", facts.frequency.ok() ? "true" : "false", facts.frequency.how);
}

void WriteFeatures(const PmuFacts& facts, Writer* out) {
  out->Table("[features]");
  const bool excludes = facts.exclude_user.ok() && facts.exclude_kernel.ok();
  out->Line("excludes", excludes ? "true" : "false",
            facts.exclude_user.how + "; " + facts.exclude_kernel.how);
  out->Line("filters", facts.filters ? "true" : "false",
            facts.filters ? "sysfs has formats edge, inv and cmask"
                          : "sysfs has not all of the formats edge, inv and cmask");
  if (!facts.exclusive_formats.empty()) {
    std::string list;
    for (const std::string& name : facts.exclusive_formats) {
      list += (list.empty() ? "" : ", ") + Quoted(name);
    }
    out->Line("exclusive_formats", "[" + list + "]", "their bits overlap in sysfs");
  }
  if (!facts.sampling.ok() || !facts.limited()) return;
  out->Line("precise", std::to_string(facts.precise.value), facts.precise.how);
  out->Line("branches", std::to_string(facts.branches.value), facts.branches.how);
}

void WriteRefusals(const PmuFacts& facts, Writer* out) {
  if (facts.sampling.ok() && facts.task.ok() && facts.refused.empty()) return;
  out->Table("[refusals]");
  if (!facts.sampling.ok()) {
    out->Line("sampling", Quoted(ErrnoName(facts.sampling.error)), facts.sampling.how);
  }
  if (!facts.task.ok()) {
    out->Line("task", Quoted(ErrnoName(facts.task.error)), facts.task.how);
  }
  for (const auto& [key, finding] : facts.refused) {
    out->Line(key, Quoted(ErrnoName(finding.error)), finding.how);
  }
}

void WriteStimulus(const EventFacts& event, Writer* out) {
  out->Line("stimulus", Quoted(event.stimulus), event.counts);
  if (event.stimulus == "syscalls") {
    out->Line("syscall", "\"getppid\"", "the one that was called");
  }
  if (event.stimulus == "work") {
    out->Line("work", Quoted(std::string(ToString(event.work.kind))), event.work.text);
    if (*event.work.extra > 0) {
      out->Line("work_extra", std::to_string(*event.work.extra), "each command counted so many more");
    }
  }
  if (event.stimulus == "none" && !event.work.text.empty()) out->Comment(event.work.text);
  if (event.stimulus == "none") {
    out->Line("accuracy", "{ rel = 1.0 }", "nothing makes it happen a known number of times");
  } else {
    out->Line("accuracy", "\"exact\"", "it counted as often as it was made to happen");
  }
}

void WriteEvents(const PmuFacts& facts, Writer* out) {
  const auto general = static_cast<unsigned>(facts.general.value);
  unsigned fixed = 0;
  for (const EventFacts& event : facts.events) {
    out->Table("[[event]]");
    out->Line("name", Quoted(event.name),
              event.code ? "a number that opens; sysfs names no events" : facts.names_how);
    if (event.code) out->Line("code", std::to_string(*event.code), "attr.config");
    if (!facts.limited()) {
      WriteStimulus(event, out);
      continue;
    }
    const bool own = event.fixed && fixed < facts.fixed.value;
    const unsigned shared = std::min(own ? event.fit - 1 : event.fit, general);
    std::string counters = shared > 0 ? Range(shared) : "";
    std::string how = "a group takes " + std::to_string(event.fit) + " of it";
    if (own) {
      counters += (counters.empty() ? "f" : ",f") + std::to_string(fixed++);
      how += "; which fixed counter is a guess";
    }
    out->Line("counters", Quoted(counters), how);
    if (!event.generic.empty()) {
      out->Line("generic", Quoted(event.generic),
                "it has the name, and PERF_TYPE_HARDWARE with this PMU's type opens");
    }
    WriteStimulus(event, out);
  }
  if (facts.skipped.empty()) return;
  out->Table("# Left out, to be written by hand:");
  for (const std::string& skipped : facts.skipped) out->Comment(skipped);
}

}  // namespace

std::string WriteDraft(const PmuFacts& facts) {
  Writer out;
  out.Comment("Drafted by pmuconf probe " + facts.device + ": each line says how it was found.");
  out.Comment("Read it, correct what the hardware's manual knows better, and delete this line.");
  out.Table("[target]");
  out.Line("name", Quoted(facts.name.empty() ? facts.device : facts.name), "what reports call it");
  out.Line("match", Quoted(facts.device),
           "its folder below /sys/bus/event_source/devices; type " + std::to_string(facts.type));
  out.Line("kind", Quoted(facts.kind), facts.kind_how);
  if (facts.slowness != 1.0) {
    std::ostringstream factor;
    factor << facts.slowness;
    out.Line("slowness", factor.str(), "as requested");
  }
  if (facts.kind == "trace") {
    out.Table("[trace]");
    out.Line("record", "1", "bytes of a record: unknown; 1 claims nothing");
    WriteRefusals(facts, &out);
    return out.Text();
  }
  if (facts.limited()) WriteCounters(facts, &out);
  WriteSampling(facts, &out);
  WriteFeatures(facts, &out);
  WriteRefusals(facts, &out);
  WriteEvents(facts, &out);
  return out.Text();
}

}  // namespace pmuconf

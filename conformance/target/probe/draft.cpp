// SPDX-License-Identifier: Apache-2.0
// Makes the findings of a probe the lines of a target file.
#include <algorithm>
#include <sstream>

#include "perf/matchers.h"
#include "stimulus/work/work.h"
#include "target/probe.h"
#include "target/probe/counter_model.h"
#include "target/probe/draft_lines.h"

namespace pmuconf {
namespace {

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

std::string Bool(bool value) { return value ? "true" : "false"; }

class Writer {
 public:
  void Table(const std::string& name) { Add(DraftLine::Kind::kTable, name, "", "", {}); }
  void Comment(const std::string& text) { Add(DraftLine::Kind::kComment, "", "", text, {}); }
  void Line(const std::string& key, const std::string& value, const std::string& how, Sure sure) {
    Add(DraftLine::Kind::kValue, key, value, how, sure);
  }
  void Number(const std::string& key, const Finding& finding) {
    Line(key, std::to_string(finding.value), finding.how, finding.sure);
  }
  void Notes(const std::vector<Note>& notes) {
    for (const Note& note : notes) {
      Add(DraftLine::Kind::kNote, note.key, note.value, note.how, note.sure);
    }
  }
  std::vector<DraftLine> lines() const { return lines_; }

 private:
  void Add(DraftLine::Kind kind, const std::string& key, const std::string& value,
           const std::string& how, Sure sure) {
    lines_.push_back({kind, key, value, how, sure});
  }
  std::vector<DraftLine> lines_;
};

void WriteCounters(const PmuFacts& facts, Writer* out) {
  out->Table("[counters]");
  out->Number("general", facts.general);
  if (facts.fixed.value > 0) out->Number("fixed", facts.fixed);
  out->Number("width", facts.width);
}

void WriteSampling(const PmuFacts& facts, Writer* out) {
  if (!facts.sampling.ok()) return;
  out->Table("[sampling]");
  out->Comment(facts.sampling.how);
  out->Number("min_period", facts.shortest_period);
  out->Line("frequency", Bool(facts.frequency.ok()), facts.frequency.how, Sure::kMeasured);
  out->Notes(facts.sampling_notes);
}

void WriteFeatures(const PmuFacts& facts, Writer* out) {
  out->Table("[features]");
  const bool excludes = facts.exclude_user.ok() && facts.exclude_kernel.ok();
  out->Line("excludes", Bool(excludes), facts.exclude_user.how + "; " + facts.exclude_kernel.how,
            Sure::kMeasured);
  out->Line("filters", Bool(facts.filters),
            facts.filters ? "sysfs has formats edge, inv and cmask"
                          : "sysfs has not all of the formats edge, inv and cmask",
            Sure::kRead);
  if (!facts.groups) out->Line("groups", "false", facts.groups_how, Sure::kMeasured);
  if (facts.shared_counters) {
    out->Line("shared_counters", "true",
              "any number of one event counts, but not as many different ones", Sure::kMeasured);
  }
  if (!facts.exclusive_formats.empty()) {
    std::string list;
    for (const std::string& name : facts.exclusive_formats) {
      list += (list.empty() ? "" : ", ") + Quoted(name);
    }
    out->Line("exclusive_formats", "[" + list + "]", "their bits overlap in sysfs", Sure::kRead);
  }
  if (facts.limited()) {
    out->Line("user_reads", Bool(facts.user_reads.value != 0), facts.user_reads.how,
              facts.user_reads.sure);
  }
  out->Notes(facts.feature_notes);
  if (!facts.sampling.ok() || !facts.limited()) return;
  out->Number("precise", facts.precise);
  out->Number("branches", facts.branches);
}

void WriteRefusals(const PmuFacts& facts, Writer* out) {
  const bool tasks = facts.task.ok() && facts.no_cpu.ok();
  if (facts.sampling.ok() && tasks && facts.refused.empty()) return;
  out->Table("[refusals]");
  const auto refusal = [out](const std::string& key, const Finding& finding) {
    out->Line(key, Quoted(ErrnoName(finding.error)), finding.how, Sure::kMeasured);
  };
  if (!facts.sampling.ok()) {
    refusal(facts.core_refuses_sampling ? "no_interrupt" : "sampling", facts.sampling);
  }
  if (!facts.no_cpu.ok()) refusal("no_cpu", facts.no_cpu);
  if (!facts.task.ok()) refusal("task", facts.task);
  for (const auto& [key, finding] : facts.refused) refusal(key, finding);
}

std::string AccuracyText(const Accuracy& accuracy) {
  std::ostringstream os;
  os << "{ ";
  if (accuracy.abs > 0) os << "abs = " << accuracy.abs;
  if (accuracy.abs > 0 && accuracy.rel > 0.0) os << ", ";
  if (accuracy.rel > 0.0) os << "rel = " << accuracy.rel;
  os << " }";
  return os.str();
}

void WriteAccuracy(const EventFacts& event, Writer* out) {
  const Calibration& work = event.work;
  if (event.stimulus != "none" && !work.bound) {
    out->Line("accuracy", "\"exact\"", "it counted as often as it was made to happen",
              Sure::kMeasured);
  } else if (work.extra) {
    out->Line("accuracy", "\"exact\"", "it counts work exactly; another event has the stimulus",
              Sure::kMeasured);
  } else if (work.bound) {
    out->Line("accuracy", AccuracyText(*work.bound),
              "the bound of its shorter work; its longest work is within it, too", Sure::kMeasured);
  } else {
    out->Line("accuracy", "{ rel = 1.0 }", "nothing makes it happen a known number of times",
              Sure::kDefault);
  }
}

void WriteStimulus(const EventFacts& event, Writer* out) {
  const Calibration& work = event.work;
  out->Line("stimulus", Quoted(event.stimulus), event.counts,
            event.stimulus == "none" ? Sure::kDefault : Sure::kMeasured);
  if (event.stimulus == "syscalls") {
    out->Line("syscall", "\"getppid\"", "the one that was called", Sure::kMeasured);
  }
  if (event.stimulus == "work") {
    out->Line("work", Quoted(std::string(ToString(work.kind))), work.text, Sure::kMeasured);
    if (work.extra.value_or(0) > 0) {
      out->Line("work_extra", std::to_string(*work.extra), "each command counted so many more",
                Sure::kMeasured);
    }
  }
  if (event.stimulus == "work" && work.interrupts > 0) {
    out->Line("work_interrupts", std::to_string(work.interrupts),
              "each interrupt of the work added so many at most", Sure::kMeasured);
  }
  if (event.stimulus == "none" && !work.text.empty()) {
    out->Comment((work.extra || work.bound ? "It " : "Work is not its stimulus: it ") + work.text);
  }
  WriteAccuracy(event, out);
}

void WriteEvents(const PmuFacts& facts, Writer* out) {
  for (const EventFacts& event : facts.events) {
    out->Table("[[event]]");
    out->Line("name", Quoted(event.name), event.code ? facts.numbers_how : facts.names_how,
              event.code ? Sure::kDefault : Sure::kRead);
    if (event.code) out->Line("code", std::to_string(*event.code), "attr.config", Sure::kMeasured);
    if (!facts.limited()) {
      WriteStimulus(event, out);
      continue;
    }
    out->Line("counters", Quoted(CountersText(event.counters)), event.counters_how,
              event.counters_sure);
    if (!event.generic.empty()) {
      out->Line("generic", Quoted(event.generic),
                "it has the name, and PERF_TYPE_HARDWARE with this PMU's type opens",
                Sure::kMeasured);
    }
    WriteStimulus(event, out);
  }
  if (facts.omitted.empty()) return;
  out->Table("# Left out, to be written by hand:");
  for (const auto& [name, why] : facts.omitted) out->Comment(name + ": " + why);
}

}  // namespace

std::vector<DraftLine> DraftLines(const PmuFacts& facts) {
  Writer out;
  out.Comment("Drafted by pmuconf probe " + facts.device + ": each line says how it was found.");
  out.Comment("Read it, correct what the hardware's manual knows better, and delete this line.");
  out.Table("[target]");
  out.Line("name", Quoted(facts.name.empty() ? facts.device : facts.name), "what reports call it",
           Sure::kRead);
  out.Line("match", Quoted(facts.device),
           "its folder below /sys/bus/event_source/devices; type " + std::to_string(facts.type),
           Sure::kRead);
  out.Line("kind", Quoted(facts.kind), facts.kind_how,
           facts.kind == "trace" || facts.kind == "core" ? Sure::kMeasured : Sure::kRead);
  if (facts.slowness != 1.0) {
    std::ostringstream factor;
    factor << facts.slowness;
    out.Line("slowness", factor.str(), "as requested", Sure::kDefault);
  }
  if (facts.kind == "trace") {
    out.Table("[trace]");
    out.Line("record", "1", "bytes of a record: unknown; 1 claims nothing", Sure::kDefault);
    WriteRefusals(facts, &out);
    return out.lines();
  }
  if (facts.limited()) WriteCounters(facts, &out);
  if (facts.kind == "core" && facts.unlimited) {
    out.Table("[counters]");
    out.Line("general", "0", "no limit was found: " + facts.general.how, Sure::kMeasured);
  }
  WriteSampling(facts, &out);
  WriteFeatures(facts, &out);
  WriteRefusals(facts, &out);
  WriteEvents(facts, &out);
  return out.lines();
}

std::string WriteDraft(const PmuFacts& facts) {
  constexpr std::size_t kColumn = 26;
  std::string text;
  for (const DraftLine& line : DraftLines(facts)) {
    std::string first;
    switch (line.kind) {
      case DraftLine::Kind::kTable:
        text += "\n" + line.key + "\n";
        continue;
      case DraftLine::Kind::kComment:
        break;
      case DraftLine::Kind::kValue:
        first = line.key + " = " + line.value;
        first.resize(std::max(first.size(), kColumn), ' ');
        first += ' ';
        break;
      case DraftLine::Kind::kNote:
        first = "# " + line.key + ": " + line.value + " ";
        break;
    }
    text += first + (line.kind == DraftLine::Kind::kNote ? "(" + line.how + ")" : "# " + line.how);
    text += '\n';
  }
  return text;
}

std::string DraftTarget(const std::string& pmu) { return WriteDraft(ProbePmu(pmu)); }

}  // namespace pmuconf

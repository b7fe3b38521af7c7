// SPDX-License-Identifier: Apache-2.0
#include "target/attr/attr_fields.h"

#include <ctime>
#include <utility>

namespace pmuconf {
namespace {

using Edit = AttrField::Edit;
using Attr = perf_event_attr;

struct Bit {
  const char* name;
  std::uint64_t bit;
};

// Bits whose fields need others too. The others do not change a sample.
void SetSampleType(Attr& attr, std::uint64_t bit) {
  constexpr std::uint32_t kStack = 64;
  attr.sample_type |= bit;
  if (bit == PERF_SAMPLE_BRANCH_STACK) attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
  if (bit == PERF_SAMPLE_REGS_USER) attr.sample_regs_user = 1;
  if (bit == PERF_SAMPLE_REGS_INTR) attr.sample_regs_intr = 1;
  if (bit == PERF_SAMPLE_STACK_USER) attr.sample_stack_user = kStack;
}

void AddSampleTypes(std::vector<AttrField>* fields) {
  // A sample of the base has PERF_SAMPLE_IP.
  static constexpr Bit kBits[] = {
      {"TID", PERF_SAMPLE_TID},
      {"TIME", PERF_SAMPLE_TIME},
      {"ADDR", PERF_SAMPLE_ADDR},
      {"READ", PERF_SAMPLE_READ},
      {"CALLCHAIN", PERF_SAMPLE_CALLCHAIN},
      {"ID", PERF_SAMPLE_ID},
      {"CPU", PERF_SAMPLE_CPU},
      {"PERIOD", PERF_SAMPLE_PERIOD},
      {"STREAM_ID", PERF_SAMPLE_STREAM_ID},
      {"RAW", PERF_SAMPLE_RAW},
      {"BRANCH_STACK", PERF_SAMPLE_BRANCH_STACK},
      {"REGS_USER", PERF_SAMPLE_REGS_USER},
      {"STACK_USER", PERF_SAMPLE_STACK_USER},
      {"WEIGHT", PERF_SAMPLE_WEIGHT},
      {"DATA_SRC", PERF_SAMPLE_DATA_SRC},
      {"IDENTIFIER", PERF_SAMPLE_IDENTIFIER},
      {"TRANSACTION", PERF_SAMPLE_TRANSACTION},
      {"REGS_INTR", PERF_SAMPLE_REGS_INTR},
      {"PHYS_ADDR", PERF_SAMPLE_PHYS_ADDR},
      {"AUX", PERF_SAMPLE_AUX},
      {"CGROUP", PERF_SAMPLE_CGROUP},
      {"DATA_PAGE_SIZE", PERF_SAMPLE_DATA_PAGE_SIZE},
      {"CODE_PAGE_SIZE", PERF_SAMPLE_CODE_PAGE_SIZE},
      {"WEIGHT_STRUCT", PERF_SAMPLE_WEIGHT_STRUCT},
  };
  for (const Bit& bit : kBits) {
    fields->push_back({.name = std::string("sample_type PERF_SAMPLE_") + bit.name,
                       .set = [bit](Attr& attr) { SetSampleType(attr, bit.bit); },
                       .samples = true,
                       .shows = Shows::kSamples});
  }
  static constexpr Bit kBranches[] = {
      {"USER", PERF_SAMPLE_BRANCH_USER},
      {"KERNEL", PERF_SAMPLE_BRANCH_KERNEL},
      {"HV", PERF_SAMPLE_BRANCH_HV},
      {"ANY_CALL", PERF_SAMPLE_BRANCH_ANY_CALL},
      {"ANY_RETURN", PERF_SAMPLE_BRANCH_ANY_RETURN},
      {"IND_CALL", PERF_SAMPLE_BRANCH_IND_CALL},
      {"ABORT_TX", PERF_SAMPLE_BRANCH_ABORT_TX},
      {"IN_TX", PERF_SAMPLE_BRANCH_IN_TX},
      {"NO_TX", PERF_SAMPLE_BRANCH_NO_TX},
      {"COND", PERF_SAMPLE_BRANCH_COND},
      {"CALL_STACK", PERF_SAMPLE_BRANCH_CALL_STACK},
      {"IND_JUMP", PERF_SAMPLE_BRANCH_IND_JUMP},
      {"CALL", PERF_SAMPLE_BRANCH_CALL},
      {"NO_FLAGS", PERF_SAMPLE_BRANCH_NO_FLAGS},
      {"NO_CYCLES", PERF_SAMPLE_BRANCH_NO_CYCLES},
      {"TYPE_SAVE", PERF_SAMPLE_BRANCH_TYPE_SAVE},
      {"HW_INDEX", PERF_SAMPLE_BRANCH_HW_INDEX},
      {"PRIV_SAVE", PERF_SAMPLE_BRANCH_PRIV_SAVE},
      {"COUNTERS", PERF_SAMPLE_BRANCH_COUNTERS},
  };
  for (const Bit& bit : kBranches) {
    fields->push_back({.name = std::string("branch_sample_type PERF_SAMPLE_BRANCH_") + bit.name,
                       .set = [bit](Attr& attr) { attr.branch_sample_type |= bit.bit; },
                       .base = [](Attr& attr) { SetSampleType(attr, PERF_SAMPLE_BRANCH_STACK); },
                       .samples = true});
  }
}

void AddReadFormats(std::vector<AttrField>* fields) {
  static constexpr Bit kBits[] = {
      {"TOTAL_TIME_ENABLED", PERF_FORMAT_TOTAL_TIME_ENABLED},
      {"TOTAL_TIME_RUNNING", PERF_FORMAT_TOTAL_TIME_RUNNING},
      {"ID", PERF_FORMAT_ID},
      {"GROUP", PERF_FORMAT_GROUP},
      {"LOST", PERF_FORMAT_LOST},
  };
  for (const Bit& bit : kBits) {
    fields->push_back({.name = std::string("read_format PERF_FORMAT_") + bit.name,
                       .set = [bit](Attr& attr) { attr.read_format |= bit.bit; },
                       .shows = Shows::kAlways});
  }
}

// Fields that decide whether and where the event counts.
void AddCounting(std::vector<AttrField>* fields) {
  const std::vector<AttrField> more = {
      {.name = "disabled",
       .set = [](Attr& attr) { attr.disabled = 1; },
       .base = [](Attr& attr) { attr.disabled = 0; },
       .starts = false,
       .shows = Shows::kCount},
      {.name = "inherit", .set = [](Attr& attr) { attr.inherit = 1; }, .shows = Shows::kTask},
      {.name = "inherit_stat",
       .set = [](Attr& attr) { attr.inherit_stat = 1; },
       .base = [](Attr& attr) { attr.inherit = 1; }},
      {.name = "inherit_thread",
       .set = [](Attr& attr) { attr.inherit_thread = 1; },
       .base = [](Attr& attr) { attr.inherit = 1; },
       .shows = Shows::kTask},
      {.name = "pinned", .set = [](Attr& attr) { attr.pinned = 1; }},
      {.name = "exclusive", .set = [](Attr& attr) { attr.exclusive = 1; }},
      {.name = "exclude_user", .set = [](Attr& attr) { attr.exclude_user = 1; }},
      {.name = "exclude_kernel", .set = [](Attr& attr) { attr.exclude_kernel = 1; }},
      {.name = "exclude_hv", .set = [](Attr& attr) { attr.exclude_hv = 1; }},
      {.name = "exclude_idle", .set = [](Attr& attr) { attr.exclude_idle = 1; }},
      {.name = "exclude_host", .set = [](Attr& attr) { attr.exclude_host = 1; }},
      {.name = "exclude_guest", .set = [](Attr& attr) { attr.exclude_guest = 1; }},
      {.name = "enable_on_exec",
       .set = [](Attr& attr) { attr.enable_on_exec = 1; },
       .base = [](Attr& attr) { attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED; },
       .starts = false,
       .execs = true},
      {.name = "remove_on_exec",
       .set = [](Attr& attr) { attr.remove_on_exec = 1; },
       .base = [](Attr& attr) { attr.comm = 1; },  // a removed event has no record of the exec
       .execs = true},
  };
  fields->insert(fields->end(), more.begin(), more.end());
}

// Fields of samples and of the buffer.
void AddSampling(std::vector<AttrField>* fields) {
  static constexpr std::uint64_t kChain = PERF_SAMPLE_CALLCHAIN;
  const Edit chains = [](Attr& attr) { attr.sample_type |= kChain; };
  const std::vector<AttrField> more = {
      {.name = "sample_freq",
       .set =
           [](Attr& attr) {
             attr.freq = 1;
             attr.sample_freq = 100;
           },
       .samples = true},
      {.name = "precise_ip 1", .set = [](Attr& attr) { attr.precise_ip = 1; }, .samples = true},
      {.name = "precise_ip 2", .set = [](Attr& attr) { attr.precise_ip = 2; }, .samples = true},
      {.name = "precise_ip 3", .set = [](Attr& attr) { attr.precise_ip = 3; }, .samples = true},
      {.name = "exclude_callchain_kernel",
       .set = [](Attr& attr) { attr.exclude_callchain_kernel = 1; },
       .base = chains,
       .samples = true},
      {.name = "exclude_callchain_user",
       .set = [](Attr& attr) { attr.exclude_callchain_user = 1; },
       .base = chains,
       .samples = true},
      {.name = "sample_max_stack 1",
       .set = [](Attr& attr) { attr.sample_max_stack = 1; },
       .base = chains,
       .samples = true},
      {.name = "defer_callchain",
       .set = [](Attr& attr) { attr.defer_callchain = 1; },
       .base = chains,
       .samples = true},
      {.name = "use_clockid CLOCK_REALTIME",
       .set =
           [](Attr& attr) {
             attr.use_clockid = 1;
             attr.clockid = CLOCK_REALTIME;
           },
       .base = [](Attr& attr) { attr.sample_type |= PERF_SAMPLE_TIME; },
       .samples = true,
       .shows = Shows::kSamples},
      {.name = "wakeup_events 1",
       .set = [](Attr& attr) { attr.wakeup_events = 1; },
       .samples = true,
       .shows = Shows::kSamples},
      {.name = "wakeup_watermark 8",
       .set =
           [](Attr& attr) {
             attr.watermark = 1;
             attr.wakeup_watermark = 8;
           },
       .samples = true,
       .shows = Shows::kSamples},
      {.name = "write_backward",
       .set = [](Attr& attr) { attr.write_backward = 1; },
       .samples = true,
       .shows = Shows::kSamples},
      {.name = "sigtrap",
       .set =
           [](Attr& attr) {
             attr.sigtrap = 1;
             attr.remove_on_exec = 1;
           },
       .samples = true,
       .shows = Shows::kSamples},
      {.name = "aux_output", .set = [](Attr& attr) { attr.aux_output = 1; }},
      {.name = "aux_sample_size 64",
       .set = [](Attr& attr) { attr.aux_sample_size = 64; },
       .samples = true},
      {.name = "aux_start_paused", .set = [](Attr& attr) { attr.aux_start_paused = 1; }},
  };
  fields->insert(fields->end(), more.begin(), more.end());
}

// Fields that ask for records of the task or the machine.
void AddRecords(std::vector<AttrField>* fields) {
  const auto add = [&](const char* name, Edit set, Shows shows, Edit base = {}) {
    fields->push_back(
        {.name = name, .set = std::move(set), .base = std::move(base), .shows = shows});
  };
  const Edit comm = [](Attr& attr) { attr.comm = 1; };
  const Edit mmap = [](Attr& attr) { attr.mmap = 1; };
  add("comm", comm, Shows::kTask);
  add("mmap", mmap, Shows::kTask);
  add(
      "mmap2", [](Attr& attr) { attr.mmap2 = 1; }, Shows::kTask, mmap);
  add(
      "mmap_data", [](Attr& attr) { attr.mmap_data = 1; }, Shows::kTask);
  add(
      "task", [](Attr& attr) { attr.task = 1; }, Shows::kTask);
  add(
      "context_switch", [](Attr& attr) { attr.context_switch = 1; }, Shows::kTask);
  add(
      "sample_id_all", [](Attr& attr) { attr.sample_id_all = 1; }, Shows::kTask,
      [](Attr& attr) {
        attr.comm = 1;
        attr.sample_type = PERF_SAMPLE_TID;
      });
  const Edit mmap2 = [](Attr& attr) { attr.mmap = attr.mmap2 = 1; };
  add(
      "build_id", [](Attr& attr) { attr.build_id = 1; }, Shows::kNever, mmap2);
  add(
      "namespaces", [](Attr& attr) { attr.namespaces = 1; }, Shows::kNever);
  add(
      "ksymbol", [](Attr& attr) { attr.ksymbol = 1; }, Shows::kNever);
  add(
      "bpf_event", [](Attr& attr) { attr.bpf_event = 1; }, Shows::kNever);
  add(
      "cgroup", [](Attr& attr) { attr.cgroup = 1; }, Shows::kNever);
  add(
      "text_poke", [](Attr& attr) { attr.text_poke = 1; }, Shows::kNever);
  fields->push_back({.name = "comm_exec",
                     .set = [](Attr& attr) { attr.comm_exec = 1; },
                     .base = comm,
                     .execs = true});  // the kernel marks each exec, also without the field
}

void AddPairs(std::vector<AttrField>* fields) {
  const auto add = [&](const char* name, Edit set, bool samples = false) {
    fields->push_back({.name = name, .set = std::move(set), .samples = samples});
  };
  add("pinned + exclusive", [](Attr& attr) { attr.pinned = attr.exclusive = 1; });
  add("exclude_user + exclude_kernel",
      [](Attr& attr) { attr.exclude_user = attr.exclude_kernel = 1; });
  add("exclude_host + exclude_guest",
      [](Attr& attr) { attr.exclude_host = attr.exclude_guest = 1; });
  add("inherit + PERF_FORMAT_GROUP", [](Attr& attr) {
    attr.inherit = 1;
    attr.read_format |= PERF_FORMAT_GROUP;
  });
  add(
      "inherit + PERF_SAMPLE_READ",
      [](Attr& attr) {
        attr.inherit = 1;
        attr.sample_type |= PERF_SAMPLE_READ;
      },
      true);
  add("enable_on_exec + remove_on_exec",
      [](Attr& attr) { attr.enable_on_exec = attr.remove_on_exec = 1; });
  add(
      "precise_ip 1 + exclude_kernel",
      [](Attr& attr) {
        attr.precise_ip = 1;
        attr.exclude_kernel = 1;
      },
      true);
  add(
      "PERF_SAMPLE_WEIGHT + WEIGHT_STRUCT",
      [](Attr& attr) { attr.sample_type |= PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT; }, true);
}

}  // namespace

std::vector<AttrField> AttrFields() {
  std::vector<AttrField> fields;
  AddCounting(&fields);
  AddReadFormats(&fields);
  AddSampling(&fields);
  AddSampleTypes(&fields);
  AddRecords(&fields);
  AddPairs(&fields);
  return fields;
}

}  // namespace pmuconf

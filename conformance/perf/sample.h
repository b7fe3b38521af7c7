// SPDX-License-Identifier: Apache-2.0
// Records of the ring buffer, parsed by the attr of their event.
#ifndef PMUCONF_PERF_SAMPLE_H_
#define PMUCONF_PERF_SAMPLE_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "perf/event.h"

namespace pmuconf {

struct Record;

// PERF_RECORD_SAMPLE. A field has a value if attr.sample_type requests it.
struct Sample {
  std::uint16_t misc = 0;  // header.misc: cpumode, PERF_RECORD_MISC_EXACT_IP
  std::optional<std::uint64_t> identifier;
  std::optional<std::uint64_t> ip;
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;
  std::optional<std::uint64_t> time;  // ns
  std::optional<std::uint64_t> addr;
  std::optional<std::uint64_t> id;
  std::optional<std::uint64_t> stream_id;
  std::optional<std::uint32_t> cpu;
  std::optional<std::uint64_t> period;
  std::optional<Reading> read;             // PERF_SAMPLE_READ, one event
  std::optional<GroupReading> read_group;  // PERF_SAMPLE_READ with PERF_FORMAT_GROUP
  std::optional<std::vector<std::uint64_t>> callchain;
  std::optional<std::vector<std::byte>> raw;
  std::optional<std::vector<perf_branch_entry>> branches;
  std::optional<std::uint64_t> branch_hw_index;
  std::optional<std::uint64_t> regs_user_abi;
  std::optional<std::vector<std::uint64_t>> regs_user;
  std::optional<std::vector<std::byte>> stack_user;
  // PERF_SAMPLE_WEIGHT or PERF_SAMPLE_WEIGHT_STRUCT, as 64 bits.
  std::optional<std::uint64_t> weight;
  std::optional<std::uint64_t> data_src;
  std::optional<std::uint64_t> transaction;
  std::optional<std::uint64_t> regs_intr_abi;
  std::optional<std::vector<std::uint64_t>> regs_intr;
  std::optional<std::uint64_t> phys_addr;
  std::optional<std::vector<std::byte>> aux;
  std::optional<std::uint64_t> cgroup;
  std::optional<std::uint64_t> data_page_size;
  std::optional<std::uint64_t> code_page_size;
};

// The trailer that attr.sample_id_all appends to records other than samples.
struct SampleId {
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;
  std::optional<std::uint64_t> time;
  std::optional<std::uint64_t> id;
  std::optional<std::uint64_t> stream_id;
  std::optional<std::uint32_t> cpu;
  std::optional<std::uint64_t> identifier;
};

struct LostRecord {
  std::uint64_t id = 0;  // 0 for PERF_RECORD_LOST_SAMPLES
  std::uint64_t lost = 0;
  SampleId trailer;
};

struct ThrottleRecord {
  bool throttle = true;  // false: UNTHROTTLE
  std::uint64_t time = 0;
  std::uint64_t id = 0;
  std::uint64_t stream_id = 0;
  SampleId trailer;
};

// PERF_RECORD_READ: the count of an inherited child event at the end of its task.
struct ReadRecord {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::optional<Reading> read;
  std::optional<GroupReading> read_group;
  SampleId trailer;
};

// PERF_RECORD_CALLCHAIN_DEFERRED: the user part of the call chains whose samples have that cookie.
struct DeferredRecord {
  std::uint16_t misc = 0;
  std::uint64_t cookie = 0;
  std::vector<std::uint64_t> ips;  // innermost first, without a context marker
  SampleId trailer;
};

// Each returns nullopt if the body does not match the attr exactly: it is too short, too long, or
// has counts that do not fit. They never read beyond the body, also if it is invalid.
std::optional<Sample> ParseSample(const Record& record, const perf_event_attr& attr);
std::optional<LostRecord> ParseLost(const Record& record, const perf_event_attr& attr);
std::optional<ThrottleRecord> ParseThrottle(const Record& record, const perf_event_attr& attr);
std::optional<ReadRecord> ParseReadRecord(const Record& record, const perf_event_attr& attr);
std::optional<DeferredRecord> ParseDeferred(const Record& record, const perf_event_attr& attr);

}  // namespace pmuconf

#endif  // PMUCONF_PERF_SAMPLE_H_

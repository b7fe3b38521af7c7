// SPDX-License-Identifier: Apache-2.0
// Walks the bytes of a record in the order of perf_event_open(2).
#include "lies/record_slots.h"

#include <algorithm>
#include <bit>

namespace pmuconf {
namespace {

// Adds one field after the other. Stops at the end of the bytes.
class Walk {
 public:
  Walk(std::span<std::byte> bytes, Slots* slots) : bytes_(bytes), slots_(slots) {}

  // Adds a field of `size` bytes and returns its value; 0 if the bytes have ended.
  std::uint64_t Take(const std::string& name, unsigned size) {
    if (at_ + size > bytes_.size()) {
      at_ = bytes_.size();
      return 0;
    }
    slots_->AddBytes(name, bytes_.data() + at_, size);
    at_ += size;
    return slots_->all().back().Get();
  }
  std::uint64_t U64(const std::string& name) { return Take(name, 8); }
  std::uint64_t U32(const std::string& name) { return Take(name, 4); }
  std::uint64_t U16(const std::string& name) { return Take(name, 2); }
  void Many(const std::string& name, std::uint64_t n) {
    for (std::uint64_t i = 0; i < n && left() >= 8; ++i) U64(name);
  }
  // The first byte of a text, which takes the remaining bytes.
  void Text(const std::string& name) { Take(name, 1); }
  void Skip(std::size_t n) { at_ = std::min(bytes_.size(), at_ + n); }
  std::size_t left() const { return bytes_.size() - at_; }
  std::size_t at() const { return at_; }
  std::span<std::byte> Rest() const { return bytes_.subspan(at_); }

 private:
  std::span<std::byte> bytes_;
  Slots* slots_;
  std::size_t at_ = 0;
};

void TakeReading(Walk* walk, std::uint64_t format, const std::string& prefix) {
  const bool group = (format & PERF_FORMAT_GROUP) != 0;
  const auto times = [&] {
    if (format & PERF_FORMAT_TOTAL_TIME_ENABLED) walk->U64(prefix + "time_enabled");
    if (format & PERF_FORMAT_TOTAL_TIME_RUNNING) walk->U64(prefix + "time_running");
  };
  const std::uint64_t n = group ? walk->U64(prefix + "nr") : 1;
  if (group) times();
  for (std::uint64_t i = 0; i < n && walk->left() >= 8; ++i) {
    walk->U64(prefix + "value");
    if (!group) times();
    if (format & PERF_FORMAT_ID) walk->U64(prefix + "id");
    if (format & PERF_FORMAT_LOST) walk->U64(prefix + "lost");
  }
}

void TakeRegs(Walk* walk, const std::string& name, std::uint64_t mask) {
  if (walk->U64(name + ".abi") != PERF_SAMPLE_REGS_ABI_NONE)
    walk->Many(name, static_cast<std::uint64_t>(std::popcount(mask)));
}

void TakeBranches(Walk* walk, const perf_event_attr& attr) {
  const std::uint64_t n = walk->U64("branch.nr");
  if (attr.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) walk->U64("branch.hw_index");
  for (std::uint64_t i = 0; i < n && walk->left() >= 24; ++i) {
    walk->U64("branch.from");
    walk->U64("branch.to");
    walk->U64("branch.flags");
  }
}

// Bytes with their number before them: 8 at a time, and the remaining ones.
void TakeBytes(Walk* walk, const std::string& name, std::uint64_t n) {
  const std::uint64_t bytes = std::min<std::uint64_t>(n, walk->left());
  walk->Many(name, bytes / 8);
  for (std::uint64_t i = 0; i < bytes % 8; ++i) walk->Take(name, 1);
}

void TakeSampleHead(Walk* walk, std::uint64_t type) {
  if (type & PERF_SAMPLE_IDENTIFIER) walk->U64("identifier");
  if (type & PERF_SAMPLE_IP) walk->U64("ip");
  if (type & PERF_SAMPLE_TID) {
    walk->U32("pid");
    walk->U32("tid");
  }
  if (type & PERF_SAMPLE_TIME) walk->U64("time");
  if (type & PERF_SAMPLE_ADDR) walk->U64("addr");
  if (type & PERF_SAMPLE_ID) walk->U64("id");
  if (type & PERF_SAMPLE_STREAM_ID) walk->U64("stream_id");
  if (type & PERF_SAMPLE_CPU) {
    walk->U32("cpu");
    walk->U32("cpu_reserved");
  }
  if (type & PERF_SAMPLE_PERIOD) walk->U64("period");
}

void TakeSample(Walk* walk, const perf_event_attr& attr) {
  const std::uint64_t type = attr.sample_type;
  TakeSampleHead(walk, type);
  if (type & PERF_SAMPLE_READ) TakeReading(walk, attr.read_format, "read.");
  if (type & PERF_SAMPLE_CALLCHAIN) walk->Many("callchain", walk->U64("callchain.nr"));
  if (type & PERF_SAMPLE_RAW) TakeBytes(walk, "raw", walk->U32("raw.size"));
  if (type & PERF_SAMPLE_BRANCH_STACK) TakeBranches(walk, attr);
  if (type & PERF_SAMPLE_REGS_USER) TakeRegs(walk, "regs_user", attr.sample_regs_user);
  if (type & PERF_SAMPLE_STACK_USER) {
    const std::uint64_t size = walk->U64("stack.size");
    TakeBytes(walk, "stack", size);
    if (size != 0) walk->U64("stack.dyn_size");
  }
  if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)) walk->U64("weight");
  if (type & PERF_SAMPLE_DATA_SRC) walk->U64("data_src");
  if (type & PERF_SAMPLE_TRANSACTION) walk->U64("transaction");
  if (type & PERF_SAMPLE_REGS_INTR) TakeRegs(walk, "regs_intr", attr.sample_regs_intr);
  if (type & PERF_SAMPLE_PHYS_ADDR) walk->U64("phys_addr");
  if (type & PERF_SAMPLE_CGROUP) walk->U64("cgroup");
  if (type & PERF_SAMPLE_DATA_PAGE_SIZE) walk->U64("data_page_size");
  if (type & PERF_SAMPLE_CODE_PAGE_SIZE) walk->U64("code_page_size");
  if (type & PERF_SAMPLE_AUX) TakeBytes(walk, "aux", walk->U64("aux.size"));
}

void TakeMapping(Walk* walk, const Record& record) {
  walk->U32("pid");
  walk->U32("tid");
  for (const char* name : {"addr", "len", "pgoff"}) walk->U64(name);
  if (record.type == PERF_RECORD_MMAP2) {
    if (record.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
      walk->Take("build_id_size", 1);
      walk->Skip(3);
      walk->U32("build_id");
      walk->Skip(16);
    } else {
      walk->U32("maj");
      walk->U32("min");
      walk->U64("ino");
      walk->U64("ino_generation");
    }
    walk->U32("prot");
    walk->U32("flags");
  }
  walk->Text("name");
}

void TakeTask(Walk* walk) {
  for (const char* name : {"pid", "ppid", "tid", "ptid"}) walk->U32(name);
  walk->U64("time");
}

void TakeKernelText(Walk* walk, const Record& record) {
  switch (record.type) {
    case PERF_RECORD_KSYMBOL:
      walk->U64("addr");
      walk->U32("len");
      walk->U16("ksym_type");
      walk->U16("flags");
      walk->Text("name");
      return;
    case PERF_RECORD_BPF_EVENT:
      walk->U16("bpf_type");
      walk->U16("flags");
      walk->U32("id");
      walk->U64("tag");
      return;
    case PERF_RECORD_TEXT_POKE:
      walk->U64("addr");
      walk->U16("old_len");
      walk->U16("new_len");
      walk->Text("bytes");
      return;
    default:
      return;
  }
}

void TakeBody(Walk* walk, const Record& record, const perf_event_attr& attr) {
  const auto words = [walk](std::initializer_list<const char*> names) {
    for (const char* name : names) walk->U64(name);
  };
  switch (record.type) {
    case PERF_RECORD_SAMPLE:
      return TakeSample(walk, attr);
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
      return TakeMapping(walk, record);
    case PERF_RECORD_LOST:
      return words({"id", "lost"});
    case PERF_RECORD_LOST_SAMPLES:
      return words({"lost"});
    case PERF_RECORD_COMM:
      walk->U32("pid");
      walk->U32("tid");
      return walk->Text("name");
    case PERF_RECORD_EXIT:
    case PERF_RECORD_FORK:
      return TakeTask(walk);
    case PERF_RECORD_THROTTLE:
    case PERF_RECORD_UNTHROTTLE:
      return words({"time", "id", "stream_id"});
    case PERF_RECORD_READ:
      walk->U32("pid");
      walk->U32("tid");
      return TakeReading(walk, attr.read_format, "read.");
    case PERF_RECORD_AUX:
      return words({"aux_offset", "aux_size", "flags"});
    case PERF_RECORD_ITRACE_START:
      walk->U32("pid");
      walk->U32("tid");
      return;
    case PERF_RECORD_SWITCH_CPU_WIDE:
      walk->U32("next_prev_pid");
      walk->U32("next_prev_tid");
      return;
    case PERF_RECORD_NAMESPACES:
      walk->U32("pid");
      walk->U32("tid");
      return walk->Many("namespace", 2 * walk->U64("nr_namespaces"));
    case PERF_RECORD_CGROUP:
      walk->U64("id");
      return walk->Text("name");
    case PERF_RECORD_CALLCHAIN_DEFERRED:
      walk->U64("cookie");
      return walk->Many("ips", walk->U64("ips.nr"));
    default:
      return TakeKernelText(walk, record);
  }
}

std::size_t TrailerSize(const perf_event_attr& attr) {
  constexpr std::uint64_t kParts = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
                                   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  return attr.sample_id_all ? 8 * static_cast<std::size_t>(std::popcount(attr.sample_type & kParts))
                            : 0;
}

void TakeTrailer(Walk* walk, std::uint64_t type) {
  if (type & PERF_SAMPLE_TID) {
    walk->U32("trailer.pid");
    walk->U32("trailer.tid");
  }
  if (type & PERF_SAMPLE_TIME) walk->U64("trailer.time");
  if (type & PERF_SAMPLE_ID) walk->U64("trailer.id");
  if (type & PERF_SAMPLE_STREAM_ID) walk->U64("trailer.stream_id");
  if (type & PERF_SAMPLE_CPU) {
    walk->U32("trailer.cpu");
    walk->U32("trailer.cpu_reserved");
  }
  if (type & PERF_SAMPLE_IDENTIFIER) walk->U64("trailer.identifier");
}

}  // namespace

std::size_t AddReading(std::span<std::byte> bytes, std::uint64_t read_format,
                       const std::string& prefix, Slots* slots) {
  Walk walk(bytes, slots);
  TakeReading(&walk, read_format, prefix);
  return walk.at();
}

void AddRecord(Record* record, const perf_event_attr& attr, Slots* slots) {
  slots->Add("type", &record->type);
  slots->Add("misc", &record->misc);
  slots->AddFact("body_size", record->body.size());
  std::span<std::byte> body(record->body);
  const std::size_t trailer = record->type == PERF_RECORD_SAMPLE ? 0 : TrailerSize(attr);
  if (trailer > body.size()) return;
  Walk walk(body.first(body.size() - trailer), slots);
  TakeBody(&walk, *record, attr);
  if (trailer == 0) return;
  Walk end(body.last(trailer), slots);
  TakeTrailer(&end, attr.sample_type);
}

std::vector<std::string> ReadingNames() {
  return {"nr", "value", "time_enabled", "time_running", "id", "lost"};
}

std::vector<std::string> RecordNames() {
  std::vector<std::string> names = {"type",
                                    "misc",
                                    "body_size",
                                    "identifier",
                                    "ip",
                                    "pid",
                                    "tid",
                                    "time",
                                    "addr",
                                    "id",
                                    "stream_id",
                                    "cpu",
                                    "cpu_reserved",
                                    "period",
                                    "callchain.nr",
                                    "callchain",
                                    "raw.size",
                                    "raw",
                                    "branch.nr",
                                    "branch.hw_index",
                                    "branch.from",
                                    "branch.to",
                                    "branch.flags",
                                    "regs_user.abi",
                                    "regs_user",
                                    "stack.size",
                                    "stack",
                                    "stack.dyn_size",
                                    "weight",
                                    "data_src",
                                    "transaction",
                                    "regs_intr.abi",
                                    "regs_intr",
                                    "phys_addr",
                                    "cgroup",
                                    "aux.size",
                                    "data_page_size",
                                    "code_page_size",
                                    "aux",
                                    "cookie",
                                    "ips.nr",
                                    "ips",
                                    "len",
                                    "pgoff",
                                    "build_id_size",
                                    "build_id",
                                    "maj",
                                    "min",
                                    "ino",
                                    "ino_generation",
                                    "prot",
                                    "flags",
                                    "name",
                                    "lost",
                                    "ppid",
                                    "ptid",
                                    "aux_offset",
                                    "aux_size",
                                    "nr_namespaces",
                                    "namespace",
                                    "next_prev_pid",
                                    "next_prev_tid",
                                    "ksym_type",
                                    "bpf_type",
                                    "tag",
                                    "old_len",
                                    "new_len",
                                    "bytes"};
  for (const std::string& name : ReadingNames()) names.push_back("read." + name);
  for (const char* name :
       {"pid", "tid", "time", "id", "stream_id", "cpu", "cpu_reserved", "identifier"})
    names.push_back(std::string("trailer.") + name);
  return names;
}

}  // namespace pmuconf

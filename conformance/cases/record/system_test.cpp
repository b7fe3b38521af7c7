// SPDX-License-Identifier: Apache-2.0
// Records about changes of the system: namespaces, cgroups, BPF programs, symbols, kernel text.
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <sched.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstring>

#include "arch/arch.h"
#include "cases/record/kernel_symbol.h"
#include "cases/record/side_band.h"
#include "harness/behaviour.h"
#include "harness/uses.h"
#include "perf/bpf.h"
#include "system/cgroup.h"

namespace pmuconf {
namespace {

// A BPF program that does nothing, and the kernel's information about it.
class Program {
 public:
  Program() {
    bpf_insn code[2] = {};
    code[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
    code[1].code = BPF_JMP | BPF_EXIT;
    fd_.Reset(bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "conformance", "GPL", code, 2, nullptr));
    if (fd_.get() < 0) BpfBroken("load", errno);
    // A newer kernel's fields may lie in the padding, and an older one refuses what it does not
    // know.
    std::memset(&info_, 0, sizeof(info_));
    info_.nr_jited_ksyms = 1;
    info_.jited_ksyms = reinterpret_cast<std::uint64_t>(&address_);
    std::uint32_t size = sizeof(info_);
    if (bpf_obj_get_info_by_fd(fd_.get(), &info_, &size) != 0) BpfBroken("info", errno);
  }

  void Unload() { fd_.Reset(); }
  const bpf_prog_info& info() const { return info_; }
  std::uint64_t address() const { return address_; }
  std::string symbol() const {
    std::string tag;
    for (const unsigned char byte : info_.tag) {
      char hex[3] = {};
      std::snprintf(hex, sizeof(hex), "%02x", byte);
      tag += hex;
    }
    return "bpf_prog_" + tag + "_conformance";
  }

 private:
  Fd fd_;
  bpf_prog_info info_;
  std::uint64_t address_ = 0;
};

CONFORMANCE_CASE(Record, NamespacesReportDeviceAndInode, .rules = {rule::REC_113, rule::REC_024},
                 .needs = {Cap::kTasks}) {
  SideBand side_band([](perf_event_attr& attr) { attr.namespaces = 1; });
  ASSERT_EQ(unshare(CLONE_NEWUTS | CLONE_NEWIPC), 0);
  const std::vector<Record> records = side_band.DrainRaw(PERF_RECORD_NAMESPACES);
  ASSERT_EQ(records.size(), 1u) << rule::REC_113;
  EXPECT_EQ(pmuconf::At<std::uint32_t>(records[0], 0), Unsigned(getpid())) << rule::REC_113;
  EXPECT_EQ(pmuconf::At<std::uint32_t>(records[0], 4), Unsigned(gettid())) << rule::REC_113;
  EXPECT_EQ(pmuconf::At<std::uint64_t>(records[0], 8), 7u) << rule::REC_113;
  ASSERT_EQ(records[0].body.size(), 16 + 7 * 16 + kTrailerBytes) << rule::REC_113;
  std::size_t at = 16;
  for (const char* name : {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"}) {
    struct stat status = {};
    ASSERT_EQ(stat((std::string("/proc/self/ns/") + name).c_str(), &status), 0);
    EXPECT_EQ(pmuconf::At<std::uint64_t>(records[0], at), status.st_dev) << rule::REC_113 << name;
    EXPECT_EQ(pmuconf::At<std::uint64_t>(records[0], at + 8), status.st_ino)
        << rule::REC_113 << name;
    at += 16;
  }
  ExpectTrailer(records[0], side_band.event(), gettid());
}

CASE_USES(Record, CgroupReportsIdAndPath, Feature::kPerfCgroups);
CONFORMANCE_CASE(Record, CgroupReportsIdAndPath, .rules = {rule::REC_116, rule::REC_024},
                 .needs = {Cap::kTasks}) {
  const CgroupRoot root;
  SideBand side_band([](perf_event_attr& attr) { attr.cgroup = 1; });
  const Cgroup outer(root, "pmuconf-outer");
  const Cgroup inner(root, "pmuconf-outer/inner");
  const std::vector<Record> records = side_band.DrainRaw(PERF_RECORD_CGROUP);
  ASSERT_EQ(records.size(), 2u) << rule::REC_116;
  EXPECT_EQ(pmuconf::At<std::uint64_t>(records[0], 0), outer.id()) << rule::REC_116;
  EXPECT_EQ(NameAt(records[0], 8), "/pmuconf-outer") << rule::REC_116;
  EXPECT_EQ(pmuconf::At<std::uint64_t>(records[1], 0), inner.id()) << rule::REC_116;
  EXPECT_EQ(NameAt(records[1], 8), "/pmuconf-outer/inner") << rule::REC_116;
  for (const Record& record : records) ExpectTrailer(record, side_band.event(), gettid());
}

CASE_USES(Record, KsymbolReportsNewAndRemovedSymbols, Feature::kBpfCall);
CONFORMANCE_CASE(Record, KsymbolReportsNewAndRemovedSymbols,
                 .rules = {rule::REC_114, rule::REC_024}, .needs = {Cap::kTasks}) {
  { const Program first; }  // libbpf probes the kernel's features at the first load
  SideBand side_band([](perf_event_attr& attr) { attr.ksymbol = 1; });
  Program program;
  if (program.info().jited_prog_len == 0) {
    SkipCase(Cap::kBpf, "the kernel interprets BPF programs: net.core.bpf_jit_enable is 0");
  }
  const std::vector<Record> loaded = side_band.DrainRaw(PERF_RECORD_KSYMBOL);
  program.Unload();
  const std::vector<Record> unloaded = side_band.DrainRaw(PERF_RECORD_KSYMBOL);
  ASSERT_EQ(loaded.size(), 1u) << rule::REC_114;
  ASSERT_EQ(unloaded.size(), 1u) << rule::REC_114;
  for (const Record& record : {loaded[0], unloaded[0]}) {
    EXPECT_EQ(pmuconf::At<std::uint64_t>(record, 0), program.address()) << rule::REC_114;
    EXPECT_EQ(pmuconf::At<std::uint32_t>(record, 8), program.info().jited_prog_len)
        << rule::REC_114;
    EXPECT_EQ(pmuconf::At<std::uint16_t>(record, 12), PERF_RECORD_KSYMBOL_TYPE_BPF)
        << rule::REC_114;
    EXPECT_EQ(NameAt(record, 16), program.symbol()) << rule::REC_114;
    ExpectTrailer(record, side_band.event(), gettid());
  }
  EXPECT_EQ(pmuconf::At<std::uint16_t>(loaded[0], 14), 0) << rule::REC_114;
  EXPECT_EQ(pmuconf::At<std::uint16_t>(unloaded[0], 14), PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER)
      << rule::REC_114;
}

CASE_USES(Record, BpfEventReportsLoadAndUnload, Feature::kBpfCall);
CONFORMANCE_CASE(Record, BpfEventReportsLoadAndUnload, .rules = {rule::REC_115, rule::REC_024},
                 .needs = {Cap::kTasks}) {
  { const Program first; }  // libbpf probes the kernel's features at the first load
  SideBand side_band([](perf_event_attr& attr) { attr.bpf_event = 1; });
  Program program;
  const std::vector<Record> loaded = side_band.DrainRaw(PERF_RECORD_BPF_EVENT);
  program.Unload();
  const std::vector<Record> unloaded = side_band.DrainRaw(PERF_RECORD_BPF_EVENT);
  ASSERT_EQ(loaded.size(), 1u) << rule::REC_115;
  ASSERT_EQ(unloaded.size(), 1u) << rule::REC_115;
  EXPECT_EQ(pmuconf::At<std::uint16_t>(loaded[0], 0), PERF_BPF_EVENT_PROG_LOAD) << rule::REC_115;
  EXPECT_EQ(pmuconf::At<std::uint16_t>(unloaded[0], 0), PERF_BPF_EVENT_PROG_UNLOAD)
      << rule::REC_115;
  for (const Record& record : {loaded[0], unloaded[0]}) {
    EXPECT_EQ(pmuconf::At<std::uint16_t>(record, 2), 0) << rule::REC_115;
    EXPECT_EQ(pmuconf::At<std::uint32_t>(record, 4), program.info().id) << rule::REC_115;
    std::uint64_t tag = 0;
    std::memcpy(&tag, program.info().tag, sizeof(tag));
    EXPECT_EQ(pmuconf::At<std::uint64_t>(record, 8), tag) << rule::REC_115;
    EXPECT_EQ(record.body.size(), 16 + kTrailerBytes) << rule::REC_115;
    ExpectTrailer(record, side_band.event(), gettid());
  }
}

// The bytes of kernel text before and after a change.
struct Poke {
  std::string before;
  std::string after;
};

// The changes in `records` that concern the first instruction of the function at `address`.
std::vector<Poke> PokesAt(std::uint64_t address, const std::vector<Record>& records) {
  std::vector<Poke> pokes;
  for (const Record& record : records) {
    if (pmuconf::At<std::uint64_t>(record, 0) - address >= 16) continue;
    const std::size_t before = pmuconf::At<std::uint16_t>(record, 8),
                      after = pmuconf::At<std::uint16_t>(record, 10);
    EXPECT_EQ(record.body.size(), (12 + before + after + 7) / 8 * 8 + kTrailerBytes)
        << rule::REC_117;
    EXPECT_EQ(record.misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_KERNEL)
        << rule::REC_117;
    const auto* bytes = reinterpret_cast<const char*>(record.body.data()) + 12;
    if (12 + before + after > record.body.size()) continue;
    pokes.push_back({std::string(bytes, before), std::string(bytes + before, after)});
  }
  return pokes;
}

CASE_USES(Record, TextPokeReportsOldAndNewBytes, Feature::kKernelProbes, Feature::kSymbols);
CONFORMANCE_CASE(Record, TextPokeReportsOldAndNewBytes, .rules = {rule::REC_117, rule::REC_024},
                 .needs = {Cap::kTasks}) {
  if (!processor::kReportsTextPokes) SkipWithout("reports of changes to its text");
  const auto type = ReadFile(std::string(kEventSource) + "/kprobe/type");
  ASSERT_TRUE(type);
  EventSpec probe;
  probe.type = static_cast<std::uint32_t>(std::stoul(*type));
  probe.config1 = reinterpret_cast<std::uint64_t>(kSeldomCalled);
  SideBand side_band([](perf_event_attr& attr) { attr.text_poke = 1; });
  Event event = Open(probe, {.disabled = false});
  const std::vector<Record> set = side_band.DrainRaw(PERF_RECORD_TEXT_POKE);
  event.Close();
  const std::vector<Record> cleared = side_band.DrainRaw(PERF_RECORD_TEXT_POKE);
  const std::vector<Poke> there = PokesAt(AddressOf(kSeldomCalled), set);
  const std::vector<Poke> restored = PokesAt(AddressOf(kSeldomCalled), cleared);
  ASSERT_EQ(there.size(), 1u) << rule::REC_117;
  ASSERT_EQ(restored.size(), 1u) << rule::REC_117;
  EXPECT_NE(there[0].before, there[0].after) << rule::REC_117;
  EXPECT_EQ(there[0].before.size(), there[0].after.size()) << rule::REC_117;
  EXPECT_EQ(restored[0].before, there[0].after) << rule::REC_117;
  EXPECT_EQ(restored[0].after, there[0].before) << rule::REC_117;
  for (const Record& record : set) ExpectTrailer(record, side_band.event(), gettid());
}

}  // namespace
}  // namespace pmuconf

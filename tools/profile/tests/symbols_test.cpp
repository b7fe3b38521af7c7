// SPDX-License-Identifier: Apache-2.0
// `profile` resolves addresses of the kernel, of ELF files, and of changing processes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "selftest/words.h"
#include "tools/profile/address_space.h"
#include "tools/profile/collector.h"
#include "tools/profile/elf_symbols.h"
#include "tools/profile/kernel_symbols.h"
#include "tools/profile/module_table.h"
#include "tools/profile/raw_sample.h"
#include "tools/profile/side_band.h"

namespace pmuconf::profile {

// The tests look for this function by name and address. It is neither inlined nor static, so that
// it has a symbol with a size.
__attribute__((noinline)) int FunctionToBeFound(int n) { return n * 3 + 1; }

namespace {

class ProfileKernel : public testing::Test {
 protected:
  void Read(const std::string& kallsyms, const std::string& modules = "") {
    std::istringstream symbols(kallsyms), list(modules);
    kernel.Read(symbols, list);
  }
  std::string NameAt(std::uint64_t address) const {
    const auto frame = kernel.Find(address);
    return frame ? frame->name + frame->module : "none";
  }

  KernelSymbols kernel;
};

TEST_F(ProfileKernel, AddressBelongsToSymbolBeforeIt) {
  Read("ffffffff81000000 T first\nffffffff81000100 t second\nffffffff81000200 D data\n");
  EXPECT_EQ(NameAt(0xffffffff81000000), "first[kernel]");
  EXPECT_EQ(NameAt(0xffffffff810000ff), "first[kernel]");
  EXPECT_EQ(NameAt(0xffffffff81000100), "second[kernel]");
  EXPECT_EQ(kernel.Find(0xffffffff81000110)->offset, 0x10U);
  EXPECT_EQ(NameAt(0xffffffff80ffffff), "none");
}

TEST_F(ProfileKernel, ModuleEndsAtItsSize) {
  Read("ffffffff81000000 T kernel\nffffffffc0000010 t probe\t[demo]\n",
       "demo 8192 1 - Live 0xffffffffc0000000 (OE)\n");
  EXPECT_EQ(NameAt(0xffffffffc0000020), "probe[demo]");
  EXPECT_EQ(NameAt(0xffffffffc0001fff), "probe[demo]");
  EXPECT_EQ(NameAt(0xffffffffc0002000), "none");
  EXPECT_EQ(NameAt(0xffffffffb0000000), "none");
}

TEST_F(ProfileKernel, BpfProgramsSpanOnePage) {
  Read("ffffffff81000000 T kernel\nffffffffc0000000 t bpf_prog_1\t[bpf]\n");
  EXPECT_EQ(NameAt(0xffffffffc0000ff0), "bpf_prog_1[bpf]");
  EXPECT_EQ(NameAt(0xffffffffc0001000), "none");
}

TEST_F(ProfileKernel, FirstOfSeveralNamesIsShown) {
  Read("ffffffff81000000 T __x64_sys_read\nffffffff81000000 T __ia32_sys_read\n");
  EXPECT_EQ(NameAt(0xffffffff81000004), "__x64_sys_read[kernel]");
}

TEST_F(ProfileKernel, HiddenAddressesGiveNoSymbols) {
  Read("0000000000000000 T first\n");
  EXPECT_FALSE(kernel.Readable());
}

Fd OpenSelf() { return Fd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)); }

// Returns the file offset of this program's code at `address`.
std::uint64_t PlaceInFile(const void* address) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto mapping = ParseMapsLine(line);
    if (mapping && at >= mapping->begin && at < mapping->end) {
      return at - mapping->begin + mapping->file_offset;
    }
  }
  return 0;
}

TEST(ProfileElf, FindsFunctionOfThisProgram) {
  const auto symbols = ElfSymbols::Open(OpenSelf());
  ASSERT_TRUE(symbols);
  const auto address =
      symbols->Address(PlaceInFile(reinterpret_cast<const void*>(&FunctionToBeFound)) + 2);
  ASSERT_TRUE(address);
  const auto found = symbols->Find(*address);
  ASSERT_TRUE(found);
  EXPECT_EQ(Demangle(found->name), "pmuconf::profile::FunctionToBeFound(int)");
  EXPECT_EQ(found->offset, 2U);
}

TEST(ProfileElf, AddressOutsideSegmentsIsNotFound) {
  const auto symbols = ElfSymbols::Open(OpenSelf());
  ASSERT_TRUE(symbols);
  EXPECT_FALSE(symbols->Address(~std::uint64_t{0}));
  EXPECT_FALSE(symbols->Find(0));
}

TEST(ProfileElf, OtherFilesAreRejected) {
  EXPECT_FALSE(ElfSymbols::Open(Fd(open("/dev/null", O_RDONLY | O_CLOEXEC))));
  EXPECT_FALSE(ElfSymbols::Open(Fd(open("/proc/self/maps", O_RDONLY | O_CLOEXEC))));
  EXPECT_FALSE(ElfSymbols::Open(Fd()));
}

TEST(ProfileElf, UnmangledNamesAreUnchanged) {
  EXPECT_EQ(Demangle("main"), "main");
  EXPECT_EQ(Demangle("_Znot a name"), "_Znot a name");
}

TEST(ProfileMaps, ParsesMapsLine) {
  const auto mapping = ParseMapsLine(
      "7f0000001000-7f0000003000 r-xp 00002000 fd:01 1234                       /lib/a b.so");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->begin, 0x7f0000001000U);
  EXPECT_EQ(mapping->end, 0x7f0000003000U);
  EXPECT_EQ(mapping->file_offset, 0x2000U);
  EXPECT_EQ(mapping->file,
            (FileKey{.major = 0xfd, .minor = 1, .inode = 1234, .path = "/lib/a b.so"}));
}

TEST(ProfileMaps, OnlyExecutableMappingsCount) {
  EXPECT_FALSE(ParseMapsLine("1000-2000 rw-p 00000000 00:00 0 [heap]"));
  EXPECT_FALSE(ParseMapsLine("1000-2000"));
  EXPECT_FALSE(ParseMapsLine(""));
  EXPECT_TRUE(ParseMapsLine("1000-2000 r-xp 00000000 00:00 0"));
}

TEST(ProfileMaps, NewMappingReplacesOverlappedMappings) {
  AddressSpace space;
  space.Map({.begin = 0x1000, .end = 0x5000, .file_offset = 0, .module = 1});
  space.Map({.begin = 0x2000, .end = 0x3000, .file_offset = 0x40, .module = 2});
  EXPECT_EQ(space.size(), 3U);
  EXPECT_EQ(space.Find(0x1fff)->module, 1U);
  EXPECT_EQ(space.Find(0x2000)->module, 2U);
  const Mapped* const rest = space.Find(0x3000);
  EXPECT_EQ(rest->module, 1U);
  EXPECT_EQ(rest->begin, 0x3000U);
  EXPECT_EQ(rest->file_offset, 0x2000U);
  EXPECT_EQ(space.Find(0xfff), nullptr);
  EXPECT_EQ(space.Find(0x5000), nullptr);
  space.Map({.begin = 0, .end = 0x9000, .file_offset = 0, .module = 3});
  EXPECT_EQ(space.size(), 1U);
}

TEST(ProfileMaps, ForkCopiesMappings) {
  Processes processes;
  processes.Map(10, {.begin = 0x1000, .end = 0x2000, .file_offset = 0, .module = 1});
  processes.Fork(10, 11);
  processes.Map(10, {.begin = 0x3000, .end = 0x4000, .file_offset = 0, .module = 2});
  EXPECT_NE(processes.Find(11)->Find(0x1000), nullptr);
  EXPECT_EQ(processes.Find(11)->Find(0x3000), nullptr);
  processes.Begin(11);
  EXPECT_EQ(processes.Find(11)->Find(0x1000), nullptr);
  EXPECT_NE(processes.Find(10)->Find(0x1000), nullptr);
}

TEST(ProfileMaps, OldestEndedProcessesAreDropped) {
  Processes processes;
  for (std::uint32_t pid = 1; pid <= Processes::kMaxEnded + 1; ++pid) {
    processes.Begin(pid);
    processes.End(pid);
  }
  EXPECT_FALSE(processes.IsKnown(1));
  EXPECT_TRUE(processes.IsKnown(2));
  EXPECT_EQ(processes.size(), Processes::kMaxEnded);
}

TEST(ProfileMaps, ReusedPidIsNotDropped) {
  Processes processes;
  processes.Begin(1);
  processes.End(1);
  processes.Begin(1);
  for (std::uint32_t pid = 2; pid <= Processes::kMaxEnded + 1; ++pid) {
    processes.Begin(pid);
    processes.End(pid);
  }
  EXPECT_TRUE(processes.IsKnown(1));
}

// "/bin/demo", padded to a multiple of 8 bytes.
constexpr std::uint64_t kName[] = {0x6d65642f6e69622f, 0x6f};

TEST(ProfileSideBand, ParsesMappingAndTime) {
  const auto body = Bytes({Pair(7, 8), 0x1000, 0x2000, 0x300, Pair(8, 1), 99, 0, Pair(5, 2),
                           kName[0], kName[1], Pair(7, 8), 12345});
  const auto record = ParseSideRecord(PERF_RECORD_MMAP2, 0, body);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->kind, SideRecord::Kind::kMap);
  EXPECT_EQ(record->pid, 7U);
  EXPECT_EQ(record->time_ns, 12345U);
  EXPECT_EQ(record->mapping.end, 0x3000U);
  EXPECT_EQ(record->mapping.file_offset, 0x300U);
  EXPECT_EQ(record->mapping.file,
            (FileKey{.major = 8, .minor = 1, .inode = 99, .path = "/bin/demo"}));
}

TEST(ProfileSideBand, ParsesForkExecAndExit) {
  const auto fork =
      ParseSideRecord(PERF_RECORD_FORK, 0, Bytes({Pair(8, 7), Pair(9, 7), 1, Pair(7, 7), 55}));
  ASSERT_TRUE(fork);
  EXPECT_EQ(fork->kind, SideRecord::Kind::kFork);
  EXPECT_EQ(fork->pid, 8U);
  EXPECT_EQ(fork->parent_pid, 7U);
  EXPECT_EQ(fork->tid, 9U);
  EXPECT_EQ(fork->time_ns, 55U);
  const auto exec = Bytes({Pair(8, 8), kName[0], Pair(8, 8), 60});
  EXPECT_EQ(ParseSideRecord(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, exec)->kind,
            SideRecord::Kind::kExec);
  EXPECT_FALSE(ParseSideRecord(PERF_RECORD_COMM, 0, exec));
}

TEST(ProfileSideBand, ParsesLossAndThrottling) {
  EXPECT_EQ(ParseSideRecord(PERF_RECORD_LOST, 0, Bytes({1, 17}))->lost, 17U);
  EXPECT_EQ(ParseSideRecord(PERF_RECORD_THROTTLE, 0, {})->kind, SideRecord::Kind::kThrottle);
}

TEST(ProfileSideBand, ShortRecordsAreRejected) {
  EXPECT_FALSE(ParseSideRecord(PERF_RECORD_MMAP2, 0, Bytes({1, 2})));
  EXPECT_FALSE(ParseSideRecord(PERF_RECORD_EXIT, 0, Bytes({1})));
  EXPECT_FALSE(ParseSideRecord(PERF_RECORD_LOST, 0, Bytes({1})));
}

std::vector<std::byte> SampleBytes(std::uint64_t time_ns, const char* comm,
                                   std::uint64_t kernel_address) {
  profile_sample head = {};
  head.time_ns = time_ns;
  head.period = 100;
  head.kernel_bytes = sizeof(kernel_address);
  std::memcpy(head.comm, comm, std::min(sizeof(head.comm), std::strlen(comm)));
  std::vector<std::byte> bytes(sizeof(head) + sizeof(kernel_address));
  std::memcpy(bytes.data(), &head, sizeof(head));
  std::memcpy(bytes.data() + sizeof(head), &kernel_address, sizeof(kernel_address));
  return bytes;
}

TEST(ProfileSample, ParsesStacks) {
  const auto sample = ParseSample(SampleBytes(5, "sixteen letters!", 0x77));
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->Command(), "sixteen letters!");
  EXPECT_THAT(sample->kernel, testing::ElementsAre(0x77));
  EXPECT_TRUE(sample->user.empty());
}

TEST(ProfileSample, WrongSizeIsRejected) {
  auto bytes = SampleBytes(5, "c", 0x77);
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(ParseSample(bytes));
  bytes.resize(bytes.size() - 2);
  EXPECT_FALSE(ParseSample(bytes));
}

TEST(ProfileCollector, ProcessesInOrderOfTime) {
  StackStore stacks;
  Symbolizer symbolizer(stacks, false);
  std::ostringstream text;
  Collector collector(stacks, symbolizer, &text);
  collector.Add(SampleBytes(30, "third", 1));
  collector.Add(SampleBytes(20, "second", 1));
  collector.Add(SampleBytes(10, "first", 1));
  collector.Add(SampleBytes(40, "later", 1));
  collector.ProcessUntil(30, [](const SideRecord&) {});
  const std::string shown = text.str();
  EXPECT_LT(shown.find("first"), shown.find("second"));
  EXPECT_LT(shown.find("second"), shown.find("third"));
  EXPECT_EQ(shown.find("later"), std::string::npos);
  EXPECT_EQ(stacks.Total().samples, 3U);
  EXPECT_EQ(stacks.Total().events, 300U);
  collector.ProcessUntil(40, [](const SideRecord&) {});
  EXPECT_EQ(stacks.Total().samples, 4U);
}

TEST(ProfileCollector, CountsLossAndThrottling) {
  StackStore stacks;
  Symbolizer symbolizer(stacks, false);
  Collector collector(stacks, symbolizer, nullptr);
  SideRecord lost;
  lost.kind = SideRecord::Kind::kLost;
  lost.lost = 5;
  collector.Add(lost);
  SideRecord throttle;
  throttle.kind = SideRecord::Kind::kThrottle;
  collector.Add(throttle);
  collector.Add(Bytes({1}));
  EXPECT_EQ(collector.records_lost(), 5U);
  EXPECT_EQ(collector.throttled(), 1U);
  EXPECT_EQ(collector.broken(), 1U);
}

}  // namespace
}  // namespace pmuconf::profile

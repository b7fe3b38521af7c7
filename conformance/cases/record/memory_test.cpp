// SPDX-License-Identifier: Apache-2.0
// Sample fields about the data and the code of an event: cost, source, physical address, page
// sizes, cgroup, branches.
#include <fcntl.h>
#include <linux/mman.h>
#include <sys/mman.h>

#include <bit>
#include <memory>

#include "cases/branch/branch.h"
#include "cases/common.h"
#include "cases/precise/precise.h"
#include "cases/record/kernel_symbol.h"
#include "harness/behaviour.h"
#include "harness/uses.h"
#include "perf/ring.h"
#include "rules/REC.h"
#include "system/cgroup.h"
#include "system/sysctl.h"

namespace pmuconf {
namespace {

const std::uint64_t kSmallPage = PageSize();
constexpr std::uint64_t kHugePage = 2 << 20;

// An event with period 1 and its ring buffer. Each sample has a call chain, so that none waits in
// the PMU's buffer.
class StepSampler {
 public:
  explicit StepSampler(std::uint64_t sample_type, unsigned precise = 0)
      : event_(Open(spec_, Precise(1, sample_type | PERF_SAMPLE_CALLCHAIN, precise))),
        ring_(event_, 1) {
    event_.Enable();
  }

  Sample Next(const PulseOptions& pulse) {
    target().Stimulate(spec_, 1, pulse);
    const RingContents got = ring_.Drain();
    if (got.samples.size() != 1) throw Broken("not one sample of one event");
    return got.samples[0];
  }

 private:
  EventSpec spec_ = target().AnyEvent();
  Event event_;
  Ring ring_;
};

// Anonymous memory. The destructor unmaps it.
class Pages {
 public:
  explicit Pages(std::size_t bytes, int flags = 0)
      : bytes_(bytes),
        base_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1,
                   0)) {
    if (base_ == MAP_FAILED) throw BrokenErrno("mmap", errno);
    // Otherwise the kernel may make these pages a part of a huge page.
    if (flags == 0) madvise(base_, bytes, MADV_NOHUGEPAGE);
  }
  Pages(const Pages&) = delete;
  ~Pages() { munmap(base_, bytes_); }

  void Touch() const { *static_cast<volatile char*>(base_) = 1; }
  void* base() const { return base_; }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(base_); }

 private:
  std::size_t bytes_;
  void* base_;
};

// A huge page that the kernel makes of small pages on request (Linux 6.1). So the machine needs no
// reserved huge pages.
class HugePage {
 public:
  HugePage() {
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK) != 0) SkipWithout("huge pages");
    std::size_t space = 2 * kHugePage;
    if (std::align(kHugePage, kHugePage, base_, space) == nullptr) throw Broken("no room to align");
    *static_cast<volatile char*>(base_) = 1;
    if (madvise(base_, kHugePage, MADV_COLLAPSE) != 0) throw BrokenErrno("a huge page", errno);
  }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(base_); }

 private:
  Pages memory_{2 * kHugePage, MAP_NORESERVE};
  void* base_ = memory_.base();
};

// The physical address of `address`, from the page map of this process.
std::uint64_t PhysicalAddress(std::uint64_t address) {
  const Fd map(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  std::uint64_t entry = 0;
  if (pread(map.get(), &entry, sizeof(entry), static_cast<off_t>(address / kSmallPage * 8)) !=
      static_cast<ssize_t>(sizeof(entry))) {
    throw BrokenErrno("reading the page map", errno);
  }
  return (entry & ((std::uint64_t{1} << 55) - 1)) * kSmallPage + address % kSmallPage;
}

CONFORMANCE_CASE(Record, WeightIsTheLatencyOfTheAccess, .rules = {rule::REC_015, rule::REC_016},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise}) {
  for (const std::uint32_t latency : {1, 321, 65'535, 0}) {
    const auto sampled = [latency](std::uint64_t type) {
      return StepSampler(type, target().precise()).Next({.ip = 0x401000, .latency = latency});
    };
    EXPECT_EQ(sampled(PERF_SAMPLE_WEIGHT).weight, latency) << rule::REC_015;
    perf_sample_weight weight = {};
    weight.full = sampled(PERF_SAMPLE_WEIGHT_STRUCT).weight.value();
    EXPECT_EQ(weight.var1_dw, latency) << rule::REC_016;
    EXPECT_EQ(weight.var2_w, 0) << rule::REC_016;
    EXPECT_EQ(weight.var3_w, 0) << rule::REC_016;
  }
}

CONFORMANCE_CASE(Record, UnmeasuredCostsAreZero,
                 .rules = {rule::REC_015, rule::REC_016, rule::REC_018},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  for (const std::uint64_t type : {PERF_SAMPLE_WEIGHT, PERF_SAMPLE_WEIGHT_STRUCT}) {
    StepSampler sampler(type | PERF_SAMPLE_TRANSACTION);
    for (int i = 0; i < 3; ++i) {
      const Sample sample = sampler.Next({.addr = ~0ull, .latency = 321, .source = ~0ull});
      EXPECT_EQ(sample.weight, 0u) << rule::REC_015 << rule::REC_016;
      EXPECT_EQ(sample.transaction, 0u) << rule::REC_018;
    }
  }
}

CONFORMANCE_CASE(Record, TransactionIsZeroOutsideTransaction, .rules = {rule::REC_018},
                 .needs = {Cap::kStimulus, Cap::kPrecise}) {
  StepSampler sampler(PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_ADDR, target().precise());
  for (int i = 0; i < 3; ++i) {
    const Sample sample = sampler.Next({.ip = 0x401000, .addr = ~0ull, .latency = 7});
    EXPECT_EQ(sample.addr, ~0ull);
    EXPECT_EQ(sample.transaction, 0u);
  }
}

CONFORMANCE_CASE(Record, DataSourceIsReported, .rules = {rule::REC_017},
                 .needs = {Cap::kStimulus, Cap::kPrecise}) {
  StepSampler sampler(PERF_SAMPLE_DATA_SRC, target().precise());
  const std::uint64_t level = PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, L3);
  perf_mem_data_src source = {};
  source.val = sampler
                   .Next({.ip = 0x401000,
                          .latency = 40,
                          .source = PERF_MEM_S(OP, LOAD) | level | PERF_MEM_S(SNOOP, HITM) |
                                    PERF_MEM_S(TLB, MISS)})
                   .data_src.value();
  EXPECT_EQ(source.mem_op, PERF_MEM_OP_LOAD);
  EXPECT_EQ(source.mem_lvl, PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3);
  EXPECT_EQ(source.mem_snoop, PERF_MEM_SNOOP_HITM);
  EXPECT_EQ(source.mem_dtlb, PERF_MEM_TLB_MISS);
  EXPECT_EQ(source.mem_lock, 0u);
  source.val = sampler.Next({.ip = 0x401000, .source = PERF_MEM_S(OP, STORE)}).data_src.value();
  EXPECT_EQ(source.val, std::uint64_t{PERF_MEM_S(OP, STORE)});
}

CONFORMANCE_CASE(Record, UnknownSourceIsNotAvailable, .rules = {rule::REC_017},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling}) {
  StepSampler sampler(PERF_SAMPLE_DATA_SRC);
  perf_mem_data_src source = {};
  source.val = sampler.Next({.latency = 40, .source = PERF_MEM_S(OP, LOAD)}).data_src.value();
  EXPECT_EQ(source.mem_op, PERF_MEM_OP_NA);
  EXPECT_EQ(source.mem_lvl, PERF_MEM_LVL_NA);
  EXPECT_EQ(source.mem_snoop, PERF_MEM_SNOOP_NA);
  EXPECT_EQ(source.mem_lock, PERF_MEM_LOCK_NA);
  EXPECT_EQ(source.mem_dtlb, PERF_MEM_TLB_NA);
  EXPECT_TRUE(IsBehaviour(rule::REC_017, "level_not_available",
                          static_cast<std::int64_t>(source.mem_lvl_num)));
  // The value is the same for each sample, also with another access.
  const auto next = sampler.Next({.latency = 50, .source = PERF_MEM_S(OP, STORE)}).data_src.value();
  EXPECT_EQ(next, source.val);
}

CONFORMANCE_CASE(Record, PhysAddrMatchesDataAddress, .rules = {rule::REC_020},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kTasks}) {
  const Pages touched(3 * kSmallPage), untouched(kSmallPage);
  touched.Touch();
  // Keeps the pages in memory.
  ASSERT_EQ(mlock(std::bit_cast<void*>(touched.address()), 3 * kSmallPage), 0);
  for (const unsigned precise : {0u, target().precise()}) {
    for (const std::uint64_t besides : {std::uint64_t{0}, std::uint64_t{PERF_SAMPLE_ADDR}}) {
      StepSampler sampler(PERF_SAMPLE_PHYS_ADDR | besides, precise);
      for (const std::uint64_t offset : {0ul, 1ul, 0x7f8ul, kSmallPage + 8, 3 * kSmallPage - 1}) {
        const std::uint64_t address = touched.address() + offset;
        const std::uint64_t want = PhysicalAddress(address);
        ASSERT_GT(want, kSmallPage);
        EXPECT_EQ(sampler.Next({.addr = address}).phys_addr, want);
      }
      EXPECT_EQ(sampler.Next({.addr = untouched.address()}).phys_addr, 0u);
      EXPECT_EQ(sampler.Next({.addr = 0}).phys_addr, 0u);
    }
  }
}

CONFORMANCE_CASE(Record, PhysAddrNeedsKernelPrivilege, .rules = {rule::REC_020},
                 .needs = {Cap::kSampling, Cap::kTasks, Cap::kExcludes}) {
  const auto unprivileged = [](std::uint64_t sample_type) {
    Child child([sample_type] {
      if (setresuid(65534, 65534, 65534) != 0) return 126;
      return TryOpen(target().AnyEvent(), {.sample_period = 1'000,
                                           .sample_type = sample_type,
                                           .exclude_kernel = true,
                                           .exclude_hv = true})
          .error;
    });
    return child.Run();
  };
  {
    const Sysctl paranoid("kernel/perf_event_paranoid", "2");
    EXPECT_EQ(unprivileged(PERF_SAMPLE_PHYS_ADDR), EACCES);
    EXPECT_EQ(unprivileged(PERF_SAMPLE_ADDR), 0);
  }
  const Sysctl paranoid("kernel/perf_event_paranoid", "1");
  EXPECT_EQ(unprivileged(PERF_SAMPLE_PHYS_ADDR), 0);
}

CASE_USES(Record, CgroupIdMatchesTask, Feature::kPerfCgroups);
CONFORMANCE_CASE(Record, CgroupIdMatchesTask, .rules = {rule::REC_021},
                 .needs = {Cap::kStimulus, Cap::kSampling, Cap::kTasks, Cap::kAnyTask}) {
  const CgroupRoot root;
  const Cgroup first(root, "pmuconf-first"), second(root, "pmuconf-second");
  StepSampler sampler(PERF_SAMPLE_CGROUP);
  EXPECT_EQ(sampler.Next({}).cgroup, 1u);  // the inode of the root cgroup
  for (const Cgroup* cgroup : {&first, &second, &first}) {
    cgroup->Enter();
    EXPECT_EQ(sampler.Next({}).cgroup, cgroup->id());
  }
}

CONFORMANCE_CASE(Record, PageSizesMatchUserPages, .rules = {rule::REC_022},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kTasks}) {
  const HugePage huge;
  const Pages small(kSmallPage), untouched(kSmallPage);
  small.Touch();
  StepSampler sampler(PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE);
  const auto sizes = [&sampler](std::uint64_t ip, std::uint64_t address) {
    const Sample sample = sampler.Next({.ip = ip, .addr = address});
    return std::pair(*sample.code_page_size, *sample.data_page_size);
  };
  for (const std::uint64_t offset : {0ul, 77ul, kHugePage - 1}) {
    EXPECT_EQ(sizes(small.address(), huge.address() + offset), std::pair(kSmallPage, kHugePage));
    EXPECT_EQ(sizes(huge.address() + offset, small.address()), std::pair(kHugePage, kSmallPage));
  }
  EXPECT_EQ(sizes(small.address(), untouched.address()), std::pair(kSmallPage, std::uint64_t{0}));
  EXPECT_EQ(sizes(untouched.address(), small.address()), std::pair(std::uint64_t{0}, kSmallPage));
}

CONFORMANCE_CASE(Record, PreciseDataPageSizeMatchesAccess, .rules = {rule::REC_022},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kPrecise, Cap::kTasks}) {
  const HugePage huge;
  const Pages small(kSmallPage);
  small.Touch();
  StepSampler sampler(PERF_SAMPLE_DATA_PAGE_SIZE, target().precise());
  EXPECT_EQ(sampler.Next({.addr = huge.address()}).data_page_size, kHugePage);
  EXPECT_EQ(sampler.Next({.addr = small.address()}).data_page_size, kSmallPage);
}

CASE_USES(Record, KernelPageSizesArePowersOfTwo, Feature::kSymbols);
// A user page on the other side shows that each size belongs to its own address.
CONFORMANCE_CASE(Record, KernelPageSizesArePowersOfTwo, .rules = {rule::REC_022},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kSampling, Cap::kTasks,
                           Cap::kExcludes}) {
  const std::uint64_t text = AddressOf(kSeldomCalled);
  const Pages small(kSmallPage), untouched(kSmallPage);
  small.Touch();
  StepSampler sampler(PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE);
  const auto sizes = [&sampler](std::uint64_t ip, std::uint64_t address) {
    const Sample sample =
        sampler.Next({.privilege = Privilege::kKernel, .ip = ip, .addr = address});
    return std::pair(*sample.code_page_size, *sample.data_page_size);
  };
  const std::uint64_t of_text = sizes(text, text + 4).first;
  EXPECT_GE(of_text, kSmallPage);
  EXPECT_TRUE(std::has_single_bit(of_text));
  EXPECT_EQ(sizes(text, text + 4), std::pair(of_text, of_text));
  EXPECT_EQ(sizes(text, small.address()), std::pair(of_text, kSmallPage));
  EXPECT_EQ(sizes(text, untouched.address()), std::pair(of_text, std::uint64_t{0}));
  EXPECT_EQ(sizes(small.address(), text), std::pair(kSmallPage, of_text));
}

CONFORMANCE_CASE(Record, BranchCountMatchesEntries, .rules = {rule::REC_012},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kBranches, Cap::kAddresses}) {
  const NoPreemption no_preemption;
  const EventSpec spec = target().AnyEvent();
  for (const std::uint64_t index : {std::uint64_t{0}, std::uint64_t{PERF_SAMPLE_BRANCH_HW_INDEX}}) {
    OpenOptions options = WithBranches(kAnyUserBranch | index);
    options.sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_DATA_SRC;
    auto [event, ring] = Sampler(spec, options, 4);
    for (const std::uint64_t n : {0, 1, 5}) {
      RunBranches(port(), Jumps(0x60400000 + 0x1000 * n, n));
      EndPeriod(spec, {.addr = 0x1234});
      const std::vector<Record> records = ring.DrainRaw();
      ASSERT_EQ(records.size(), 1u);
      const auto sample = ParseSample(records[0], event.attr());
      ASSERT_TRUE(sample);
      const std::size_t entries = n + (n == 5);  // the branch of the previous round is still there
      EXPECT_EQ(sample->branches->size(), entries);
      EXPECT_EQ(sample->branch_hw_index.has_value(), index != 0);
      EXPECT_EQ(records[0].body.size(), 24 + (index ? 8 : 0) + 24 * entries);
      EXPECT_EQ(sample->addr, 0x1234u);
      for (std::size_t i = 0; i < n; ++i) {
        const perf_branch_entry& entry = sample->branches->at(i);
        EXPECT_EQ(entry.from, 0x60400000 + 0x1000 * n + 16 * (n - 1 - i));
        EXPECT_EQ(entry.to, entry.from + 8);
        EXPECT_EQ(entry.mispred, 0u);
        EXPECT_EQ(entry.predicted, 1u);
      }
    }
  }
}

}  // namespace
}  // namespace pmuconf

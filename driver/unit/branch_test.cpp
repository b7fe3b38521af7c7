// SPDX-License-Identifier: Apache-2.0
// Tests the filter of branch records against perf_event_open(2), one record at a time.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core.h"

namespace pmuconf {
namespace {

constexpr u64 kUser = 0x401000;
constexpr u64 kKernel = 0xffffffff81000000;
constexpr u64 kBoth = REFPMU_WANT_BRANCH_USER | REFPMU_WANT_BRANCH_KERNEL;
constexpr u64 kAnyWhere = kBoth | REFPMU_WANT_BRANCH_ANY;

using Entries = std::vector<refpmu_pebs_lbr>;
using Samples = std::vector<refpmu_branch_sample>;

u64 Info(unsigned type, u64 flags = 0, u64 cycles = 0) {
  return u64{type} << REFPMU_LBR_INFO_TYPE_SHIFT | flags | cycles;
}

refpmu_pebs_lbr Branch(unsigned type, u64 from = kUser, u64 to = kUser + 0x100, u64 flags = 0) {
  return {from, to, Info(type, flags)};
}

Samples Filter(const Entries& entries, u64 filter) {
  Samples samples(entries.size());
  const unsigned kept = refpmu_branch_filter(entries.data(), static_cast<unsigned>(entries.size()),
                                             filter, samples.data());
  EXPECT_LE(kept, entries.size());
  samples.resize(kept);
  return samples;
}

bool IsSelected(const refpmu_pebs_lbr& entry, u64 filter) {
  return Filter({entry}, filter).size() == 1;
}

TEST(Branch, FilterSelectsEachBranchType) {
  struct Row {
    unsigned type;
    u64 kinds;
  };
  const Row rows[] = {
      {REFPMU_LBR_TYPE_JCC, REFPMU_WANT_BRANCH_COND},
      {REFPMU_LBR_TYPE_IND_JMP, REFPMU_WANT_BRANCH_IND_JUMP},
      {REFPMU_LBR_TYPE_REL_JMP, 0},
      {REFPMU_LBR_TYPE_IND_CALL,
       REFPMU_WANT_BRANCH_ANY_CALL | REFPMU_WANT_BRANCH_IND_CALL | REFPMU_WANT_BRANCH_CALL_STACK},
      {REFPMU_LBR_TYPE_REL_CALL,
       REFPMU_WANT_BRANCH_ANY_CALL | REFPMU_WANT_BRANCH_CALL | REFPMU_WANT_BRANCH_CALL_STACK},
      {REFPMU_LBR_TYPE_RET, REFPMU_WANT_BRANCH_ANY_RETURN},
      {REFPMU_LBR_TYPE_FAR, REFPMU_WANT_BRANCH_ANY_CALL},
      {15, REFPMU_WANT_BRANCH_ANY_CALL},  // another far type
  };
  for (const Row& row : rows) {
    for (int bit = 3; bit <= 13; ++bit) {
      const u64 kind = BIT_ULL(bit);
      if (kind & (REFPMU_WANT_BRANCH_IN_TX | REFPMU_WANT_BRANCH_NO_TX)) continue;
      const bool asked = kind == REFPMU_WANT_BRANCH_ANY || (row.kinds & kind);
      EXPECT_EQ(IsSelected(Branch(row.type), kBoth | kind), asked)
          << "type " << row.type << " bit " << bit;
    }
  }
}

TEST(Branch, FarBranchToUserSpaceIsAReturn) {
  const refpmu_pebs_lbr back = Branch(REFPMU_LBR_TYPE_FAR, kKernel, kUser);
  EXPECT_TRUE(IsSelected(back, kBoth | REFPMU_WANT_BRANCH_ANY_RETURN));
  EXPECT_FALSE(IsSelected(back, kBoth | REFPMU_WANT_BRANCH_ANY_CALL));
  for (u64 from : {kUser, kKernel}) {
    const refpmu_pebs_lbr in = Branch(REFPMU_LBR_TYPE_FAR, from, kKernel + 0x40);
    EXPECT_TRUE(IsSelected(in, kBoth | REFPMU_WANT_BRANCH_ANY_CALL));
    EXPECT_FALSE(IsSelected(in, kBoth | REFPMU_WANT_BRANCH_ANY_RETURN));
  }
}

TEST(Branch, SeveralTypesSelectTheirUnion) {
  const u64 filter = kBoth | REFPMU_WANT_BRANCH_COND | REFPMU_WANT_BRANCH_ANY_RETURN;
  EXPECT_TRUE(IsSelected(Branch(REFPMU_LBR_TYPE_JCC), filter));
  EXPECT_TRUE(IsSelected(Branch(REFPMU_LBR_TYPE_RET), filter));
  EXPECT_FALSE(IsSelected(Branch(REFPMU_LBR_TYPE_REL_CALL), filter));
}

TEST(Branch, AbortMatchesInAdditionToItsType) {
  const auto abort = Branch(REFPMU_LBR_TYPE_JCC, kUser, kUser, REFPMU_LBR_INFO_ABORT);
  EXPECT_TRUE(IsSelected(abort, kBoth | REFPMU_WANT_BRANCH_ABORT_TX));
  EXPECT_TRUE(IsSelected(abort, kBoth | REFPMU_WANT_BRANCH_COND));
  EXPECT_FALSE(IsSelected(Branch(REFPMU_LBR_TYPE_JCC), kBoth | REFPMU_WANT_BRANCH_ABORT_TX));
}

TEST(Branch, TransactionFilterNarrowsTheSelection) {
  const auto in = Branch(REFPMU_LBR_TYPE_JCC, kUser, kUser, REFPMU_LBR_INFO_IN_TX);
  const auto out = Branch(REFPMU_LBR_TYPE_JCC);
  for (u64 kind : {u64{REFPMU_WANT_BRANCH_ANY}, u64{REFPMU_WANT_BRANCH_COND}, u64{0}}) {
    const u64 filter = kBoth | kind;
    EXPECT_TRUE(IsSelected(in, filter | REFPMU_WANT_BRANCH_IN_TX));
    EXPECT_FALSE(IsSelected(out, filter | REFPMU_WANT_BRANCH_IN_TX));
    EXPECT_FALSE(IsSelected(in, filter | REFPMU_WANT_BRANCH_NO_TX));
    EXPECT_TRUE(IsSelected(out, filter | REFPMU_WANT_BRANCH_NO_TX));
    for (const auto& entry : {in, out}) {
      EXPECT_TRUE(IsSelected(entry, filter | REFPMU_WANT_BRANCH_IN_TX | REFPMU_WANT_BRANCH_NO_TX));
      EXPECT_TRUE(IsSelected(entry, filter));
    }
  }
  EXPECT_FALSE(IsSelected(in, kBoth | REFPMU_WANT_BRANCH_IND_CALL | REFPMU_WANT_BRANCH_IN_TX));
}

TEST(Branch, PrivilegeFilterUsesTheTarget) {
  const struct {
    u64 from, to;
    bool user, kernel, both;  // expected with that privilege filter
  } rows[] = {
      {kUser, kUser, true, false, true},
      {kUser, kKernel, false, true, true},
      {kKernel, kUser, false, false, true},  // not with USER alone: the source is a kernel address
      {kKernel, kKernel, false, true, true},
      {0x7fffffffffffffff, 0x7fffffffffffffff, true, false, true},
      {0x8000000000000000, 0x8000000000000000, false, true, true},
  };
  for (const auto& row : rows) {
    const auto entry = Branch(REFPMU_LBR_TYPE_JCC, row.from, row.to);
    SCOPED_TRACE(testing::Message() << std::hex << row.from << " to " << row.to);
    EXPECT_EQ(IsSelected(entry, REFPMU_WANT_BRANCH_ANY | REFPMU_WANT_BRANCH_USER), row.user);
    EXPECT_EQ(IsSelected(entry, REFPMU_WANT_BRANCH_ANY | REFPMU_WANT_BRANCH_KERNEL), row.kernel);
    EXPECT_EQ(IsSelected(entry, kAnyWhere), row.both);
    EXPECT_FALSE(IsSelected(entry, REFPMU_WANT_BRANCH_ANY));
    EXPECT_FALSE(IsSelected(entry, REFPMU_WANT_BRANCH_ANY | REFPMU_WANT_BRANCH_HV));
  }
}

TEST(Branch, SampleHasRequestedFlagsCyclesTypeAndPrivilege) {
  const u64 flags = REFPMU_LBR_INFO_MISPRED | REFPMU_LBR_INFO_IN_TX | REFPMU_LBR_INFO_ABORT;
  const Entries all = {{kUser, kKernel, Info(REFPMU_LBR_TYPE_REL_CALL, flags, 0xffff)},
                       {kUser + 1, kUser, Info(REFPMU_LBR_TYPE_RET, 0, 7)}};

  Samples samples = Filter(all, kAnyWhere);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].from, kUser);
  EXPECT_EQ(samples[0].to, kKernel);
  EXPECT_EQ(samples[0].cycles, 0xffff);
  EXPECT_TRUE(samples[0].mispred && samples[0].in_tx && samples[0].abort);
  EXPECT_FALSE(samples[0].predicted);
  EXPECT_EQ(samples[1].from, kUser + 1);
  EXPECT_EQ(samples[1].cycles, 7);
  EXPECT_TRUE(samples[1].predicted);
  EXPECT_FALSE(samples[1].mispred || samples[1].in_tx || samples[1].abort);
  for (const auto& sample : samples) {
    EXPECT_EQ(sample.type, REFPMU_BRANCH_TYPE_UNKNOWN);
    EXPECT_EQ(sample.priv, REFPMU_BRANCH_PRIV_UNKNOWN);
  }

  samples = Filter(all, kAnyWhere | REFPMU_WANT_BRANCH_NO_FLAGS | REFPMU_WANT_BRANCH_NO_CYCLES |
                            REFPMU_WANT_BRANCH_TYPE_SAVE | REFPMU_WANT_BRANCH_PRIV_SAVE |
                            REFPMU_WANT_BRANCH_HW_INDEX);
  ASSERT_EQ(samples.size(), 2u);
  for (const auto& sample : samples) {
    EXPECT_FALSE(sample.mispred || sample.predicted || sample.in_tx || sample.abort);
    EXPECT_EQ(sample.cycles, 0);
  }
  EXPECT_EQ(samples[0].type, REFPMU_BRANCH_TYPE_CALL);
  EXPECT_EQ(samples[0].priv, REFPMU_BRANCH_PRIV_KERNEL);
  EXPECT_EQ(samples[1].type, REFPMU_BRANCH_TYPE_RET);
  EXPECT_EQ(samples[1].priv, REFPMU_BRANCH_PRIV_USER);
}

TEST(Branch, TypesEqualThoseOfPerf) {
  const u8 types[16] = {
      REFPMU_BRANCH_TYPE_COND,     REFPMU_BRANCH_TYPE_IND,  REFPMU_BRANCH_TYPE_UNCOND,
      REFPMU_BRANCH_TYPE_IND_CALL, REFPMU_BRANCH_TYPE_CALL, REFPMU_BRANCH_TYPE_RET,
  };  // then unknown types
  for (unsigned type = 0; type < 16; ++type) {
    const Samples samples = Filter({Branch(type)}, kAnyWhere | REFPMU_WANT_BRANCH_TYPE_SAVE);
    ASSERT_EQ(samples.size(), 1u);
    EXPECT_EQ(samples[0].type, types[type]) << "type " << type;
  }
}

TEST(Branch, EmptyEntriesAreSkippedAndOrderRemains) {
  const Entries entries = {Branch(REFPMU_LBR_TYPE_JCC, 1, 2),
                           {},
                           Branch(REFPMU_LBR_TYPE_RET, 0, 4),
                           {0, 0, ~0ULL},
                           Branch(REFPMU_LBR_TYPE_JCC, 5, 0)};
  const Samples samples = Filter(entries, kAnyWhere);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].from, 1u);
  EXPECT_EQ(samples[1].to, 4u);
  EXPECT_EQ(samples[2].from, 5u);
  EXPECT_TRUE(Filter({}, kAnyWhere).empty());
}

TEST(Branch, UserFilterShowsNoKernelAddressOfRandomRecords) {
  std::mt19937_64 random(15);
  for (int i = 0; i < 20'000; ++i) {
    Entries entries(random() % 33);
    for (refpmu_pebs_lbr& entry : entries) entry = {random(), random(), random()};
    const u64 filter = random() & ~REFPMU_WANT_BRANCH_KERNEL;
    for (const refpmu_branch_sample& sample : Filter(entries, filter)) {
      ASSERT_FALSE(sample.from >> 63);
      ASSERT_FALSE(sample.to >> 63);
    }
  }
}

}  // namespace
}  // namespace pmuconf

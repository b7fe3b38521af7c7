// SPDX-License-Identifier: Apache-2.0
// Tests which attributes are accepted, and with which request or errno.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>

#include "core.h"

namespace pmuconf {
namespace {

const refpmu_config_vector kConfigs[] = {
#include "config.inc"
};

const refpmu_caps kCaps = {.own_type = 9,
                           .general = 4,
                           .fixed = 3,
                           .width = 48,
                           .min_period = 32,
                           .lbr = 16,
                           .records = true};

void ExpectEqual(const refpmu_request& got, const refpmu_request& want) {
  EXPECT_EQ(got.evtsel, want.evtsel);
  EXPECT_EQ(got.allowed, want.allowed);
  EXPECT_EQ(got.preferred, want.preferred);
  EXPECT_EQ(got.period, want.period);
  EXPECT_EQ(got.sampling, want.sampling);
  EXPECT_EQ(got.freq, want.freq);
  EXPECT_EQ(got.wide, want.wide);
  EXPECT_EQ(got.extra, want.extra);
  EXPECT_EQ(got.extra_value, want.extra_value);
  EXPECT_EQ(got.precise, want.precise);
  EXPECT_EQ(got.record, want.record);
  EXPECT_EQ(got.branches, want.branches);
  EXPECT_EQ(got.branch_select, want.branch_select);
  EXPECT_EQ(got.branch_filter, want.branch_filter);
}

TEST(Config, ParseMatchesTheVectorsAndWritesOnlyOnSuccess) {
  const refpmu_request untouched = {1, 2, 3, 4, 5, 6, 7, 8, true, true, true, 9, 10, true};
  for (const refpmu_config_vector& row : kConfigs) {
    SCOPED_TRACE(row.name);
    refpmu_request request = untouched;
    EXPECT_EQ(refpmu_config_parse(&row.attr, &row.caps, &request), row.err);
    ExpectEqual(request, row.err == 0 ? row.req : untouched);
  }
}

TEST(Config, ListedEventsAreDistinctAndAccepted) {
  std::set<std::string> names;
  std::set<u64> codes;
  for (unsigned i = 0; i < refpmu_events_count; ++i) {
    const refpmu_event& event = refpmu_events[i];
    SCOPED_TRACE(event.name);
    names.insert(event.name);
    codes.insert(event.encoding.config);
    const refpmu_attr attr = {
        .type = 9, .config = event.encoding.config, .config1 = event.encoding.config1};
    refpmu_request request;
    ASSERT_EQ(refpmu_config_parse(&attr, &kCaps, &request), 0);
    EXPECT_EQ(request.allowed, refpmu_events_counters(event.encoding.config, &kCaps));
  }
  EXPECT_EQ(names.size(), refpmu_events_count);
  EXPECT_EQ(codes.size(), refpmu_events_count);
}

TEST(Config, PeriodIsCheckedAtItsBounds) {
  EXPECT_EQ(refpmu_config_check_period(0, &kCaps), -EINVAL);
  EXPECT_EQ(refpmu_config_check_period(31, &kCaps), -EINVAL);
  EXPECT_EQ(refpmu_config_check_period(32, &kCaps), 0);
  EXPECT_EQ(refpmu_config_check_period(0x7fffffffffffffffULL, &kCaps), 0);
  EXPECT_EQ(refpmu_config_check_period(0x8000000000000000ULL, &kCaps), -EINVAL);
  EXPECT_EQ(refpmu_config_check_period(~0ULL, &kCaps), -EINVAL);
}

TEST(Config, OtherTypesAlwaysReturnEnoent) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 20'000; ++i) {
    u32 type = static_cast<u32>(random());
    if (i % 2) type %= 16;
    if (type == 0 || type == 3 || type == 4 || type == 9) continue;
    const refpmu_attr attr = {.type = type,
                              .config = random(),
                              .config1 = random() % 2,
                              .config2 = random() % 2,
                              .config3 = random() % 2,
                              .sample_period = random(),
                              .precise_ip = static_cast<u8>(random() % 4),
                              .freq = random() % 2 == 0,
                              .exclude_host = random() % 2 == 0};
    refpmu_request request;
    EXPECT_EQ(refpmu_config_parse(&attr, &kCaps, &request), -ENOENT) << type;
  }
}

TEST(Config, AcceptedRequestsFitTheirDevice) {
  std::mt19937_64 random(5);
  int accepted = 0;
  for (int i = 0; i < 50'000; ++i) {
    const refpmu_caps caps = {.own_type = 9,
                              .general = static_cast<u8>(1 + random() % 32),
                              .fixed = static_cast<u8>(random() % 4),
                              .width = static_cast<u8>(16 + random() % 49),
                              .min_period = 1 + random() % 100};
    const bool generic = random() % 2;
    const refpmu_attr attr = {
        .type = generic ? 0u : 9u,
        .config = generic ? random() % 12 : refpmu_events[random() % 11].encoding.config,
        .sample_period = random() % 3 ? random() % 200 : random(),
        .freq = random() % 2 == 0,
        .exclude_user = random() % 2 == 0,
        .exclude_kernel = random() % 2 == 0,
        .exclude_host = random() % 8 == 0};
    refpmu_request request;
    if (refpmu_config_parse(&attr, &caps, &request) != 0) continue;
    ++accepted;
    const u64 exists = refpmu_low_bits(caps.general) | refpmu_low_bits(caps.fixed)
                                                           << REFPMU_FIXED_BASE;
    EXPECT_NE(request.allowed, 0u);
    EXPECT_EQ(request.allowed & ~exists, 0u);
    EXPECT_EQ(request.preferred & ~request.allowed, 0u);
    EXPECT_EQ(request.evtsel & REFPMU_EVTSEL_EN, 0u);
    EXPECT_NE(request.evtsel & REFPMU_EVTSEL_INT, 0u);
    EXPECT_GE(request.period, 1u);
    EXPECT_LE(request.period, 0x7fffffffffffffffULL);
  }
  EXPECT_GT(accepted, 10'000);
}

constexpr u64 kBranchStack = BIT_ULL(11);
constexpr u64 kRegsIntr = BIT_ULL(18);

// A valid sampling event of the device, to which each test adds the fields that it tests.
refpmu_attr Sampling() { return {.type = 9, .config = 0xc4, .sample_period = 1000}; }

int Parse(const refpmu_attr& attr, refpmu_request* request, const refpmu_caps& caps = kCaps) {
  return refpmu_config_parse(&attr, &caps, request);
}

int Parse(const refpmu_attr& attr, const refpmu_caps& caps = kCaps) {
  refpmu_request request;
  return refpmu_config_parse(&attr, &caps, &request);
}

TEST(Config, LbrSelectExcludesUnrequestedBranches) {
  const std::pair<u64, u64> selects[] = {
      {0x009, 0x001},   // ANY, USER
      {0x00a, 0x002},   // ANY, KERNEL
      {0x00b, 0x000},   // ANY
      {0x013, 0x0e4},   // ANY_CALL: far branches may be calls
      {0x023, 0x0dc},   // ANY_RETURN
      {0x043, 0x1ec},   // IND_CALL
      {0x403, 0x1f8},   // COND
      {0x1003, 0x1bc},  // IND_JUMP
      {0x2003, 0x1f4},  // CALL
      {0x2403, 0x1f0},  // COND and CALL
      {0x803, 0x3c4},   // CALL_STACK
      {0x083, 0x000},   // ABORT_TX: an abort may have any type
      {0x103, 0x000},   // IN_TX: branches in a transaction may have any type
      {0x143, 0x1ec},   // IND_CALL, IN_TX
  };
  for (const auto& [filter, select] : selects) {
    SCOPED_TRACE(testing::Message() << std::hex << filter);
    refpmu_attr attr = Sampling();
    attr.sample_type = kBranchStack;
    attr.branch_sample_type = filter;
    refpmu_request request;
    ASSERT_EQ(Parse(attr, &request), 0);
    EXPECT_TRUE(request.branches);
    EXPECT_EQ(request.branch_filter, filter);
    EXPECT_EQ(request.branch_select, select);
    EXPECT_EQ(refpmu_config_branch_select(filter), select);
  }
}

TEST(Config, InvalidOrUnsupportedBranchStackIsRejected) {
  refpmu_attr attr = Sampling();
  attr.branch_sample_type = 0x9;
  // Without the sample type the filter is ignored.
  refpmu_request request;
  ASSERT_EQ(Parse(attr, &request), 0);
  EXPECT_FALSE(request.branches);
  EXPECT_EQ(request.branch_filter, 0u);

  attr.sample_type = kBranchStack;
  refpmu_caps without = kCaps;
  without.lbr = 0;
  EXPECT_EQ(Parse(attr, without), -EOPNOTSUPP);
  attr.branch_sample_type = 0x9 | BIT_ULL(19);
  EXPECT_EQ(Parse(attr), -EOPNOTSUPP);
  attr.branch_sample_type = 0x3;
  EXPECT_EQ(Parse(attr), -EINVAL);
  attr.branch_sample_type = 0x80b;
  EXPECT_EQ(Parse(attr), -EINVAL);
}

TEST(Config, RecordHasTheGroupsThatSamplesNeed) {
  const std::pair<u64, u64> records[] = {
      {0, 0},
      {BIT_ULL(3), 1},   // ADDR
      {BIT_ULL(14), 1},  // WEIGHT
      {BIT_ULL(15), 1},  // DATA_SRC
      {BIT_ULL(17), 1},  // TRANSACTION
      {BIT_ULL(19), 1},  // PHYS_ADDR
      {BIT_ULL(22), 1},  // DATA_PAGE_SIZE
      {BIT_ULL(24), 1},  // WEIGHT_STRUCT
      {kRegsIntr, 2},
      {kBranchStack, 0x0f000008},  // 16 entries
      {kBranchStack | kRegsIntr | BIT_ULL(3), 0x0f00000b},
  };
  for (const auto& [sample_type, record] : records) {
    for (u8 precise = 1; precise <= 3; ++precise) {
      refpmu_attr attr = Sampling();
      attr.precise_ip = precise;
      attr.sample_type = sample_type;
      attr.branch_sample_type = 0xb;
      refpmu_request request;
      ASSERT_EQ(Parse(attr, &request), 0) << std::hex << sample_type;
      EXPECT_EQ(request.precise, precise);
      EXPECT_EQ(request.record, record) << std::hex << sample_type;
    }
  }
}

TEST(Config, UnsupportedPreciseEventIsRejected) {
  refpmu_attr attr = Sampling();
  attr.precise_ip = 4;
  EXPECT_EQ(Parse(attr), -EOPNOTSUPP);
  attr.precise_ip = 1;
  refpmu_caps without = kCaps;
  without.records = false;
  EXPECT_EQ(Parse(attr, without), -EOPNOTSUPP);
  attr.sample_period = 0;
  EXPECT_EQ(Parse(attr), -EINVAL);
}

TEST(Config, UnsupportedExclusionIsRejected) {
  refpmu_attr idle = Sampling();
  idle.exclude_idle = true;
  EXPECT_EQ(Parse(idle), -EOPNOTSUPP);
  refpmu_attr host = Sampling();
  host.exclude_host = true;
  EXPECT_EQ(Parse(host), -EOPNOTSUPP);
  refpmu_attr guest = Sampling();
  guest.exclude_guest = guest.exclude_hv = true;
  EXPECT_EQ(Parse(guest), 0);
}

TEST(Config, EventWithoutItsRegisterIsRejectedWithTheErrnoOfItsType) {
  refpmu_caps without = kCaps;
  without.records = false;
  const refpmu_attr own = {.type = 9, .config = REFPMU_EVENT_OFFCORE_0, .config1 = 1};
  EXPECT_EQ(Parse(own), 0);
  EXPECT_EQ(Parse(own, without), -EINVAL);
  const refpmu_attr generic = {.type = 3, .config = 2};  // LL loads
  EXPECT_EQ(Parse(generic), 0);
  EXPECT_EQ(Parse(generic, without), -ENOENT);
  // A device with one counter has no pair.
  refpmu_caps single = kCaps;
  single.general = 1;
  const refpmu_attr wide = {.type = 9, .config = REFPMU_EVENT_WIDE};
  EXPECT_EQ(Parse(wide), 0);
  EXPECT_EQ(Parse(wide, single), -EINVAL);
}

TEST(Config, Config1IsOnlyValidForEventsWithARegister) {
  const std::pair<u64, u64> valid[] = {{REFPMU_EVENT_OFFCORE_0, 0x3fffff8fff},
                                       {REFPMU_EVENT_OFFCORE_1, 0x3fffff8fff},
                                       {REFPMU_EVENT_LOAD_LATENCY, 0xffff},
                                       {0xc4, 0}};
  for (const auto& [config, bits] : valid) {
    for (int bit = 0; bit < 64; ++bit) {
      const refpmu_attr attr = {.type = 9, .config = config, .config1 = BIT_ULL(bit)};
      EXPECT_EQ(Parse(attr), bits & BIT_ULL(bit) ? 0 : -EINVAL) << std::hex << config << " " << bit;
    }
  }
}

TEST(Config, CacheEventsAreThoseOfTheDevice) {
  // Columns: load access, load miss, store access, store miss, prefetch access, prefetch miss.
  constexpr const char* kCaches[] = {"111000", "010000", "111111", "111100",
                                     "110000", "110000", "111100"};
  for (u64 cache = 0; cache < 8; ++cache) {
    for (u64 op = 0; op < 4; ++op) {
      for (u64 result = 0; result < 3; ++result) {
        const refpmu_attr attr = {.type = 3, .config = cache | op << 8 | result << 16};
        int err = -EINVAL;
        if (cache < 7 && op < 3 && result < 2) {
          err = kCaches[cache][2 * op + result] == '1' ? 0 : -ENOENT;
        }
        EXPECT_EQ(Parse(attr), err) << cache << " " << op << " " << result;
      }
    }
  }
}

TEST(Config, AllGenericEventsAreAccepted) {
  for (u64 id = 0; id < 12; ++id) {
    const refpmu_attr attr = {.type = 0, .config = id};
    EXPECT_EQ(Parse(attr), id < 10 ? 0 : -EINVAL) << id;
  }
}

TEST(Config, InvRequiresCmask) {
  refpmu_attr attr = {.type = 9, .config = 0xc4 | REFPMU_EVTSEL_INV};
  EXPECT_EQ(Parse(attr), -EINVAL);
  attr.config |= 1u << REFPMU_EVTSEL_CMASK_SHIFT;
  EXPECT_EQ(Parse(attr), 0);
}

}  // namespace
}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Which attributes are taken, with which request or errno.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

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

TEST(Config, MatchesTheVectorsAndWritesOnlyOnSuccess) {
  const refpmu_request untouched = {1, 2, 3, 4, 5, 6, 7, 8, true, true, true, 9, 10, true};
  for (const refpmu_config_vector& row : kConfigs) {
    SCOPED_TRACE(row.name);
    refpmu_request request = untouched;
    EXPECT_EQ(refpmu_config_parse(&row.attr, &row.caps, &request), row.err);
    ExpectEqual(request, row.err == 0 ? row.req : untouched);
  }
}

TEST(Config, AdvertisedEventsAreDistinctAndAllOpen) {
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

TEST(Config, ForeignTypesAreNeverOursWhateverElseTheySay) {
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

TEST(Config, AcceptedRequestsFitTheDeviceTheyAreFor) {
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

}  // namespace
}  // namespace pmuconf

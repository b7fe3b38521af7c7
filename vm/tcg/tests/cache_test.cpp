// SPDX-License-Identifier: Apache-2.0
#include "tcg/cache.h"

#include <gtest/gtest.h>

namespace pmuconf::work {
namespace {

constexpr std::uint64_t kWay = 4096;  // bytes between addresses of one set

TEST(Cache, LineMissesOnce) {
  Cache cache;
  EXPECT_TRUE(cache.Misses(0));
  EXPECT_FALSE(cache.Misses(0));
  EXPECT_FALSE(cache.Misses(63));
  EXPECT_TRUE(cache.Misses(64));
}

TEST(Cache, KeepsAsMuchAsItsSize) {
  Cache cache;
  for (std::uint64_t at = 0; at < 32768; at += 64) EXPECT_TRUE(cache.Misses(at));
  for (std::uint64_t at = 0; at < 32768; at += 64) EXPECT_FALSE(cache.Misses(at));
}

TEST(Cache, EvictsTheLeastRecentlyUsedLine) {
  Cache cache;
  for (std::uint64_t way = 0; way < 8; ++way) EXPECT_TRUE(cache.Misses(way * kWay));
  EXPECT_FALSE(cache.Misses(0));
  EXPECT_TRUE(cache.Misses(8 * kWay));
  EXPECT_FALSE(cache.Misses(0));
  EXPECT_TRUE(cache.Misses(1 * kWay));
  EXPECT_FALSE(cache.Misses(3 * kWay));
}

}  // namespace
}  // namespace pmuconf::work

// SPDX-License-Identifier: Apache-2.0
// Repeated stacks are counted without a lookup, until their process changes.
#include "tools/profile/known_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <set>
#include <sstream>

#include "tools/profile/collector.h"

namespace pmuconf::profile {
namespace {

StackDigest DigestOf(const std::vector<std::uint64_t>& words) {
  return Digest(std::as_bytes(std::span(words)));
}

TEST(ProfileDigest, DigestDependsOnEveryWordAndItsPosition) {
  std::set<std::uint64_t> keys, checks;
  for (const auto& words : std::vector<std::vector<std::uint64_t>>{
           {}, {0}, {0, 0}, {1}, {1, 2}, {2, 1}, {1, 2, 3}, {1, 3, 2}, {1ULL << 63}}) {
    keys.insert(DigestOf(words).key);
    checks.insert(DigestOf(words).check);
  }
  // Without a start value, no words and zero words have the same digest. The start value is the
  // command.
  EXPECT_EQ(keys.size(), 7U);
  EXPECT_EQ(checks.size(), 7U);
  EXPECT_NE(Digest({}, {.key = 1, .check = 1}).key, DigestOf({0}).key);
}

TEST(ProfileKnownStacks, StacksBelongToTheirProcess) {
  KnownStacks known;
  known.Add(7, {.key = 1, .check = 2}, 3);
  EXPECT_EQ(known.Find(7, {.key = 1, .check = 2}), 3U);
  EXPECT_EQ(known.Find(8, {.key = 1, .check = 2}), std::nullopt);
  EXPECT_EQ(known.Find(7, {.key = 1, .check = 9}), std::nullopt);
  EXPECT_EQ(known.Find(7, {.key = 2, .check = 2}), std::nullopt);
}

TEST(ProfileKnownStacks, OnlyChangedProcessIsRemoved) {
  KnownStacks known;
  known.Add(7, {.key = 1, .check = 1}, 3);
  known.Add(8, {.key = 1, .check = 1}, 4);
  known.RemoveProcess(7);
  known.RemoveProcess(9);
  EXPECT_EQ(known.Find(7, {.key = 1, .check = 1}), std::nullopt);
  EXPECT_EQ(known.Find(8, {.key = 1, .check = 1}), 4U);
  EXPECT_EQ(known.size(), 1U);
}

TEST(ProfileKnownStacks, CacheSizeIsLimited) {
  KnownStacks known;
  for (std::uint64_t key = 0; key < KnownStacks::kMaxStacks; ++key) known.Add(1, {key, key}, 2);
  EXPECT_EQ(known.size(), KnownStacks::kMaxStacks);
  known.Add(2, {.key = 1, .check = 1}, 5);
  EXPECT_EQ(known.size(), 1U);
  EXPECT_EQ(known.Find(1, {.key = 1, .check = 1}), std::nullopt);
  EXPECT_EQ(known.Find(2, {.key = 1, .check = 1}), 5U);
}

std::uint64_t AddressOf(int (*function)(int)) { return reinterpret_cast<std::uint64_t>(function); }
__attribute__((noinline)) int Here(int n) { return n + 1; }

std::vector<std::byte> OwnSample(std::uint64_t time_ns) {
  profile_sample head = {};
  const std::uint64_t address = AddressOf(&Here);
  head.time_ns = time_ns;
  head.period = 10;
  head.pid = static_cast<std::uint32_t>(getpid());
  head.user_bytes = sizeof(address);
  std::vector<std::byte> bytes(sizeof(head) + sizeof(address));
  std::memcpy(bytes.data(), &head, sizeof(head));
  std::memcpy(bytes.data() + sizeof(head), &address, sizeof(address));
  return bytes;
}

TEST(ProfileCollector, ExecChangesNamesOfAddresses) {
  StackStore stacks;
  Symbolizer symbolizer(stacks, false);
  Collector collector(stacks, symbolizer, nullptr);
  SideRecord exec;
  exec.kind = SideRecord::Kind::kExec;
  exec.time_ns = 25;
  exec.pid = static_cast<std::uint32_t>(getpid());
  collector.Add(OwnSample(10));
  collector.Add(OwnSample(20));
  collector.Add(exec);
  collector.Add(OwnSample(30));
  collector.ProcessUntil(100, [](const SideRecord&) {});
  // No mapping is reported after the exec.
  std::map<std::string, std::uint64_t> counts;
  for (std::size_t node = 1; node < stacks.nodes().size(); ++node) {
    const auto& one = stacks.nodes()[node];
    if (one.self.samples > 0) counts[stacks.label(one.frame)] += one.self.samples;
  }
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts["[unmapped]"], 1U);
  EXPECT_EQ(stacks.Total().samples, 3U);
}

TEST(ProfileCollector, UnprocessedItemsStayIntact) {
  StackStore stacks;
  Symbolizer symbolizer(stacks, false);
  Collector collector(stacks, symbolizer, nullptr);
  SideRecord record;
  record.kind = SideRecord::Kind::kExit;
  std::vector<std::uint64_t> applied;
  const auto note = [&](const SideRecord& one) { applied.push_back(one.time_ns); };
  for (std::uint64_t time_ns = 10; time_ns <= 50; time_ns += 10) {
    record.time_ns = time_ns + 1;
    collector.Add(record);
    collector.Add(OwnSample(time_ns));
  }
  collector.ProcessUntil(30, note);
  EXPECT_THAT(applied, testing::ElementsAre(11, 21));
  EXPECT_EQ(stacks.Total().samples, 3U);
  collector.ProcessUntil(100, note);
  EXPECT_THAT(applied, testing::ElementsAre(11, 21, 31, 41, 51));
  EXPECT_EQ(stacks.Total().samples, 5U);
}

}  // namespace
}  // namespace pmuconf::profile

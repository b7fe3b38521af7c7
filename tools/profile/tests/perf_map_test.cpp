// SPDX-License-Identifier: Apache-2.0
// Perf maps, which any user may write, name generated code.
#include "tools/profile/perf_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace pmuconf::profile {
namespace {

std::string NameAt(const PerfMap& map, std::uint64_t address) {
  const auto found = map.Find(address);
  return found ? found->name : "none";
}

TEST(ProfilePerfMap, FindsSymbolThatContainsAddress) {
  PerfMap map;
  map.Add("1000 20 first\n0x2000 0x10 LazyCompile:~f /a b.js:1\n");
  EXPECT_EQ(NameAt(map, 0x0fff), "none");
  EXPECT_EQ(NameAt(map, 0x1000), "first");
  EXPECT_EQ(map.Find(0x101f)->offset, 0x1fU);
  EXPECT_EQ(NameAt(map, 0x1020), "none");
  EXPECT_EQ(NameAt(map, 0x200f), "LazyCompile:~f /a b.js:1");
}

TEST(ProfilePerfMap, LaterCodeReplacesOverlappedCode) {
  PerfMap map;
  map.Add("1000 100 first\n1100 100 second\n1200 100 third\n10f0 20 new\n");
  EXPECT_EQ(NameAt(map, 0x1000), "none");
  EXPECT_EQ(NameAt(map, 0x10f0), "new");
  EXPECT_EQ(NameAt(map, 0x110f), "new");
  EXPECT_EQ(NameAt(map, 0x1180), "none");
  EXPECT_EQ(NameAt(map, 0x1200), "third");
}

TEST(ProfilePerfMap, InvalidLinesAreSkipped) {
  PerfMap map;
  map.Add(
      "\n1000\n1000 20\n1000 20 \n1000 0 empty\nffffffffffffffff 2 round\nxyz 10 no\n20 4 yes\n");
  EXPECT_EQ(NameAt(map, 0x1000), "none");
  EXPECT_EQ(NameAt(map, 0), "none");
  EXPECT_EQ(NameAt(map, ~std::uint64_t{0}), "none");
  EXPECT_EQ(NameAt(map, 0x23), "yes");
}

TEST(ProfilePerfMap, IncompleteLineWaitsForItsRest) {
  PerfMap map;
  map.Add("1000 20 fi");
  EXPECT_EQ(NameAt(map, 0x1000), "none");
  map.Add("rst\n");
  EXPECT_EQ(NameAt(map, 0x1000), "first");
}

class ProfilePerfMaps : public testing::Test {
 protected:
  ProfilePerfMaps() {
    std::filesystem::create_directories(root_ / "tmp");
    std::filesystem::create_directories(root_ / "proc/7/root/tmp");
  }
  ~ProfilePerfMaps() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& file, const std::string& text, bool more = false) {
    std::ofstream(root_ / file, more ? std::ios::app : std::ios::trunc) << text;
  }
  std::string NameAt(std::uint64_t address) {
    const auto found = maps.Find(7, address);
    return found ? found->name : "none";
  }

  const std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("perf-map-test-" + std::to_string(getpid()));
  PerfMaps maps{root_.string()};
};

TEST_F(ProfilePerfMaps, ReadsMapOfTheProcessNamespace) {
  Write("proc/7/status", "Name:\tx\nNSpid:\t7\t3\nVmPeak:\t1\n");
  Write("tmp/perf-7.map", "1000 20 outside\n");
  Write("proc/7/root/tmp/perf-3.map", "1000 20 inside\n");
  EXPECT_EQ(NameAt(0x1000), "inside");
}

TEST_F(ProfilePerfMaps, ReadsMapOfExitedProcess) {
  std::filesystem::remove_all(root_ / "proc/7");
  Write("tmp/perf-7.map", "1000 20 left\n");
  EXPECT_EQ(NameAt(0x1000), "left");
}

TEST_F(ProfilePerfMaps, AppendedLinesAreReadOnDemand) {
  Write("tmp/perf-7.map", "1000 20 first\n");
  EXPECT_EQ(NameAt(0x1000), "first");
  Write("tmp/perf-7.map", "2000 20 second\n", true);
  EXPECT_EQ(NameAt(0x2000), "second");
}

TEST_F(ProfilePerfMaps, TruncatedFileIsReadFromStart) {
  Write("tmp/perf-7.map", "1000 20 first\n2000 20 second\n");
  EXPECT_EQ(NameAt(0x1000), "first");
  Write("tmp/perf-7.map", "3000 20 third\n");
  EXPECT_EQ(NameAt(0x3000), "third");
  EXPECT_EQ(NameAt(0x1000), "none");
}

TEST_F(ProfilePerfMaps, NewProgramOfSamePidHasNewNames) {
  Write("tmp/perf-7.map", "1000 20 first\n");
  EXPECT_EQ(NameAt(0x1000), "first");
  Write("tmp/perf-7.map", "1000 20 other\n");
  maps.RemoveProcess(7);
  EXPECT_EQ(NameAt(0x1000), "other");
}

TEST_F(ProfilePerfMaps, SymlinksAndPipesAreNotRead) {
  Write("secret", "1000 20 secret\n");
  std::filesystem::create_symlink(root_ / "secret", root_ / "tmp/perf-7.map");
  ASSERT_EQ(mkfifo((root_ / "proc/7/root/tmp/perf-7.map").c_str(), 0600), 0);
  EXPECT_EQ(NameAt(0x1000), "none");
}

TEST_F(ProfilePerfMaps, FileIsReadUpToItsLimit) {
  const std::string line = std::string(1023, 'x') + '\n';
  std::string filler;
  while (filler.size() < PerfMap::kMaxBytes) filler += line;
  Write("tmp/perf-7.map", "1000 20 first\n" + filler + "2000 20 behind\n");
  EXPECT_EQ(NameAt(0x1000), "first");
  EXPECT_EQ(NameAt(0x2000), "none");
}

}  // namespace
}  // namespace pmuconf::profile

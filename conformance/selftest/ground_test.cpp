// SPDX-License-Identifier: Apache-2.0
// Conditions of a machine under which results are no evidence.
#include "harness/ground.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "system/hypervisor.h"

namespace pmuconf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kMs = 1'000'000;

// A folder that stands for /proc or for the CPUs in sysfs.
class GroundFiles : public testing::Test {
 protected:
  GroundFiles() {
    std::string path = std::filesystem::temp_directory_path() / "ground-XXXXXX";
    root_ = mkdtemp(path.data());
  }
  ~GroundFiles() override { std::filesystem::remove_all(root_); }

  void File(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text << "\n";
  }
  void Process(const std::string& pid, const std::string& comm, const std::string& link) const {
    File(pid + "/comm", comm);
    std::filesystem::create_directories(root_ / pid / "fd");
    std::filesystem::create_symlink(link, root_ / pid / "fd/3");
  }
  std::string root() const { return root_.string(); }

 private:
  std::filesystem::path root_;
};

Share ShareOf(std::uint64_t running_ms) {
  return {.cpu = 1,
          .event = "cycles",
          .events = 5,
          .enabled_ns = 20 * kMs,
          .running_ns = running_ms * kMs};
}

Target Core(const std::string& head, const std::string& generic, bool frequency) {
  return Target::Parse("[target]\nname = \"t\"\nmatch = \"t\"\nkind = \"core\"\n" + head +
                           "[counters]\ngeneral = 4\nwidth = 48\n[sampling]\nfrequency = " +
                           (frequency ? "true" : "false") +
                           "\n[[event]]\nname = \"e\"\ncounters = \"all\"\ngeneric = \"" + generic +
                           "\"\naccuracy = \"exact\"\n",
                       "t.toml");
}

TEST(Ground, ShareIsShortIfOthersHadATurn) {
  EXPECT_TRUE(ShareOf(0).Short());
  EXPECT_TRUE(ShareOf(16).Short());
  EXPECT_FALSE(ShareOf(18).Short());
  EXPECT_FALSE(ShareOf(20).Short());
}

TEST(Ground, ReasonNamesEachUser) {
  EXPECT_EQ(InUseReason("cpu", ShareOf(0), true, {}),
            "counters of PMU cpu are in use on CPU 1: 5 events cycles had counters for 0 of 20 ms; "
            "the NMI watchdog is on (sysctl kernel.nmi_watchdog=0 ends it)");
  EXPECT_EQ(InUseReason("cpu", ShareOf(9), false, {"perf (pid 7)", "top (pid 9)"}),
            "counters of PMU cpu are in use on CPU 1: 5 events cycles had counters for 9 of 20 ms; "
            "perf (pid 7) has perf events, top (pid 9) has perf events");
}

TEST(Ground, ShortageWithoutAnotherUserIsLeftToTheCases) {
  EXPECT_EQ(InUseReason("cpu", ShareOf(0), false, {}), "");
}

TEST(Ground, OtherUserWithoutAShortageIsAccepted) {
  EXPECT_EQ(InUseReason("cpu", ShareOf(20), true, {"perf (pid 7)"}), "");
}

TEST_F(GroundFiles, ProcessesWithPerfEventsAreFound) {
  Process("17", "perf", "anon_inode:[perf_event]");
  Process("18", "sh", "/dev/null");
  Process(std::to_string(getpid()), "pmuconf", "anon_inode:[perf_event]");
  Process("self", "pmuconf", "anon_inode:[perf_event]");
  const std::string self = std::to_string(getpid());
  Process("19", "agent", "anon_inode:[perf_event]");
  File(self + "/stat", self + " (pmu) conf) S 19 1");
  Process("20", "worker", "anon_inode:[perf_event]");
  File("20/stat", "20 (worker) S " + self + " 1");
  EXPECT_THAT(ProcessesWithEvents(root()), ElementsAre("perf (pid 17)"));
  EXPECT_THAT(ProcessesWithEvents(root() + "/17"), IsEmpty());
}

TEST_F(GroundFiles, VaryingFrequencyIsAWarningWhereRatesOfCyclesMatter) {
  File("cpu0/cpufreq/scaling_governor", "performance");
  File("cpu1/cpufreq/scaling_governor", "schedutil");
  const Target target = Core("", "cpu-cycles", true);
  EXPECT_EQ(ScalingWarning(target, {0, 1}, root()),
            "the frequency of CPU 1 varies (scaling_governor is schedutil), so the rate of cycles "
            "varies in frequency mode: use performance");
  EXPECT_EQ(ScalingWarning(target, {0}, root()), "");
  EXPECT_EQ(ScalingWarning(target, {2}, root()), "") << "the CPU has no governor";
  EXPECT_EQ(ScalingWarning(Core("", "instructions", true), {1}, root()), "");
  EXPECT_EQ(ScalingWarning(Core("", "cpu-cycles", false), {1}, root()), "");
  EXPECT_EQ(ScalingWarning(Core("port = \"/dev/p\"\n", "cpu-cycles", true), {1}, root()), "");
}

TEST(Hypervisor, FlagIsAWordOfTheFlags) {
  EXPECT_TRUE(HasHypervisorFlag("processor\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n"));
  EXPECT_TRUE(HasHypervisorFlag("flags\t\t: fpu hypervisor\n"));
  EXPECT_FALSE(HasHypervisorFlag("flags\t\t: fpu hypervisors\nbugs\t\t: hypervisor \n"));
  EXPECT_FALSE(HasHypervisorFlag(""));
}

TEST(Hypervisor, PmusOfTheProcessorAreKnownByName) {
  for (const char* name : {"cpu", "cpu_core", "armv8_pmuv3_0", "armv8_cortex_a57"}) {
    EXPECT_TRUE(IsPmuOfProcessor(name)) << name;
  }
  for (const char* name : {"refpmu", "uncore_imc_0", "software", "cpum", "arm_spe_0"}) {
    EXPECT_FALSE(IsPmuOfProcessor(name)) << name;
    EXPECT_EQ(HypervisorHint(name), "");
  }
}

}  // namespace
}  // namespace pmuconf

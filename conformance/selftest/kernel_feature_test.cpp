// SPDX-License-Identifier: Apache-2.0
// A feature that a kernel lacks is a skip with the name of its option, and an answer that a lie
// alters makes no feature lacking.
#include "system/kernel_feature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "harness/uses.h"
#include "system/answers.h"
#include "system/sysfs.h"

namespace pmuconf {
namespace {

// An empty machine: no procfs, no sysfs.
class Root {
 public:
  Root() {
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  Root(const Root&) = delete;
  ~Root() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  void Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file(path_ + name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

 private:
  std::string path_ = "/tmp/pmuconf-root-XXXXXX";
};

TEST(KernelFeature, EachHasItsOwnOption) {
  std::set<std::string_view> options;
  for (const Feature feature : AllFeatures()) {
    EXPECT_THAT(std::string(OptionOf(feature)), testing::StartsWith("CONFIG_"));
    EXPECT_TRUE(options.insert(OptionOf(feature)).second) << OptionOf(feature);
  }
}

TEST(KernelFeature, AbsentFileIsASkipThatNamesTheOption) {
  const std::map<Feature, std::pair<std::string, std::string>> shown = {
      {Feature::kTracepoints, {"/sys/kernel/tracing/events/header_page", ""}},
      {Feature::kSyscallEvents, {"/sys/kernel/tracing/events/syscalls/enable", ""}},
      {Feature::kKernelProbes, {"/sys/bus/event_source/devices/kprobe/type", "8\n"}},
      {Feature::kUserProbes, {"/sys/bus/event_source/devices/uprobe/type", "9\n"}},
      {Feature::kCgroups, {"/proc/cgroups", "#subsys_name\n"}},
      {Feature::kPerfCgroups, {"/proc/cgroups", "#subsys_name\nperf_event\t0\t1\t1\n"}},
      {Feature::kSettings, {"/proc/sys/kernel/perf_event_paranoid", "2\n"}},
      {Feature::kSymbols, {"/proc/kallsyms", ""}},
      {Feature::kModules, {"/proc/modules", ""}},
      {Feature::kCompatCalls, {"/proc/sys/abi/vsyscall32", "1\n"}},
  };
  for (const auto& [feature, file] : shown) {
    const Root root;
    ASSERT_FALSE(root.path().empty());
    const auto lacking = WhyLacking(feature, root.path());
    ASSERT_TRUE(lacking) << OptionOf(feature);
    EXPECT_EQ(lacking->skip_reason, SkipReason::kKernelLacks);
    EXPECT_EQ(lacking->reason, "kernel lacks " + std::string(OptionOf(feature)));
    root.Write(file.first, file.second);
    EXPECT_FALSE(WhyLacking(feature, root.path())) << OptionOf(feature);
  }
}

TEST(KernelFeature, ControllerIsAWholeWord) {
  const Root root;
  root.Write("/proc/cgroups", "#subsys_name\nperf_events\t0\t1\t1\ncpu\t0\t1\t1\n");
  EXPECT_TRUE(WhyLacking(Feature::kPerfCgroups, root.path()));
}

TEST(KernelFeature, OnlyAKernelForOneProcessorLacksOthers) {
  const Root root;
  EXPECT_FALSE(WhyLacking(Feature::kProcessors, root.path()));
  root.Write("/sys/devices/system/cpu/kernel_max", "7\n");
  EXPECT_FALSE(WhyLacking(Feature::kProcessors, root.path()));
  root.Write("/sys/devices/system/cpu/kernel_max", "0\n");
  const auto lacking = WhyLacking(Feature::kProcessors, root.path());
  ASSERT_TRUE(lacking);
  EXPECT_EQ(lacking->reason, "kernel lacks CONFIG_SMP");
}

// A lie reports every file as absent. A feature must not become lacking: a SKIP would hide the
// fault that the lie stands for.
TEST(KernelFeature, LieAboutFilesMakesNoneLacking) {
  const Root root;
  const std::string type = "/sys/bus/event_source/devices/kprobe/type";
  root.Write(type, "8\n");
  const FileAnswers before = file_answers();
  file_answers().file = [](const std::string&, std::optional<std::string>* text) { text->reset(); };
  const auto read = ReadFile(root.path() + type);
  const auto lacking = WhyLacking(Feature::kKernelProbes, root.path());
  file_answers() = before;
  EXPECT_FALSE(read) << "the lie has no effect, so this test proves nothing";
  EXPECT_FALSE(lacking);
}

TEST(CaseUses, AreKeptByCase) {
  EXPECT_THAT(UsesOf("NoSuch.Case"), testing::IsEmpty());
  RegisterUses("Toy.Case", {Feature::kKernelProbes});
  RegisterUses("Toy.Case", {Feature::kSymbols});
  EXPECT_THAT(UsesOf("Toy.Case"), testing::ElementsAre(Feature::kKernelProbes, Feature::kSymbols));
  EXPECT_THAT(IdsWithUses(), testing::Contains("Toy.Case"));
}

}  // namespace
}  // namespace pmuconf

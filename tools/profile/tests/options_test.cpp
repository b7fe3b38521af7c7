// SPDX-License-Identifier: Apache-2.0
// The command line of `profile`, and names of events.
#include "tools/profile/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "tools/profile/advice.h"
#include "tools/profile/event_name.h"

namespace pmuconf::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Options Parse(std::vector<const char*> words) {
  words.insert(words.begin(), "profile");
  return ParseOptions(static_cast<int>(words.size()), words.data()).value();
}

std::string Refused(const std::vector<const char*>& words) {
  try {
    Parse(words);
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "taken";
}

TEST(ProfileOptions, DefaultSamplesAllTasksAt99Hz) {
  const Options options = Parse({});
  EXPECT_EQ(options.event, "cycles");
  EXPECT_EQ(options.frequency, 99U);
  EXPECT_TRUE(options.SystemWide());
  EXPECT_EQ(options.format, Format::kTop);
}

TEST(ProfileOptions, EachOptionIsParsed) {
  const Options options = Parse({"-e", "cpu-clock", "-c", "1000", "-C", "0-1,3", "-d", "2.5",
                                 "--user-only", "-o", "a.svg", "-t", "12,34", "--fallback"});
  EXPECT_EQ(options.event, "cpu-clock");
  EXPECT_EQ(options.period, 1000U);
  EXPECT_EQ(options.frequency, 0U);
  EXPECT_THAT(options.cpus, ElementsAre(0, 1, 3));
  EXPECT_THAT(options.tids, ElementsAre(12, 34));
  EXPECT_EQ(options.seconds, 2.5);
  EXPECT_TRUE(options.user_only);
  EXPECT_TRUE(options.fallback);
  EXPECT_EQ(options.format, Format::kSvg);
}

TEST(ProfileOptions, ArgumentsAfterDashesBelongToCommand) {
  const Options options = Parse({"-F", "10", "--", "dd", "-F", "--"});
  EXPECT_EQ(options.frequency, 10U);
  EXPECT_THAT(options.command, ElementsAre("dd", "-F", "--"));
  EXPECT_FALSE(options.SystemWide());
}

TEST(ProfileOptions, FormatFollowsSuffixUnlessGiven) {
  EXPECT_EQ(Parse({"-o", "x.json"}).format, Format::kJson);
  EXPECT_EQ(Parse({"-o", "x.folded"}).format, Format::kFolded);
  EXPECT_EQ(Parse({"-o", "x.txt"}).format, Format::kTop);
  EXPECT_EQ(Parse({"-o", "x.txt", "--format", "stacks"}).format, Format::kStacks);
}

TEST(ProfileOptions, InvalidOptionsAreRejectedInOneLine) {
  EXPECT_THAT(Refused({"-p", "x"}), HasSubstr("-p 'x': numbers are needed"));
  EXPECT_THAT(Refused({"-t", "1,"}), HasSubstr("-t '1,': numbers are needed"));
  EXPECT_THAT(Refused({"-p", "-3"}), HasSubstr("numbers are needed"));
  EXPECT_THAT(Refused({"-C", "a"}), HasSubstr("-C 'a': a list of CPUs is needed"));
  EXPECT_THAT(Refused({"-a", "-p", "1"}), HasSubstr("only one of"));
  EXPECT_THAT(Refused({"-F", "0"}), HasSubstr("--freq"));
  EXPECT_THAT(Refused({"-F", "9", "-c", "9"}), HasSubstr("--period"));
  EXPECT_THAT(Refused({"-d", "0"}), HasSubstr("--duration"));
  EXPECT_THAT(Refused({"-o", "x.png"}), HasSubstr("the suffix names no format"));
  EXPECT_THAT(Refused({"--format", "png"}), HasSubstr("--format 'png': known are"));
  EXPECT_THAT(Refused({"--"}), HasSubstr("a command is needed"));
  EXPECT_THAT(Refused({"--user-only", "--kernel-only"}), HasSubstr("--user-only"));
  EXPECT_THAT(Refused({"--nosuch"}), HasSubstr("see profile --help"));
}

// A PMU with the files of sysfs.
class ProfileEvent : public testing::Test {
 protected:
  ProfileEvent() {
    Write("demo/type", "33\n");
    Write("demo/format/event", "config:0-7\n");
    Write("demo/format/umask", "config:8-15\n");
    Write("demo/format/extra", "config1:0-3\n");
    Write("demo/events/loads", "event=0xcd,umask=0x01\n");
    Write("socket/type", "34\n");
    Write("socket/format/event", "config:0-7\n");
    Write("socket/cpumask", "0,4\n");
  }
  ~ProfileEvent() override { std::filesystem::remove_all(folder_); }

  SampledEvent Find(const std::string& name) const { return FindEvent(name, folder_); }
  std::string Missing(const std::string& name) const {
    try {
      Find(name);
    } catch (const UserError& error) {
      return error.what();
    }
    return "found";
  }

 private:
  void Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  std::string folder_ = testing::TempDir() + "profile_event." + std::to_string(getpid());
};

TEST_F(ProfileEvent, GenericNamesNeedNoPmu) {
  EXPECT_EQ(Find("cycles").type, PERF_TYPE_HARDWARE);
  EXPECT_EQ(Find("instructions").config, PERF_COUNT_HW_INSTRUCTIONS);
  EXPECT_EQ(Find("cpu-clock").type, PERF_TYPE_SOFTWARE);
  EXPECT_EQ(Find("LLC-load-misses").type, PERF_TYPE_HW_CACHE);
  EXPECT_EQ(Find("LLC-load-misses").config, 0x10002U);
  EXPECT_EQ(Find("L1-icache-prefetches").config, 0x00201U);
  EXPECT_EQ(Find("r1a8").type, PERF_TYPE_RAW);
  EXPECT_EQ(Find("r1a8").config, 0x1a8U);
}

TEST_F(ProfileEvent, EventsAndTermsOfSysfsAreCombined) {
  const SampledEvent event = Find("demo/loads,extra=3/");
  EXPECT_EQ(event.type, 33U);
  EXPECT_EQ(event.config, 0x1cdU);
  EXPECT_EQ(event.config1, 3U);
  EXPECT_EQ(event.name, "demo/loads,extra=3/");
  EXPECT_EQ(Find("demo/config=0x77/").config, 0x77U);
  EXPECT_THAT(Find("socket/event=1/").cpus, ElementsAre(0, 4));
}

TEST_F(ProfileEvent, ModifiersSetExcludeBits) {
  EXPECT_TRUE(Find("cycles:u").exclude_kernel);
  EXPECT_FALSE(Find("cycles:u").exclude_user);
  EXPECT_TRUE(Find("demo/loads/k").exclude_user);
  EXPECT_FALSE(Find("cycles:uk").exclude_user);
}

TEST_F(ProfileEvent, UnknownNameErrorListsKnownNames) {
  EXPECT_THAT(Missing("cycels"), HasSubstr("no event 'cycels': known are cycles"));
  EXPECT_THAT(Missing("nosuch/x/"), HasSubstr("no PMU 'nosuch'; there are: demo socket"));
  EXPECT_THAT(Missing("demo/stores/"), HasSubstr("known: loads "));
  EXPECT_THAT(Missing("demo/extra=16/"), HasSubstr("its value too large"));
  EXPECT_THAT(Missing("demo/event=/"), HasSubstr("terms are written name=value"));
  EXPECT_THAT(Missing("demo/x"), HasSubstr("between slashes"));
  EXPECT_THAT(Missing("cycles:z"), HasSubstr("unknown modifier 'z'"));
  EXPECT_THAT(Missing("rxyz"), HasSubstr("no event 'rxyz'"));
}

TEST(ProfileAdvice, NamesRemedy) {
  Options options;
  options.frequency = 7000;
  EXPECT_THAT(WhyNoEvent(EACCES, options, "cycles"), HasSubstr("CAP_PERFMON"));
  EXPECT_THAT(WhyNoEvent(ENOENT, options, "cycles"), HasSubstr("--fallback"));
  EXPECT_THAT(WhyNoEvent(EINVAL, options, "cycles"), HasSubstr("-F 7000 may be above"));
  EXPECT_THAT(WhyNoBpf(EPERM, ""), HasSubstr("CAP_BPF"));
  EXPECT_THAT(WhyNoBpf(EINVAL, "first\nlast cause\n"), HasSubstr("libbpf: last cause"));
  EXPECT_THAT(WhyNoBpf(EINVAL, ""), HasSubstr("5.8 or newer"));
  EXPECT_TRUE(IsMissingEvent(EOPNOTSUPP));
  EXPECT_FALSE(IsMissingEvent(EACCES));
  EXPECT_FALSE(IsMissingEvent(0));
}

}  // namespace
}  // namespace pmuconf::profile

// SPDX-License-Identifier: Apache-2.0
// Programs depend on their PMU, seed and number alone, have text, and use each operation.
#include "tools/fuzz/generate.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <set>
#include <string>

#include "oracle/open_driver.h"

namespace pmuconf {
namespace {

constexpr std::uint64_t kPrograms = 400;
constexpr std::uint32_t kType = 40;

FuzzedPmu Opaque() {
  FuzzedPmu pmu = {.name = "some", .type = kType, .pmu = OpaquePmu(kType)};
  pmu.fields = {{.config = 0, .bits = {{0, 7}}}, {.config = 1, .bits = {{8, 15}, {32, 35}}}};
  pmu.events = {{0x3c}, {0xc0, 0x100}};
  pmu.port = true;
  return pmu;
}

FuzzedPmu Software() {
  FuzzedPmu pmu = {.name = "software", .type = PERF_TYPE_SOFTWARE, .pmu = SoftwarePmu()};
  for (const OpenEvent& event : pmu.pmu.events) pmu.events.push_back({event.config});
  return pmu;
}

TEST(FuzzGenerator, DrawsProgramThatSeedAndNumberRepeat) {
  for (const FuzzedPmu& pmu : {Opaque(), Software()}) {
    const FuzzGenerator generator(pmu), other(pmu);
    std::set<std::string> texts;
    for (std::uint64_t number = 0; number < kPrograms; ++number) {
      const Program program = generator.Draw(7, number);
      const std::string text = PrintProgram(program);
      EXPECT_LE(program.steps.size(), kLongestFuzzed);
      EXPECT_EQ(PrintProgram(other.Draw(7, number)), text);
      EXPECT_EQ(PrintProgram(ParseProgram(text)), text);
      EXPECT_TRUE(text.starts_with("pmuconf program for pmu:" + pmu.name + "\n"));
      texts.insert(text);
    }
    EXPECT_EQ(texts.size(), kPrograms);
    EXPECT_NE(PrintProgram(generator.Draw(8, 0)), PrintProgram(generator.Draw(7, 0)));
  }
}

TEST(FuzzGenerator, DrawsEachOperationThatIsAllowed) {
  FuzzedPmu pmu = Opaque();
  for (const bool cpus : {false, true}) {
    pmu.cpus = cpus;
    const FuzzGenerator generator(pmu);
    std::set<Operation> drawn;
    bool raced = false, ordered = false;
    for (std::uint64_t number = 0; number < kPrograms; ++number) {
      bool racing = false;
      for (const Step& step : generator.Draw(1, number).steps) {
        drawn.insert(step.operation);
        racing = racing || step.operation == Operation::kRace;
        raced = raced || (racing && step.task != 0);
        ordered = ordered || (!racing && step.task != 0);
      }
    }
    EXPECT_EQ(drawn.contains(Operation::kCpu), cpus);
    // Two operations are only for a PMU with a manual clock or with pulses of a child.
    EXPECT_EQ(drawn.size(), kOperations - 2 - (cpus ? 0 : 1));
    EXPECT_TRUE(raced);
    EXPECT_TRUE(ordered);
  }
}

TEST(FuzzGenerator, ReachesEndsOfEachField) {
  const FuzzGenerator generator(Opaque());
  constexpr std::uint64_t kField = 0xf'0000'ff00;
  std::set<std::uint64_t> first, second;
  for (std::uint64_t number = 0; number < kPrograms; ++number) {
    for (const Step& step : generator.Draw(1, number).steps) {
      const bool opens = step.operation == Operation::kOpen;
      if (!opens || step.call.Attr().type != kProgramOwnType) continue;
      first.insert(step.call.Attr().config & 0xff);
      second.insert(step.call.Attr().config1 & kField);
    }
  }
  for (const std::uint64_t value : {0x0ull, 0x1ull, 0x80ull, 0xfeull, 0xffull}) {
    EXPECT_TRUE(first.contains(value)) << value;
  }
  EXPECT_TRUE(second.contains(0) && second.contains(kField));
}

TEST(FuzzGenerator, BlindProgramRepeats) {
  const FuzzGenerator generator(Software());
  EXPECT_EQ(PrintProgram(generator.DrawBlind(1, 5)), PrintProgram(generator.DrawBlind(1, 5)));
  EXPECT_NE(PrintProgram(generator.DrawBlind(1, 5)), PrintProgram(generator.DrawBlind(1, 6)));
}

}  // namespace
}  // namespace pmuconf

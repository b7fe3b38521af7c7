// SPDX-License-Identifier: Apache-2.0
#include "tcg/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "uapi/refpmu_work.h"

namespace pmuconf::work {
namespace {

using testing::StartsWith;
using Words = std::vector<const char*>;

Options Good(const Words& words) { return std::get<Options>(ParseOptions(words)); }
std::string Failure(const Words& words) { return std::get<std::string>(ParseOptions(words)); }

TEST(Options, HaveDefaults) {
  const Options options = Good({"page=/p"});
  EXPECT_EQ(options.page, "/p");
  EXPECT_EQ(options.events, 1U << REFPMU_WORK_INSTRUCTIONS);
  EXPECT_EQ(options.icount, std::nullopt);
  EXPECT_FALSE(options.each);
  EXPECT_EQ(options.overcount, 0U);
}

TEST(Options, AllAreRead) {
  const Options options =
      Good({"page=/a=b", "events=stores+l1i-misses", "icount=0", "cpus=each", "overcount=2"});
  EXPECT_EQ(options.page, "/a=b");
  EXPECT_EQ(options.events, 1U << REFPMU_WORK_INSTRUCTIONS | 1U << REFPMU_WORK_STORES |
                                1U << REFPMU_WORK_L1I_MISSES);
  EXPECT_EQ(options.icount, 0U);
  EXPECT_TRUE(options.each);
  EXPECT_EQ(options.overcount, 2U);
}

TEST(Options, MistakesAreNamed) {
  EXPECT_EQ(Failure({}), "page=FILE is missing");
  EXPECT_EQ(Failure({"page="}), "page=FILE is missing");
  EXPECT_THAT(Failure({"page=/p", "pages=2"}), StartsWith("unknown argument 'pages'; known: page"));
  EXPECT_THAT(Failure({"page=/p", "events=loads+load"}),
              StartsWith("events: unknown event 'load'; known: instructions branches"));
  EXPECT_THAT(Failure({"page=/p", "events="}), StartsWith("events: unknown event ''"));
  EXPECT_THAT(Failure({"page=/p", "events=loads+"}), StartsWith("events: unknown event ''"));
  EXPECT_EQ(Failure({"page=/p", "icount=11"}), "icount='11': must be an integer from 0 to 10");
  EXPECT_EQ(Failure({"page=/p", "icount=1x"}), "icount='1x': must be an integer from 0 to 10");
  EXPECT_EQ(Failure({"page=/p", "icount="}), "icount='': must be an integer from 0 to 10");
  EXPECT_EQ(Failure({"page=/p", "overcount=101"}),
            "overcount='101': must be an integer from 0 to 100");
  EXPECT_EQ(Failure({"page=/p", "cpus=2"}), "cpus='2': must be shared or each");
}

}  // namespace
}  // namespace pmuconf::work

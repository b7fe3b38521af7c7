// SPDX-License-Identifier: Apache-2.0
// The files of `pmuconf new` are written completely or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "scaffold/change.h"
#include "scaffold/names.h"
#include "selftest/new_tree.h"

namespace pmuconf::scaffold {
namespace {

using testing::HasSubstr;

constexpr const char* kOld = "conformance/rules/BOX.toml";
constexpr const char* kNew = "conformance/rules/NEW.toml";

using NewWrite = NewTree;

TEST_F(NewWrite, FilesHaveTheirTextAndPermissions) {
  const std::string old = root() + "/" + kOld;
  ASSERT_EQ(chmod(old.c_str(), 0640), 0);
  auto files = Files();
  Write(root(), {{kNew, "new\n", true}, {kOld, "changed\n", false}});
  EXPECT_EQ(Get(kNew), "new\n");
  EXPECT_EQ(Get(kOld), "changed\n");
  files.insert(kNew);
  EXPECT_EQ(Files(), files);
  struct stat facts = {};
  ASSERT_EQ(stat(old.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777u, 0640u);
  ASSERT_EQ(stat((root() + "/" + kNew).c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0600u, 0600u);
}

TEST_F(NewWrite, FailureLeavesEveryFileAsItWas) {
  const auto files = Files();
  const std::string old = Get(kOld);
  const auto refused = [&](const Change& last) {
    return Refusal([&] {
      Write(root(), {{kNew, "new\n", true}, {kOld, "changed\n", false}, last});
    });
  };
  for (const Change& last : {Change{"conformance/rules/TOY.toml", "x", true},
                             Change{"conformance/rules/GONE.toml", "x", false},
                             Change{"no/such/folder.toml", "x", true}}) {
    EXPECT_THAT(refused(last), HasSubstr(last.path + ": cannot be written: "));
    EXPECT_EQ(Get(kOld), old) << last.path;
    EXPECT_EQ(Files(), files) << last.path;
  }
}

TEST(NewNames, ShellWordIsQuotedIfNeeded) {
  EXPECT_EQ(ShellWord("a/b-c"), "a/b-c");
  EXPECT_EQ(ShellWord("a b"), "'a b'");
  EXPECT_EQ(ShellWord("it's"), R"('it'\''s')");
  EXPECT_EQ(ShellWord(""), "''");
}

TEST(NewNames, TomlStringIsOneLine) { EXPECT_EQ(TomlString(" a\n  \"b\" \\ "), R"("a \"b\" \\")"); }

}  // namespace
}  // namespace pmuconf::scaffold

// SPDX-License-Identifier: Apache-2.0
// A waiver has an owner who can be asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "report/waiver.h"
#include "selftest/refusal.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<Owner> kKnownOwners = {{"perf", "list@example.org", "PERF"}};

std::string OwnerText(const std::string& contact) {
  return "[[owner]]\nname = \"perf\"\ncontact = \"" + contact + "\"\nwho = \"PERF\"\n";
}

TEST(Owners, AreReadFromTheirTable) {
  for (const char* contact :
       {"list@example.org", "https://example.org/issues", "CONTRIBUTING.md#whom-to-ask"}) {
    const auto owners = ParseOwners(OwnerText(contact), "owners.toml");
    ASSERT_EQ(owners.size(), 1u);
    EXPECT_EQ(owners[0].name, "perf");
    EXPECT_EQ(owners[0].contact, contact);
    EXPECT_EQ(owners[0].who, "PERF");
  }
}

TEST(Owners, ThatCannotBeAskedAreRefused) {
  for (const char* contact : {"the project", "somebody", "list@", "CONTRIBUTING.md", ""}) {
    EXPECT_THAT(Refusal([&] { ParseOwners(OwnerText(contact), "owners.toml"); }),
                StartsWith("owners.toml:"))
        << contact;
  }
  EXPECT_THAT(
      Refusal([&] { ParseOwners(OwnerText("a@b.org") + OwnerText("c@d.org"), "owners.toml"); }),
      HasSubstr("occurs twice: 'perf'"));
}

TEST(Owners, UnknownOwnerOfAWaiverIsRefused) {
  const std::string text =
      "[[waiver]]\nid = \"W\"\nowner = \"the project\"\nreason = \"r\"\nlink = \"l\"\n"
      "expires = \"2026-12-31\"\n[waiver.scope]\ncase = \"One.Too\"\ntarget = \"toy\"\n";
  EXPECT_THAT(Refusal([&] { ParseWaivers(text, "w.toml", kKnownOwners); }),
              HasSubstr("must be one of perf (owners.toml), not 'the project'"));
}

TEST(Owners, ProjectWaiversHaveAContact) {
  const auto waivers = LoadWaivers(PMUCONF_CONFORMANCE_DIR "/waivers");
  EXPECT_FALSE(waivers.empty());
  for (const Waiver& waiver : waivers) {
    EXPECT_THAT(waiver.contact, AnyOf(HasSubstr("@"), HasSubstr(".md#"))) << waiver.id;
  }
}

TEST(Owners, OfTheFolderComeBeforeBuiltinOnes) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("waivers-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "owners.toml") << OwnerText("own@example.org");
  std::ofstream(folder / "w.toml")
      << "[[waiver]]\nid = \"W\"\nowner = \"perf\"\nreason = \"r\"\nlink = \"l\"\n"
         "expires = \"2026-12-31\"\n[waiver.scope]\ncase = \"A.B\"\ntarget = \"toy\"\n"
         "[[waiver]]\nid = \"V\"\nowner = \"qemu\"\nreason = \"r\"\nlink = \"l\"\n"
         "expires = \"2026-12-31\"\n[waiver.scope]\ncase = \"A.B\"\ntarget = \"toy\"\n";
  const std::vector<Owner> more = {{"perf", "list@example.org", "PERF"},
                                   {"qemu", "qemu@example.org", "QEMU"}};
  const auto waivers = LoadWaivers(folder, more);
  std::filesystem::remove_all(folder);
  ASSERT_EQ(waivers.size(), 2u);
  EXPECT_EQ(waivers[0].contact, "own@example.org");
  EXPECT_EQ(waivers[1].contact, "qemu@example.org");
}

}  // namespace
}  // namespace pmuconf

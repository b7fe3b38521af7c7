// SPDX-License-Identifier: Apache-2.0
// The terms of an event: those in sysfs, those of a target file, and the code that they have.
#include <gmock/gmock.h>

#include <map>

#include "system/answers.h"
#include "system/broken.h"
#include "system/sysfs.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using testing::HasSubstr;

// The files of a PMU that only the tests see.
const std::map<std::string, std::string>& Files() {
  static const std::map<std::string, std::string> files = {
      {"type", "9"},
      {"format/event", "config:0-47"},
      {"format/node", "config:48-55"},
      {"format/port", "config2:0-15"},
      {"events/reads", "event=0x4000701"},
      {"events/of_node", "event=0x4,node=?"},
  };
  return files;
}

void FakeFile(const std::string& path, std::optional<std::string>* text) {
  const std::string folder = std::string(kEventSource) + "/fake/";
  if (!path.starts_with(folder)) return;
  const auto file = Files().find(path.substr(folder.size()));
  *text = file == Files().end() ? std::nullopt : std::optional(file->second);
}

void FakeFolder(const std::string& path, std::vector<std::string>* names) {
  if (path == kEventSource) *names = {"fake"};
}

class EventTerms : public testing::Test {
 protected:
  EventTerms() { file_answers() = {FakeFile, FakeFolder}; }
  ~EventTerms() override { file_answers() = before_; }

  // Resolves an event of a target, with more keys of [target] and of the event.
  static EventSpec Resolved(const std::string& keys, const std::string& head = "") {
    Target target = Target::Parse(
        "[target]\nname = \"t\"\nmatch = \"fake\"\nkind = \"uncore\"\nport = \"page:0x1000\"\n" +
            head + "[counters]\ngeneral = 2\nwidth = 32\n[[event]]\n" + keys +
            "stimulus = \"port\"\ncounters = \"all\"\naccuracy = \"exact\"\n",
        "t.toml");
    target.Resolve();
    return target.Events().front();
  }

 private:
  const FileAnswers before_ = file_answers();
};

TEST_F(EventTerms, CodeHasAllBitsOfConfig) {
  const EventSpec reads = Resolved("name = \"reads\"\n");
  EXPECT_EQ(reads.config, 0x4000701u);
  EXPECT_EQ(reads.code, 0x4000701u);
}

TEST_F(EventTerms, TermsOfTargetReplaceAndFollowThoseOfSysfs) {
  const EventSpec chosen = Resolved("name = \"of_node\"\nterms = \"node=3,port=0x8\"\n");
  EXPECT_EQ(chosen.config, 3ULL << 48 | 4);
  EXPECT_EQ(chosen.config2, 8u);
  EXPECT_EQ(chosen.code, chosen.config);
}

TEST_F(EventTerms, TermsAloneAreAnEvent) {
  EXPECT_EQ(Resolved("name = \"mine\"\nterms = \"event=0x123456789\"\n").config, 0x123456789u);
}

TEST_F(EventTerms, CodeWithTermsIsThatOfThePort) {
  const EventSpec event = Resolved("name = \"reads\"\ncode = 0x700000001\nterms = \"port=1\"\n");
  EXPECT_EQ(event.config, 0x4000701u);
  EXPECT_EQ(event.code, 0x700000001u);
  EXPECT_EQ(Resolved("name = \"x\"\ncode = 0x700000001\n").config, 0x700000001u);
}

TEST_F(EventTerms, EachEventHasTheFilter) {
  const char* const filter = "filter = \"port=0xff\"\n";
  EXPECT_EQ(Resolved("name = \"reads\"\n", filter).config2, 0xffu);
  EXPECT_EQ(Resolved("name = \"reads\"\nterms = \"port=1\"\n", filter).config2, 1u);
}

TEST_F(EventTerms, TermWithoutFormatEndsTheCase) {
  EXPECT_THROW(Resolved("name = \"reads\"\nterms = \"speed=1\"\n"), Broken);
  EXPECT_THROW(Resolved("name = \"reads\"\nterms = \"port=0x10000\"\n"), Broken);
  EXPECT_THROW(Resolved("name = \"mine\"\n"), Broken);
}

TEST_F(EventTerms, InvalidTermsAreRefused) {
  for (const std::string bad : {"port=", "port=?", "port==1", ","}) {
    try {
      Resolved("name = \"reads\"\nterms = \"" + bad + "\"\n");
      ADD_FAILURE() << bad;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr("key 'event.terms' must be terms with values"));
    }
  }
}

}  // namespace
}  // namespace pmuconf

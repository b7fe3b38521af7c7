// SPDX-License-Identifier: Apache-2.0
// Lies: their files, their conditions and changes, and that nothing changes without one.
#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>

#include "lies/answers.h"
#include "lies/liar.h"
#include "lies/lie.h"
#include "lies/names.h"
#include "lies/record_slots.h"
#include "perf/answers.h"
#include "system/answers.h"
#include "system/sysfs.h"
#include "target/target.h"

namespace pmuconf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Entry(const std::string& lines) {
  return "[[fault]]\nid = \"x\"\ntext = \"It lies.\"\n" + lines;
}

Lie Parsed(const std::string& lines) { return ParseLie(Entry(lines), "F.toml", ""); }

std::string ErrorOf(const std::string& text, const char* id = "") {
  try {
    ParseLie(text, "F.toml", id);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Lies, EachFileIsValid) {
  int lies = 0;
  const std::filesystem::path folder = std::string(PMUCONF_CONFORMANCE_DIR) + "/../faults/answers";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::istringstream text(*ReadFile(file.path()));
    for (std::string line; std::getline(text, line);) {
      if (!line.starts_with("id = \"")) continue;
      const std::string id = line.substr(6, line.size() - 7);
      EXPECT_EQ(LoadLie(file.path().string() + ":" + id).id, id);
      ++lies;
    }
  }
  EXPECT_GT(lies, 100);
}

TEST(Lies, ErrorNamesFileAndKey) {
  EXPECT_EQ(ErrorOf(Entry("call = \"open\"\neffect = { error = 0 }\n"), "y"),
            "F.toml: has no lie 'y'");
  EXPECT_EQ(ErrorOf(""), "F.toml: has no lie");
  EXPECT_THAT(ErrorOf(Entry("call = \"opens\"\neffect = { error = 0 }\n")),
              HasSubstr("F.toml:4: key 'fault.call' must be one of open, ioctl"));
  EXPECT_THAT(ErrorOf(Entry("call = \"open\"\n")), HasSubstr("key 'fault.effect' is missing"));
  EXPECT_THAT(ErrorOf(Entry("call = \"open\"\neffect = { errno = 0 }\n")),
              HasSubstr("F.toml:5: key 'fault.effect.errno' is unknown"));
  EXPECT_THAT(ErrorOf(Entry("call = \"read\"\neffect = { set = { ip = 0 } }\n")),
              HasSubstr("key 'fault.effect.set.ip' is no field of call 'read'"));
  EXPECT_THAT(ErrorOf(Entry("call = \"open\"\nwhen = { error = \"EFOO\" }\neffect = {}\n")),
              HasSubstr("key 'fault.when.error' must be a number or a name"));
  EXPECT_THAT(
      ErrorOf(Entry("call = \"open\"\nwhen = { error = 1 }\neffect = { swallow = true }\n")),
      HasSubstr("key 'fault.when' cannot use the answer"));
  EXPECT_EQ(ErrorOf(Entry("call = \"open\"\neffect = { error = 0 }\nfoo = 1\n")).find('\n'),
            std::string::npos);
  EXPECT_THROW(LoadLie("/nowhere/F.toml:x"), ConfigError);
}

TEST(Lies, NamesHaveTheValuesOfTheHeaders) {
  EXPECT_EQ(NumberFromName("EINVAL"), std::uint64_t{EINVAL});
  EXPECT_EQ(NumberFromName("PERF_EVENT_IOC_ID"), std::uint64_t{PERF_EVENT_IOC_ID});
  EXPECT_EQ(NumberFromName("-1"), ~std::uint64_t{0});
  EXPECT_EQ(NumberFromName("0xf000000000000000"), 0xf000000000000000u);
  EXPECT_EQ(NumberFromName("12x"), std::nullopt);
  EXPECT_EQ(NumberFromName(""), std::nullopt);
}

// The fields of an attr with one bit field set, by the compiler.
template <typename Set>
std::uint64_t FieldOf(const char* name, const Set& set) {
  perf_event_attr attr = {};
  set(attr);
  Slots slots;
  AddAttr(reinterpret_cast<std::byte*>(&attr), sizeof(attr), &slots);
  return slots.Find(name)->Get();
}

TEST(Lies, FieldsOfTheAttrAreThoseOfTheStructure) {
#define PMUCONF_EXPECT_BIT(field) \
  EXPECT_EQ(FieldOf("attr." #field, [](perf_event_attr& attr) { attr.field = 1; }), 1u)
  PMUCONF_EXPECT_BIT(disabled);
  PMUCONF_EXPECT_BIT(inherit);
  PMUCONF_EXPECT_BIT(exclude_kernel);
  PMUCONF_EXPECT_BIT(enable_on_exec);
  PMUCONF_EXPECT_BIT(watermark);
  PMUCONF_EXPECT_BIT(sample_id_all);
  PMUCONF_EXPECT_BIT(use_clockid);
  PMUCONF_EXPECT_BIT(write_backward);
  PMUCONF_EXPECT_BIT(inherit_thread);
  PMUCONF_EXPECT_BIT(remove_on_exec);
  PMUCONF_EXPECT_BIT(sigtrap);
#undef PMUCONF_EXPECT_BIT
  EXPECT_EQ(FieldOf("attr.precise_ip", [](perf_event_attr& attr) { attr.precise_ip = 3; }), 3u);
  EXPECT_EQ(FieldOf("attr.flags", [](perf_event_attr& attr) { attr.inherit = 1; }), 2u);
  EXPECT_EQ(FieldOf("attr.clockid", [](perf_event_attr& attr) { attr.clockid = -1; }), 0xffffffffu);
}

TEST(Lies, FieldsOfAGroupReadingHaveOneSlotPerMember) {
  std::uint64_t words[] = {2, 100, 90, 7, 11, 8, 12};
  constexpr std::uint64_t kFormat = kReadTimes | PERF_FORMAT_GROUP | PERF_FORMAT_ID;
  Slots slots;
  EXPECT_EQ(AddReading(std::as_writable_bytes(std::span(words)), kFormat, "", &slots),
            sizeof(words));
  Liar liar(
      Parsed("call = \"read\"\neffect = { add = { value = 1, id = -1 }, set = { nr = 1 } }\n"));
  liar.ChangeAnswer(&slots);
  EXPECT_THAT(words, ElementsAre(1, 100, 90, 8, 10, 9, 11));
}

TEST(Lies, ConditionsCompareFields) {
  const auto applies = [](const std::string& when, std::uint32_t value) {
    Liar liar(Parsed("call = \"open\"\nwhen = { cpu = " + when + " }\neffect = { error = 0 }\n"));
    Slots slots;
    slots.Add("cpu", &value);
    return liar.Applies(slots);
  };
  EXPECT_TRUE(applies("-1", ~0u));
  EXPECT_FALSE(applies("-1", 1));
  EXPECT_TRUE(applies("\"!3\"", 1));
  EXPECT_FALSE(applies("\"!3\"", 3));
  EXPECT_TRUE(applies("\"&6\"", 7));
  EXPECT_FALSE(applies("\"&6\"", 5));
  EXPECT_TRUE(applies("\"!&6\"", 9));
  EXPECT_FALSE(applies("\"!&6\"", 2));
  EXPECT_TRUE(applies("\"<3\"", 2));
  EXPECT_FALSE(applies("\">3\"", 3));
  EXPECT_TRUE(applies("[1, 5]", 5));
  EXPECT_FALSE(applies("[1, 5]", 4));
  Liar other(Parsed("call = \"open\"\nwhen = { pid = 0 }\neffect = { error = 0 }\n"));
  EXPECT_FALSE(other.Applies(Slots())) << "the call has no such field";
}

TEST(Lies, NthCountsTheMatches) {
  Liar liar(
      Parsed("call = \"open\"\nwhen = { cpu = 1, nth = [2, \">3\"] }\neffect = { error = 0 }\n"));
  std::vector<bool> applied;
  for (int cpu : {1, 0, 1, 1, 1, 1}) {
    Slots slots;
    slots.Add("cpu", &cpu);
    applied.push_back(liar.Applies(slots));
  }
  EXPECT_THAT(applied, ElementsAre(false, false, true, false, true, true));
  EXPECT_EQ(liar.applied(), 3u);
}

TEST(Lies, ChangesOverTimeRememberEarlierValues) {
  Liar stale(Parsed("call = \"read\"\neffect = { stale = [\"value\"] }\n"));
  Liar each(Parsed("call = \"read\"\neffect = { add_each = { value = 5 } }\n"));
  std::vector<std::uint64_t> frozen, growing;
  for (const std::uint64_t value : {10, 20, 30}) {
    for (auto [liar, values] : {std::pair(&stale, &frozen), {&each, &growing}}) {
      std::uint64_t told = value;
      Slots slots;
      slots.Add("value", &told);
      liar->ChangeAnswer(&slots);
      values->push_back(told);
    }
  }
  EXPECT_THAT(frozen, ElementsAre(10, 10, 10));
  EXPECT_THAT(growing, ElementsAre(15, 30, 45));
}

// A sample with ip and addr.
Record IpAndAddr(std::uint64_t ip, std::uint64_t addr) {
  Record record{PERF_RECORD_SAMPLE, 0, std::vector<std::byte>(16)};
  std::memcpy(record.body.data(), &ip, 8);
  std::memcpy(record.body.data() + 8, &addr, 8);
  return record;
}

// The ips of samples 1 to 4 under a lie; 0 for a record that is not a sample of that attr.
std::vector<std::uint64_t> IpsUnder(const std::string& lines) {
  perf_event_attr attr = {};
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
  std::vector<Record> records;
  for (std::uint64_t ip = 1; ip <= 4; ++ip) records.push_back(IpAndAddr(ip, 0));
  Liar liar(Parsed("call = \"record\"\n" + lines));
  LieAboutRecords(&liar, attr, &records);
  std::vector<std::uint64_t> ips;
  for (const Record& record : records) {
    const auto sample = ParseSample(record, attr);
    ips.push_back(sample ? *sample->ip : 0);
  }
  return ips;
}

TEST(Lies, RecordsAreDroppedDoubledDelayedAndCut) {
  EXPECT_THAT(IpsUnder("when = { ip = 2 }\neffect = { drop = true }\n"), ElementsAre(1, 3, 4));
  EXPECT_THAT(IpsUnder("when = { nth = 1 }\neffect = { twice = true }\n"),
              ElementsAre(1, 1, 2, 3, 4));
  EXPECT_THAT(IpsUnder("when = { ip = 2 }\neffect = { late = true }\n"), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(IpsUnder("when = { ip = 4 }\neffect = { late = true }\n"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(IpsUnder("when = { ip = 3 }\neffect = { cut = 8 }\n"), ElementsAre(1, 2, 0, 4));
  EXPECT_THAT(IpsUnder("when = { ip = 3 }\neffect = { grow = 8 }\n"), ElementsAre(1, 2, 0, 4));
  EXPECT_THAT(IpsUnder("effect = { add = { ip = 10 } }\n"), ElementsAre(11, 12, 13, 14));
  EXPECT_THAT(IpsUnder("effect = { copy = { ip = \"addr\" } }\n"), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(
      IpsUnder("when = { attr.sample_type = \"&PERF_SAMPLE_TID\" }\neffect = { drop = true }\n"),
      ElementsAre(1, 2, 3, 4));
}

TEST(Lies, FieldsOfARecordFollowItsAttr) {
  perf_event_attr attr = {};
  attr.sample_id_all = 1;
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ID;
  std::uint64_t words[] = {5, 9, (7ull << 32) | 6, 11};
  Record record{PERF_RECORD_LOST, 0, {}};
  const auto bytes = std::as_bytes(std::span(words));
  record.body.assign(bytes.begin(), bytes.end());
  Slots slots;
  AddRecord(&record, attr, &slots);
  EXPECT_EQ(slots.Find("id")->Get(), 5u);
  EXPECT_EQ(slots.Find("lost")->Get(), 9u);
  EXPECT_EQ(slots.Find("trailer.pid")->Get(), 6u);
  EXPECT_EQ(slots.Find("trailer.tid")->Get(), 7u);
  EXPECT_EQ(slots.Find("trailer.id")->Get(), 11u);
  EXPECT_EQ(slots.Find("body_size")->Get(), 32u);
  EXPECT_EQ(slots.Find("ip"), nullptr);
}

TEST(Lies, TextsAndNamesOfFilesChange) {
  Liar liar(Parsed("call = \"file\"\npath = \"*/type\"\neffect = { replace = [\"1\", \"22\"] }\n"));
  std::optional<std::string> text = "1 of 10", other = "1";
  LieAboutFile(&liar, "/sys/x/type", &text);
  LieAboutFile(&liar, "/sys/x/format", &other);
  EXPECT_EQ(text, "22 of 220");
  EXPECT_EQ(other, "1");
  Liar absent(Parsed("call = \"file\"\neffect = { absent = true }\n"));
  LieAboutFile(&absent, "/x", &other);
  EXPECT_EQ(other, std::nullopt);
  Liar folder(Parsed("call = \"folder\"\neffect = { hide = [\"b*\"], show = [\"z\"] }\n"));
  std::vector<std::string> names = {"a", "b1", "c"};
  LieAboutFolder(&folder, "/x", &names);
  EXPECT_THAT(names, ElementsAre("a", "c", "z"));
}

TEST(Lies, NothingChangesWithoutOne) {
  EXPECT_EQ(CurrentLiar(), nullptr);
  for (const LieCall call : {LieCall::kOpen, LieCall::kRead, LieCall::kRecord, LieCall::kPage})
    EXPECT_EQ(LiarAbout(call), nullptr);
  EXPECT_EQ(perf_answers().records, nullptr);
  EXPECT_EQ(perf_answers().page, nullptr);
  EXPECT_EQ(perf_answers().counter, nullptr);
  EXPECT_EQ(perf_answers().bpf_memory, nullptr);
  EXPECT_EQ(file_answers().file, nullptr);
  EXPECT_EQ(file_answers().folder, nullptr);
}

}  // namespace
}  // namespace pmuconf

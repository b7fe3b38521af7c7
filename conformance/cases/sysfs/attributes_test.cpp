// SPDX-License-Identifier: Apache-2.0
// The files of the PMU in sysfs: their syntax, and the events that a tool opens with them.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <regex>
#include <set>

#include "cases/common.h"
#include "cases/write_file.h"
#include "rules/DRC.h"
#include "rules/SYS.h"
#include "system/context.h"

namespace pmuconf {
namespace {

std::map<std::string, FormatField> Formats() {
  std::map<std::string, FormatField> formats;
  for (const std::string& name : ListFolder(DeviceFile("format"))) {
    const auto text = ReadFile(DeviceFile("format/" + name));
    const auto field = text ? ParseFormat(*text) : std::nullopt;
    EXPECT_TRUE(field) << rule::SYS_002 << " format/" << name;
    if (field) formats[name] = *field;
  }
  return formats;
}

// The names in events/, without those of their attributes (name.unit and so on).
std::vector<std::string> EventNames() {
  std::vector<std::string> names;
  for (const std::string& name : ListFolder(DeviceFile("events"))) {
    if (name.find('.') == std::string::npos) names.push_back(name);
  }
  return names;
}

// Whether the target file lists the format as exclusive: an event uses at most one such format.
bool Exclusive(const std::string& format) {
  const std::vector<std::string>& formats = target().exclusive_formats();
  return std::find(formats.begin(), formats.end(), format) != formats.end();
}

CONFORMANCE_CASE(Sysfs, TypeIsUniqueAndOpensThePmu, .rules = {rule::SYS_001, rule::DRC_104},
                 .needs = {Cap::kStimulus}) {
  std::set<std::string> types;
  for (const std::string& device : ListFolder(kEventSource)) {
    const auto type = ReadFile(std::string(kEventSource) + "/" + device + "/type");
    ASSERT_TRUE(type) << device;
    EXPECT_TRUE(std::regex_match(*type, std::regex("[0-9]+"))) << rule::SYS_001;
    EXPECT_TRUE(types.insert(*type).second) << rule::SYS_001 << device;
  }
  const EventSpec spec = target().AnyEvent();
  ASSERT_EQ(ReadFile(DeviceFile("type")), std::to_string(spec.type));
  const OpenResult result = TryOpen(spec);
  ASSERT_THAT(result, Succeeds()) << rule::SYS_001;
  result.event.Enable();
  target().Stimulate(spec, 5);
  EXPECT_THAT(result.event.Read(), Counted(spec, 5)) << rule::SYS_001;
}

CONFORMANCE_CASE(Sysfs, FormatFieldsParseWithoutOverlap,
                 .rules = {rule::SYS_002, rule::SYS_003, rule::DRC_105},
                 .needs = {Cap::kCounters}) {
  const std::map<std::string, FormatField> formats = Formats();
  EXPECT_FALSE(formats.empty()) << rule::SYS_002;
  std::map<std::pair<int, int>, std::string> taken;
  for (const auto& [name, field] : formats) {
    EXPECT_TRUE(field.config >= 0 && field.config <= 4) << rule::SYS_002 << name;
    for (const auto& [first, last] : field.bits) {
      EXPECT_TRUE(0 <= first && first <= last && last < 64) << rule::SYS_002 << name;
      for (int bit = first; bit <= last; ++bit) {
        const std::string& other = taken.emplace(std::pair(field.config, bit), name).first->second;
        EXPECT_TRUE(other == name || (Exclusive(other) && Exclusive(name)))
            << rule::SYS_003 << name << " and " << other;
      }
    }
  }
}

// Without a stimulus, the target is a draft, which has only some of the PMU's events.
CONFORMANCE_CASE(Sysfs, FormatFieldsAreUsableBySomeEvent, .rules = {rule::SYS_019, rule::DRC_107},
                 .needs = {Cap::kStimulus}) {
  const std::vector<EventSpec> events = target().Events({.wide = true, .inexact = true});
  for (const auto& [name, field] : Formats()) {
    const auto taken = [&field = field](EventSpec spec) {
      std::uint64_t* const words[] = {&spec.config, &spec.config1, &spec.config2, &spec.config3,
                                      &spec.config4};
      *words[field.config] |= *field.Encode(1);
      return TryOpen(spec).ok();
    };
    EXPECT_TRUE(std::any_of(events.begin(), events.end(), taken)) << rule::SYS_019 << " " << name;
  }
}

// Matches a list of terms. The ABI text permits numbers of base 16 only. The perf tool also reads
// decimal ones.
bool IsListOfTerms(const std::string& text) {
  const std::string term = "[a-z0-9_-]+(=(0x[0-9a-fA-F]+|[0-9]+|\\?))?";
  return std::regex_match(text, std::regex(term + "(," + term + ")*"));
}

CONFORMANCE_CASE(Sysfs, EventsUseDeclaredTerms, .rules = {rule::SYS_004},
                 .needs = {Cap::kCounters}) {
  const std::map<std::string, FormatField> formats = Formats();
  for (const std::string& name : EventNames()) {
    const auto text = ReadFile(DeviceFile("events/" + name));
    ASSERT_TRUE(text && IsListOfTerms(*text)) << rule::SYS_004 << name;
    const auto terms = ParseTerms(*text);
    ASSERT_TRUE(terms && EncodeTerms(*terms, formats)) << rule::SYS_004 << name << ": " << *text;
  }
}

CONFORMANCE_CASE(Sysfs, EventsUseDeclaredTermsAndCount,
                 .rules = {rule::SYS_004, rule::SYS_005, rule::DRC_106, rule::DRC_107},
                 .needs = {Cap::kStimulus, Cap::kPort, Cap::kCounters}) {
  const std::map<std::string, FormatField> formats = Formats();
  const bool has_filters =
      std::ranges::any_of(formats, [](const auto& field) { return field.second.config != 0; });
  std::set<std::array<std::uint64_t, 5>> configs;
  for (const std::string& name : EventNames()) {
    const auto text = ReadFile(DeviceFile("events/" + name));
    ASSERT_TRUE(text && IsListOfTerms(*text)) << rule::SYS_004 << name;
    const auto terms = ParseTerms(*text);
    ASSERT_TRUE(terms) << rule::SYS_004 << name;
    const auto encoded = EncodeTerms(*terms, formats);
    ASSERT_TRUE(encoded) << rule::SYS_004 << name;
    const bool chosen = text->find('?') != std::string::npos;  // the user selects the event
    EXPECT_TRUE(chosen || configs
                              .insert({encoded->config, encoded->config1, encoded->config2,
                                       encoded->config3, encoded->config4})
                              .second)
        << "two names for one event: " << name;
    EXPECT_LE(std::count_if(terms->begin(), terms->end(),
                            [](const auto& term) { return Exclusive(term.first); }),
              1)
        << rule::SYS_003 << name;

    const auto of_name = [&name](const EventClaim& claim) { return claim.name == name; };
    const bool claimed = std::ranges::any_of(target().claims(), of_name);
    // A driver of a device may have more events than its target claims, and some need a filter.
    ASSERT_TRUE(claimed || target().kind() == "uncore")
        << rule::SYS_005 << " the target file does not claim " << name;
    if (!claimed && (chosen || (has_filters && target().filter().empty()))) continue;
    const EventSpec spec = claimed ? target().Event(name) : target().EventInSysfs(name);
    const OpenResult result = TryOpen(spec);
    ASSERT_THAT(result, Succeeds()) << rule::SYS_005 << name;
    if (!claimed) continue;  // nothing is known that generates it
    result.event.Enable();
    target().Stimulate(spec, 19);
    EXPECT_THAT(result.event.Read(), Counted(spec, 19)) << rule::SYS_005 << name;
  }
  const auto named = std::ranges::count_if(target().claims(), [](const EventClaim& claim) {
    return !claim.code && claim.terms.empty();
  });
  EXPECT_GE(configs.size(), static_cast<std::size_t>(named)) << rule::SYS_005;
}

// The target file states the code of an event that sysfs does not list.
CONFORMANCE_CASE(Sysfs, EventsKnownByCodeAreNotListed, .rules = {rule::SYS_023}) {
  const std::vector<std::string> names = EventNames();
  for (const EventClaim& claim : target().claims()) {
    if (!claim.code || !claim.terms.empty()) continue;
    EXPECT_THAT(names, testing::Not(testing::Contains(claim.name)));
  }
}

// The counts are compared after each tick, because in the long run an event may happen as often as
// its opposite. Both events count at the same time.
CONFORMANCE_CASE(Sysfs, NamedEventCountsAsGenericEvent, .rules = {rule::SYS_021},
                 .needs = {Cap::kStimulus, Cap::kManualClock, Cap::kTasks, Cap::kGenericEvents}) {
  const OpenOptions here = {.pid = -1, .cpu = EventCpu(), .disabled = false};
  const std::map<std::string, FormatField> formats = Formats();
  for (const EventSpec& spec : target().Events({.any_general = true, .generic = true})) {
    const auto text = ReadFile(DeviceFile("events/" + spec.name));
    if (!text) continue;
    const auto terms = ParseTerms(*text);
    const auto encoded = terms ? EncodeTerms(*terms, formats) : std::nullopt;
    ASSERT_TRUE(encoded) << rule::SYS_004 << spec.name;
    EventSpec by_name = spec;
    by_name.config = encoded->config;
    by_name.config1 = encoded->config1;
    const Event named = Open(by_name, here);
    const Event generic = Open(AsGeneric(spec), here);
    for (int tick = 0; tick < 8; ++tick) {
      port().Advance(1);
      EXPECT_EQ(named.Read().value, generic.Read().value) << spec.name;
    }
    Pulse(spec, 19);
    EXPECT_EQ(named.Read().value, generic.Read().value) << spec.name;
  }
}

bool OneLine(const std::string& text) {
  return !text.empty() && text.find('\n') == std::string::npos;
}

CONFORMANCE_CASE(Sysfs, EventAttributesBelongToAnEventAndParse,
                 .rules = {rule::SYS_006, rule::DRC_106}) {
  const std::vector<std::string> names = EventNames();
  const std::regex suffix("unit|scale|snapshot|per-pkg");
  const std::regex number("[-+]?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)?");
  for (const std::string& file : ListFolder(DeviceFile("events"))) {
    const std::size_t dot = file.find('.');
    if (dot == std::string::npos) continue;
    const std::string attribute = file.substr(dot + 1);
    EXPECT_TRUE(std::find(names.begin(), names.end(), file.substr(0, dot)) != names.end())
        << rule::SYS_006 << file;
    EXPECT_TRUE(std::regex_match(attribute, suffix)) << rule::SYS_006 << file;
    const auto text = ReadFile(DeviceFile("events/" + file));
    ASSERT_TRUE(text && OneLine(*text)) << rule::SYS_006 << file;
    if (attribute == "scale") {
      ASSERT_TRUE(std::regex_match(*text, number)) << rule::SYS_006 << file << *text;
      EXPECT_GT(std::strtod(text->c_str(), nullptr), 0.0) << rule::SYS_006 << file;
    }
    // Tools recognize these attributes by the only value that is valid.
    if (attribute == "snapshot" || attribute == "per-pkg") {
      EXPECT_EQ(*text, "1") << rule::SYS_006 << file;
    }
  }
}

CONFORMANCE_CASE(Sysfs, EventNamesAreOfOneCase, .rules = {rule::SYS_013, rule::DRC_106},
                 .needs = {Cap::kCounters}) {
  const std::vector<std::string> names = EventNames();
  // A driver may leave its events to tools, as AMD's uncore PMUs do.
  if (names.empty()) SkipUnclaimed("needs an event with a name in sysfs");
  const std::regex legal("[a-z0-9._-]+|[A-Z0-9._-]+");
  for (const std::string& name : names) {
    EXPECT_TRUE(std::regex_match(name, legal)) << rule::SYS_013 << name;
  }
}

// The errno of opening any event with this precise_ip, and below with a branch stack.
int PreciseError(unsigned precise) {
  OpenOptions options = {.sample_period = 1'000};
  options.edit = [&](perf_event_attr& attr) { attr.precise_ip = precise & 3; };
  return TryOpen(target().AnyEvent(), options).error;
}

int BranchError() {
  OpenOptions options = {.sample_period = 1'000, .sample_type = PERF_SAMPLE_BRANCH_STACK};
  options.edit = [](perf_event_attr& attr) { attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY; };
  return TryOpen(target().AnyEvent(), options).error;
}

CONFORMANCE_CASE(Sysfs, CapabilitiesAreLinesOfText, .rules = {rule::SYS_020}) {
  const std::regex number("[1-9][0-9]*");
  for (const std::string& name : ListFolder(DeviceFile("caps"))) {
    const auto text = ReadFile(DeviceFile("caps/" + name));
    ASSERT_TRUE(text && OneLine(*text)) << name;
    if (name == "max_precise" || name == "branches") {
      EXPECT_TRUE(std::regex_match(*text, number)) << name << ": " << *text;
    }
  }
}

CONFORMANCE_CASE(Sysfs, CapabilitiesAreWhatOpenAccepts, .rules = {rule::SYS_009},
                 .needs = {Cap::kCounters, Cap::kSampling}) {
  const std::regex number("[0-9]+");
  const auto precise = ReadFile(DeviceFile("caps/max_precise"));
  ASSERT_TRUE(std::regex_match(precise.value_or("0"), number)) << *precise;
  const auto highest = static_cast<unsigned>(std::stoul(precise.value_or("0")));
  EXPECT_EQ(highest, target().precise());
  for (unsigned level = 1; level <= 3; ++level) {
    EXPECT_EQ(PreciseError(level), level > highest ? EOPNOTSUPP : 0) << level;
  }
  const auto branches = ReadFile(DeviceFile("caps/branches"));
  ASSERT_TRUE(std::regex_match(branches.value_or("0"), number)) << *branches;
  EXPECT_EQ(std::stoul(branches.value_or("0")), target().branches());
  EXPECT_EQ(BranchError(), branches ? 0 : EOPNOTSUPP);
  const auto name = ReadFile(DeviceFile("caps/pmu_name"));
  EXPECT_NE(name.value_or("none"), "");
}

CONFORMANCE_CASE(Sysfs, CpusMatchWhatOpenAccepts, .rules = {rule::SYS_008, rule::DRC_108},
                 .needs = {Cap::kTasks}) {
  const auto text = ReadFile(DeviceFile("cpus"));
  const auto cpus = text ? ParseCpuList(*text) : std::optional(OnlineCpus());
  ASSERT_TRUE(cpus && !cpus->empty()) << rule::SYS_008;
  for (const int cpu : OnlineCpus()) {
    const bool covered = std::find(cpus->begin(), cpus->end(), cpu) != cpus->end();
    EXPECT_THAT(TryOpen(target().AnyEvent(), {.pid = -1, .cpu = cpu}),
                FailsWith(covered ? 0 : ENOENT))
        << rule::SYS_008 << cpu;
  }
}

CONFORMANCE_CASE(Sysfs, MuxIntervalKeepsWhatIsWritten, .rules = {rule::SYS_010},
                 .needs = {Cap::kMultiplexing}) {
  const std::string path = DeviceFile("perf_event_mux_interval_ms");
  const MuxInterval restored(4);
  for (const std::string value : {"1", "17", "1000"}) {
    EXPECT_EQ(WriteError(path, value), 0) << value;
    EXPECT_EQ(ReadFile(path), value);
    for (const std::string bad : {"0", "-1", "x"}) {
      EXPECT_EQ(WriteError(path, bad), EINVAL) << bad;
      EXPECT_EQ(ReadFile(path), value) << bad;
    }
  }
}

CONFORMANCE_CASE(Sysfs, AddressFiltersAreAnnouncedWhereTheyExist, .rules = {rule::SYS_011}) {
  const auto count = ReadFile(DeviceFile("nr_addr_filters"));
  const Event event = Open(target().AnyEvent());
  const char filter[] = "filter 0x1000/0x1000";
  const SysResult result =
      event.TryIoctl(PERF_EVENT_IOC_SET_FILTER, reinterpret_cast<unsigned long>(filter));
  EXPECT_EQ(count.has_value(), result.error != EINVAL);
}

CONFORMANCE_CASE(Sysfs, FilesAreReadableAndWritableByTheOwnerAtMost, .rules = {rule::SYS_012}) {
  for (const std::string folder : {"", "format/", "events/", "caps/"}) {
    for (const std::string& name : ListFolder(DeviceFile(folder))) {
      struct stat info = {};
      ASSERT_EQ(stat(DeviceFile(folder + name).c_str(), &info), 0) << folder + name;
      if (!S_ISREG(info.st_mode) || name == "uevent") continue;
      const mode_t writable = folder.empty() ? info.st_mode & 0200 : 0;
      EXPECT_EQ(info.st_mode & 0777, 0444 | writable) << folder + name;
      EXPECT_TRUE(ReadFile(DeviceFile(folder + name))) << folder + name;
    }
  }
}

}  // namespace
}  // namespace pmuconf

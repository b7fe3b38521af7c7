// SPDX-License-Identifier: Apache-2.0
// Target files: any text gives either a consistent target with the values of the text, or one line
// that names file, line and key.
#include <toml++/toml.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include "lines.h"
#include "property.h"
#include "target/target.h"

namespace pmuconf::fuzz {
namespace {

constexpr const char* kPath = "t.toml";
constexpr std::string_view kBaseName = "below";
constexpr std::string_view kCut = "\n-- base --\n";

// A target file, and the file that it may name as its base.
struct Files {
  std::string_view text;
  std::string_view base;
};

struct ReadResult {
  std::optional<Target> target;
  std::string error;
};

ReadResult Read(std::string_view text, std::string_view base) {
  const auto find = [base](const std::string& name,
                           const std::string&) -> std::optional<TargetText> {
    if (name != kBaseName) return std::nullopt;
    return TargetText{"below.toml", std::string(base)};
  };
  try {
    return {Target::Parse(text, kPath, find), ""};
  } catch (const ConfigError& error) {
    PROPERTY(*error.what() != '\0', "a refusal says why");
    return {std::nullopt, error.what()};
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    PROPERTY(false, "what is no target is refused as a wrong file, and in no other way");
  }
}

std::size_t LinesOf(std::string_view text) {
  return 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// "t.toml:7: key 'counters.general' must ...", or an error of the TOML parser at line 7.
void CheckError(std::string_view error, const Files& files) {
  for (const char c : error)
    PROPERTY((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\t',
             "an error is one line");
  const bool below = error.starts_with("below.toml:");
  PROPERTY(below || error.starts_with("t.toml:"), "an error begins with the file");
  error.remove_prefix(error.find(':') + 1);
  std::size_t line = 0;
  std::size_t digits = 0;
  for (; digits < error.size() && error[digits] >= '0' && error[digits] <= '9'; ++digits)
    line = line * 10 + static_cast<std::size_t>(error[digits] - '0');
  error.remove_prefix(digits);
  PROPERTY(digits > 0 && error.starts_with(": ") && error.size() > 2,
           "an error names a line, and what is wrong");
  PROPERTY(line <= LinesOf(below ? files.base : files.text) + 1, "the line is one of the file");
}

void CheckAccuracy(const Accuracy& accuracy) {
  PROPERTY(std::isfinite(accuracy.rel) && accuracy.rel >= 0, "an accuracy is a number");
}

void CheckCounters(std::uint64_t counters, const Target& target) {
  const std::uint64_t general = (std::uint64_t{1} << target.general()) - 1;
  const std::uint64_t fixed = (std::uint64_t{1} << target.fixed()) - 1;
  PROPERTY((counters & ~(general | fixed << 32)) == 0, "counters are those that the target has");
  PROPERTY(target.general() == 0 || counters != 0,
           "an event has a counter where they are numbered");
}

void CheckClaims(const Target& target) {
  std::set<std::string> names;
  const bool traces = target.kind() == "trace";
  PROPERTY(traces || !target.claims().empty(), "a target has an event, or a trace");
  PROPERTY(!traces || target.trace_record() > 0, "a trace has records");
  for (const EventClaim& claim : target.claims()) {
    PROPERTY(!claim.name.empty() && names.insert(claim.name).second, "each event has its own name");
    const bool by_port =
        claim.stimulus == StimulusKind::kPulse || claim.stimulus == StimulusKind::kClock;
    PROPERTY(!by_port || !target.port_path().empty(), "what the port makes happen needs the port");
    PROPERTY(claim.stimulus != StimulusKind::kClock || claim.ticks > 0, "an event takes ticks");
    PROPERTY(!claim.generic || *claim.generic < 10, "a generic event is one of ten");
    CheckCounters(claim.counters, target);
    CheckAccuracy(claim.accuracy);
  }
}

void CheckTarget(const Target& target) {
  PROPERTY(!target.name().empty() && !target.match().empty(), "a target has a name and a PMU");
  PROPERTY(std::set<std::string>({"core", "uncore", "software", "tracepoint", "trace"})
               .contains(target.kind()),
           "a target is of a kind");
  PROPERTY(target.general() <= 32 && target.fixed() <= 16, "counters have numbers");
  PROPERTY(target.general() == 0 || (target.width() >= 16 && target.width() <= 64),
           "a counter has a width");
  PROPERTY(std::popcount(target.counter_mask()) == static_cast<int>(target.width()),
           "the mask is as wide as a counter");
  PROPERTY(std::isfinite(target.slowness()) && target.slowness() > 0, "a budget comes to an end");
  PROPERTY(target.min_period() >= 1 && target.precise() <= 3, "samples are as perf has them");
  CheckClaims(target);
  for (const Cap cap : AllCaps()) static_cast<void>(target.Claims(cap));
  PROPERTY(target.Claims(Cap::kTrace) != target.Claims(Cap::kCounting),
           "a target counts or traces");
  PROPERTY(target.Claims(Cap::kPort) == !target.port_path().empty(),
           "a port is claimed by its path");
}

// All properties of a target, except its name.
std::string ClaimsText(const Target& target) {
  std::string text = target.match() + "|" + target.kind() + "|" + target.kernel() + "|" +
                     target.module() + "|" + target.port_path();
  for (const std::uint64_t n :
       {std::uint64_t{target.general()}, std::uint64_t{target.fixed()},
        std::uint64_t{target.width()}, target.min_period(), std::uint64_t{target.precise()},
        std::uint64_t{target.branches()}, std::uint64_t{target.trace_record()},
        std::bit_cast<std::uint64_t>(target.slowness())})
    text += "|" + std::to_string(n);
  for (const Cap cap : AllCaps()) text += target.Claims(cap) ? '1' : '0';
  for (const std::string& format : target.exclusive_formats()) text += "|" + format;
  for (const EventClaim& claim : target.claims()) {
    text += "|" + claim.name + (claim.wide ? "|wide" : "");
    for (const std::uint64_t n :
         {static_cast<std::uint64_t>(claim.stimulus), std::uint64_t{claim.code.value_or(0)},
          std::uint64_t{claim.ticks}, std::uint64_t{claim.latency}, claim.response, claim.counters,
          claim.generic.value_or(99), claim.software.value_or(99), claim.accuracy.abs,
          std::bit_cast<std::uint64_t>(claim.accuracy.rel)})
      text += "," + std::to_string(n);
  }
  return text;
}

// Without a base, the target has exactly the values of the file.
void CheckAgainstFile(const Target& target, std::string_view text) {
  const toml::table file = toml::parse(text);
  if (file.contains("base")) return;
  const auto number = [&](const char* table, const char* key, std::int64_t fallback) {
    return static_cast<std::uint64_t>(file[table][key].value_or(fallback));
  };
  const auto string_value = [&](const char* key, const char* fallback) {
    return file["target"][key].value_or(std::string(fallback));
  };
  PROPERTY(target.name() == string_value("name", "") &&
               target.match() == string_value("match", "") &&
               target.kind() == string_value("kind", "") &&
               target.port_path() == string_value("port", "") &&
               target.kernel() == string_value("kernel", ">=6.1"),
           "the target is the one that the file names");
  PROPERTY(target.general() == number("counters", "general", 0) &&
               target.fixed() == number("counters", "fixed", 0) &&
               target.width() == number("counters", "width", 0),
           "the counters are those of the file");
  PROPERTY(target.min_period() == number("sampling", "min_period", 1) &&
               target.precise() == number("features", "precise", 0) &&
               target.branches() == number("features", "branches", 0),
           "samples are what the file says");
  PROPERTY(target.Claims(Cap::kSampling) == file.contains("sampling"),
           "it samples if the file says");
  const toml::array* const events = file["event"].as_array();
  PROPERTY(target.claims().size() == (events == nullptr ? 0 : events->size()),
           "there are as many events as the file has");
  for (std::size_t i = 0; i < target.claims().size(); ++i)
    PROPERTY(target.claims()[i].name == (*events)[i].as_table()->at("name").value_or(std::string()),
             "the events stand in the order of the file");
}

void CheckStrict(const Files& files) {
  const ReadResult more = Read("zzz = 1\n" + std::string(files.text), files.base);
  PROPERTY(!more.target && more.error.find("key 'zzz' ") != std::string::npos,
           "a key that nobody knows is refused by its name");
}

// A file with only a base and a name is that base with that name.
void CheckBase(const Target& target, std::string_view text) {
  const ReadResult derived = Read("base = 'below'\n[target]\nname = 'heir'\n", text);
  PROPERTY(derived.target && derived.target->name() == "heir", "what is a target can be a base");
  PROPERTY(ClaimsText(*derived.target) == ClaimsText(target), "a base hands down all that it has");
}

void CheckOne(const Files& files) {
  const ReadResult result = Read(files.text, files.base);
  const ReadResult reread = Read(files.text, files.base);
  PROPERTY(result.error == reread.error, "the same file has the same answer");
  if (!result.target) {
    CheckError(result.error, files);
    return;
  }
  CheckTarget(*result.target);
  PROPERTY(ClaimsText(*result.target) == ClaimsText(*reread.target),
           "the same file has the same answer");
  CheckAgainstFile(*result.target, files.text);
  CheckStrict(files);
  if (files.base.empty()) CheckBase(*result.target, files.text);
}

}  // namespace
}  // namespace pmuconf::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return pmuconf::fuzz::MutateLines(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace pmuconf::fuzz;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t cut = text.find(kCut);
  CheckOne(cut == std::string_view::npos
               ? Files{text, {}}
               : Files{text.substr(0, cut + 1), text.substr(cut + kCut.size())});
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Prints the callbacks with their histograms, and the breaches.
#include "tools/watch/report.h"

#include <algorithm>
#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/watch/watch.h"

namespace pmuconf {
namespace {

struct Check {
  const char* name;
  const char* rule;
  const char* callbacks;  // separated by spaces
};
constexpr Check kChecks[] = {
#define X(name, rule, text, values, calls) {#name, rule, calls},
    WATCH_BREACHES(X)
#undef X
};

// These need the disable count of the PMU, which some kernels hide: Watched::unjudged.
bool NeedsDisableCount(const std::string& name) {
  return name == "pmu-on" || name == "txn-balance";
}

std::uint64_t CallsOf(const Watched& watched, const char* callbacks) {
  std::uint64_t n = 0;
  std::istringstream names(callbacks);
  for (std::string name; names >> name;) {
    for (const WatchedCalls& calls : watched.calls) n += calls.name == name ? calls.calls : 0;
  }
  return n;
}

template <typename... Args>
std::string Format(const char* format, Args... args) {
  char line[256];
  std::snprintf(line, sizeof(line), format, args...);
  return line;
}

// Draws the histogram with one character per power of two from 64 ns on. A higher bar means more
// calls.
std::string Histogram(const WatchedCalls& calls) {
  static constexpr const char* kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t kFirst = 7, kLast = 24;  // first: below 64 ns; last: from 8 ms on
  std::array<std::uint64_t, kLast - kFirst + 1> columns = {};
  for (std::size_t i = 0; i < calls.buckets.size(); ++i) {
    columns[std::clamp(i, kFirst, kLast) - kFirst] += calls.buckets[i];
  }
  const std::uint64_t most = *std::max_element(columns.begin(), columns.end());
  std::string text;
  for (const std::uint64_t n : columns) {
    text += n == 0 ? " " : kBars[n * 7 / most];
  }
  return text;
}

std::string Line(const WatchedCalls& calls) {
  std::string line = Format("  %-12s ", calls.name.c_str());
  if (!calls.unwatched.empty()) return line + "not watched: " + calls.unwatched + "\n";
  line += Format("%10" PRIu64 "  ", calls.calls);
  if (calls.total == 0) return line + Format("%41s", "") + calls.function + "\n";
  line += Format("%8s %8s %8s  ", Duration(Below(calls, 0.5)).c_str(),
                 Duration(Below(calls, 0.99)).c_str(), Duration(calls.longest).c_str());
  return line + Histogram(calls) + "  " + calls.function + "\n";
}

std::string BreachText(const WatchedBreach& breach) {
  std::string text = "BREACH  " + breach.rule + " " + breach.name + ": " + breach.text + ", " +
                     std::to_string(breach.times) + (breach.times == 1 ? " time" : " times") + "\n";
  text += "    first in " + breach.callback;
  if (breach.flags != 0) text += Format(" (flags 0x%x)", breach.flags);
  text += Format(" on CPU %u, in process %u (%s)", breach.cpu, breach.pid, breach.command.c_str());
  if (breach.type != 0 || breach.config != 0) {
    text += Format(", event type %u config 0x%" PRIx64, breach.type, breach.config);
  }
  if (!breach.values.empty()) text += "; " + breach.values;
  return text + "\n";
}

}  // namespace

std::string BreachName(std::string name) {
  for (char& c : name)
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

std::string Duration(std::uint64_t ns) {
  if (ns < 1'000) return Format("%" PRIu64 " ns", ns);
  const auto value = static_cast<double>(ns);
  if (ns < 1'000'000) return Format("%.1f us", value / 1e3);
  if (ns < 1'000'000'000) return Format("%.1f ms", value / 1e6);
  return Format("%.1f s", value / 1e9);
}

std::uint64_t Below(const WatchedCalls& calls, double share) {
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < calls.buckets.size(); ++i) {
    seen += calls.buckets[i];
    if (static_cast<double>(seen) >= share * static_cast<double>(calls.calls)) {
      return std::min(std::uint64_t{1} << i, calls.longest);
    }
  }
  return calls.longest;
}

std::vector<WatchedCheck> Checks(const Watched& watched) {
  std::vector<WatchedCheck> checks;
  for (const Check& known : kChecks) {
    WatchedCheck check = {BreachName(known.name), known.rule, true, ""};
    const auto breach =
        std::find_if(watched.breaches.begin(), watched.breaches.end(),
                     [&check](const WatchedBreach& one) { return one.name == check.name; });
    const std::uint64_t calls = CallsOf(watched, known.callbacks);
    if (breach != watched.breaches.end()) {
      check.passed = false;
      check.message = BreachText(*breach);
      check.message.pop_back();
    } else if (calls == 0 || (!watched.unjudged.empty() && NeedsDisableCount(check.name))) {
      continue;
    } else {
      check.message = "no breach in " + std::to_string(calls) + " calls";
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

std::string WatchText(const Watched& watched) {
  std::string text = Format("%s, watched for %.1f s\n", watched.pmu.c_str(), watched.seconds);
  text += Format("  %-12s %10s  %8s %8s %8s  %-18s  %s\n", "callback", "calls", "half", "99 %",
                 "longest", "64 ns ... 8 ms", "function");
  for (const WatchedCalls& calls : watched.calls) text += Line(calls);
  for (const WatchedBreach& breach : watched.breaches) text += BreachText(breach);
  if (!watched.unjudged.empty()) text += "not judged: " + watched.unjudged + "\n";
  if (watched.breaches.empty()) text += "no breach of the driver contract was seen\n";
  return text;
}

std::string WatchJson(const Watched& watched) {
  auto calls = nlohmann::ordered_json::array();
  for (const WatchedCalls& one : watched.calls) {
    nlohmann::ordered_json row = {{"name", one.name}, {"function", one.function}};
    if (!one.unwatched.empty()) {
      row["unseen"] = one.unwatched;
    } else {
      row["calls"] = one.calls;
      row["total_ns"] = one.total;
      row["longest_ns"] = one.longest;
      row["below_power_of_2_ns"] = one.buckets;
    }
    calls.push_back(std::move(row));
  }
  auto breaches = nlohmann::ordered_json::array();
  for (const WatchedBreach& one : watched.breaches) {
    breaches.push_back({{"name", one.name},
                        {"rule", one.rule},
                        {"text", one.text},
                        {"times", one.times},
                        {"callback", one.callback},
                        {"values", one.values},
                        {"type", one.type},
                        {"config", one.config},
                        {"flags", one.flags},
                        {"cpu", one.cpu},
                        {"pid", one.pid},
                        {"command", one.command}});
  }
  auto cases = nlohmann::ordered_json::array();
  for (const WatchedCheck& one : Checks(watched)) {
    cases.push_back({{"id", "watch." + one.name},
                     {"result", one.passed ? "PASS" : "FAIL"},
                     {"message", one.message},
                     {"rules", nlohmann::ordered_json::array({one.rule})}});
  }
  const nlohmann::ordered_json json = {{"layer", "watch"},
                                       {"pmu", watched.pmu},
                                       {"release", watched.release},
                                       {"arch", watched.arch},
                                       {"seconds", watched.seconds},
                                       {"calls", calls},
                                       {"breaches", breaches},
                                       {"cases", cases},
                                       {"unjudged", watched.unjudged}};
  return json.dump(1) + "\n";
}

}  // namespace pmuconf

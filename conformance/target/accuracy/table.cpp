// SPDX-License-Identifier: Apache-2.0
// Prints the accuracy of a PMU.
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "target/accuracy/accuracy.h"

namespace pmuconf {
namespace {

std::string Fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

// An event whose name states no work, and that counts none, has no known truth.
bool Unknown(const EventAccuracy& event) {
  return !event.named && event.finding.kind >= AccuracyClass::kProportional;
}

bool Wrong(const EventAccuracy& event) {
  return event.named && event.finding.kind >= AccuracyClass::kProportional;
}

std::string Text(const EventAccuracy& event) {
  if (Wrong(event)) return "WRONG: " + event.finding.text;
  if (Unknown(event)) {
    return "no known truth" + (event.work.empty() ? "" : "; " + event.finding.text);
  }
  return event.finding.text + "; differs by " + Fixed(event.finding.spread * 100, 3) +
         " % from run to run";
}

std::string Padded(const std::string& text, std::size_t width) {
  return text + std::string(width + 2 - std::min(width, text.size()), ' ');
}

}  // namespace

bool PmuAccuracy::wrong() const { return !bad_cpus.empty() || std::ranges::any_of(events, Wrong); }

std::string AccuracyTable(const PmuAccuracy& accuracy) {
  std::size_t width = 0;
  for (const EventAccuracy& event : accuracy.events) width = std::max(width, event.name.size());
  constexpr std::size_t kWorkWidth = 12;
  std::string text;
  for (const EventAccuracy& event : accuracy.events) {
    text += Padded(event.name, width) + Padded(event.work.empty() ? "-" : event.work, kWorkWidth) +
            Text(event) + "\n";
  }
  if (!accuracy.multiplexing.empty()) text += "error of scaled counts:";
  for (const MultiplexError& entry : accuracy.multiplexing) {
    text += (&entry == &accuracy.multiplexing.front() ? " " : ", ") + Fixed(entry.error * 100, 2) +
            " % with " + std::to_string(entry.events) + (entry.events == 1 ? " event" : " events");
  }
  if (!accuracy.multiplexing.empty()) text += "\n";
  if (accuracy.open_us > 0) {
    text += "cost: read " + Fixed(accuracy.read_us, 1) + " us, open and close " +
            Fixed(accuracy.open_us, 1) + " us\n";
  }
  for (const std::string& cpu : accuracy.bad_cpus) text += "WRONG: " + cpu + "\n";
  if (accuracy.bad_cpus.empty() && accuracy.cpus.size() > 1) {
    text += std::to_string(accuracy.cpus.size()) + " CPUs count the same\n";
  }
  return text;
}

std::string AccuracyJson(const PmuAccuracy& accuracy) {
  constexpr const char* kClasses[] = {"exact", "plus_interrupts", "bounded", "proportional",
                                      "wrong"};
  nlohmann::json found;
  for (const EventAccuracy& event : accuracy.events) {
    found["events"].push_back(
        {{"name", event.name},
         {"work", event.work},
         {"named", event.named},
         {"class", Unknown(event) ? "unknown" : kClasses[static_cast<int>(event.finding.kind)]},
         {"text", event.finding.text},
         {"spread", event.finding.spread}});
  }
  for (const MultiplexError& entry : accuracy.multiplexing) {
    found["multiplexing"].push_back({{"events", entry.events}, {"error", entry.error}});
  }
  found["cpus"] = accuracy.cpus;
  found["bad_cpus"] = accuracy.bad_cpus;
  found["cost_us"] = {{"read", accuracy.read_us}, {"open", accuracy.open_us}};
  return found.dump(1) + "\n";
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Writes the findings of a probe as a table, or as JSON.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "target/probe.h"
#include "target/probe/draft_lines.h"

namespace pmuconf {
namespace {

struct Row {
  std::string key;  // "counters.width", "event cycles: counters"
  std::string value;
  std::string sure;
  std::string how;
};

// Returns "counters" for "[counters]".
std::string Inner(const std::string& header) {
  const std::size_t first = header.find_first_not_of('[');
  return header.substr(first, header.find(']') - first);
}

std::vector<Row> Rows(const PmuFacts& facts) {
  std::vector<Row> rows;
  std::string prefix;
  for (const DraftLine& line : DraftLines(facts)) {
    switch (line.kind) {
      case DraftLine::Kind::kTable:
        prefix = Inner(line.key) + ".";
        break;
      case DraftLine::Kind::kComment:
        break;
      case DraftLine::Kind::kValue:
        if (prefix == "event." && line.key == "name") {
          const std::string name = line.value.substr(1, line.value.size() - 2);
          prefix = "event " + name + ": ";
        }
        [[fallthrough]];
      case DraftLine::Kind::kNote:
        rows.push_back({prefix + line.key, line.value, std::string(ToString(line.sure)), line.how});
        break;
    }
  }
  for (const EventFacts& event : facts.events) {
    if (event.stimulus != "none" || event.work.text.empty()) continue;
    rows.push_back({"event " + event.name + ": work", "none", "measured", event.work.text});
  }
  for (const auto& [name, why] : facts.omitted) {
    rows.push_back({"event " + name, "left out", "measured", why});
  }
  return rows;
}

void Pad(std::string* text, std::size_t width) {
  text->resize(std::max(text->size(), width), ' ');
  *text += "  ";
}

}  // namespace

std::string_view ToString(Sure sure) {
  switch (sure) {
    case Sure::kMeasured:
      return "measured";
    case Sure::kRead:
      return "read";
    case Sure::kDefault:
      return "default";
    case Sure::kGuess:
      return "guess";
  }
  return "?";
}

std::string ExplainDraft(const PmuFacts& facts) {
  std::vector<Row> rows = Rows(facts);
  rows.insert(rows.begin(), {"key", "value", "sure", "how it was found"});
  std::size_t widths[3] = {};
  for (const Row& row : rows) {
    widths[0] = std::max(widths[0], row.key.size());
    widths[1] = std::max(widths[1], row.value.size());
    widths[2] = std::max(widths[2], row.sure.size());
  }
  std::string text;
  for (Row& row : rows) {
    Pad(&row.key, widths[0]);
    Pad(&row.value, widths[1]);
    Pad(&row.sure, widths[2]);
    text += row.key + row.value + row.sure + row.how + "\n";
  }
  return text;
}

std::string ExplainDraftAsJson(const PmuFacts& facts) {
  auto lines = nlohmann::ordered_json::array();
  for (const Row& row : Rows(facts)) {
    lines.push_back({{"key", row.key}, {"value", row.value}, {"sure", row.sure}, {"how", row.how}});
  }
  const nlohmann::ordered_json json = {{"pmu", facts.device}, {"lines", lines}};
  return json.dump(1) + "\n";
}

}  // namespace pmuconf

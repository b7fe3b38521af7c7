// SPDX-License-Identifier: Apache-2.0
#include "scaffold/case_text.h"

#include <algorithm>
#include <set>

#include "scaffold/names.h"
#include "target/target.h"

namespace pmuconf::scaffold {
namespace {

constexpr std::size_t kColumns = 100;
constexpr const char* kMacro = "CONFORMANCE_CASE(";
constexpr const char* kEnd = "\n}  // namespace\n}  // namespace pmuconf\n";
constexpr const char* kQuoted = "#include \"";

// The include lines of a new file: all that the templates name. They are in the order of
// clang-format.
std::set<std::string> Includes(const CaseText& text) {
  std::set<std::string> lines = {std::string(kQuoted) + "cases/common.h\""};
  for (const std::string& rule : text.rules) {
    lines.insert(kQuoted + ("rules/" + rule.substr(0, rule.find('-'))) + ".h\"");
  }
  return lines;
}

std::string Constant(const std::string& rule) {
  std::string name = "rule::" + rule;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// Adds `.key = {item, …}` and `end` to the last line of `text` if it fits and `join` allows it, or
// else begins a new line. Returns whether the list is in one line, so that another may follow it.
bool AddList(std::string* text, const std::string& key, const std::vector<std::string>& items,
             const std::string& end, bool join) {
  const auto column = [&] { return text->size() - (text->rfind('\n') + 1); };
  const std::string head = "." + key + " = {";
  std::string whole = head;
  for (std::size_t i = 0; i < items.size(); ++i) whole += (i == 0 ? "" : ", ") + items[i];
  whole += "}" + end;
  if (join && column() + 1 + whole.size() <= kColumns) {
    *text += " " + whole;
    return true;
  }
  const std::string indent(std::string(kMacro).size(), ' ');
  *text += "\n" + indent + head;
  const std::string inner(indent.size() + head.size(), ' ');
  if (indent.size() + whole.size() <= kColumns) {
    *text += whole.substr(head.size());
    return true;
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 == items.size() ? "}" + end : ",");
    const bool first = i == 0;
    if (!first && column() + 1 + item.size() > kColumns) {
      *text += "\n" + inner + item;
    } else {
      *text += (first ? "" : " ") + item;
    }
  }
  return false;
}

std::string FirstLine(const CaseText& text) { return kMacro + text.suite + ", " + text.name + ","; }

std::string Case(const CaseText& text) {
  std::vector<std::string> rules, needs;
  for (const std::string& rule : text.rules) rules.push_back(Constant(rule));
  for (const std::string& need : text.needs) needs.push_back("Cap::k" + CamelCase(need));
  std::string lines = FirstLine(text);
  const bool join = AddList(&lines, "rules", rules, ",", true);
  AddList(&lines, "needs", needs, ") {", join);
  // A trace has no event to count.
  const bool trace = std::find(text.needs.begin(), text.needs.end(), "trace") != text.needs.end();
  lines += std::string("\n  const EventSpec spec = target().") +
           (trace ? "Trace()" : "AnyEvent()") + ";\n  const Event event = Open(spec);\n\n" +
           "  event.Enable();\n";
  if (!trace) lines += "  target().Stimulate(spec, 1'000);\n";
  lines += "  event.Disable();\n";
  return lines + "  FAIL() << \"" + kExpectation + ": \" << " + rules.front() + ".text;\n}\n";
}

// Returns the words of a name: "FullGroupCounts" becomes "Full group counts".
std::string Sentence(const std::string& name) {
  std::string words = SnakeCase(name);
  std::replace(words.begin(), words.end(), '_', ' ');
  words.front() = name.front();
  return words + ".";
}

}  // namespace

bool Fits(const CaseText& text) { return FirstLine(text).size() <= kColumns; }

std::string NewFile(const CaseText& text) {
  std::string file = "// SPDX-License-Identifier: Apache-2.0\n// " + Sentence(text.name) + "\n";
  for (const std::string& line : Includes(text)) file += line + "\n";
  return file + "\nnamespace pmuconf {\nnamespace {\n\n" + Case(text) + kEnd;
}

std::string Appended(const std::string& file, const CaseText& text, const std::string& path) {
  if (!file.ends_with(kEnd)) {
    throw ConfigError(path + ": must end with '}  // namespace' and '}  // namespace pmuconf'");
  }
  // The last block of quoted includes has the project's headers.
  const std::size_t last = file.rfind(std::string("\n") + kQuoted);
  if (last == std::string::npos) throw ConfigError(path + ": must include headers of the suite");
  const std::size_t end = file.find('\n', last + 1) + 1;
  std::size_t begin = last + 1;
  while (begin > 1) {
    const std::size_t above = file.rfind('\n', begin - 2) + 1;
    if (file.compare(above, std::string(kQuoted).size(), kQuoted) != 0) break;
    begin = above;
  }
  std::set<std::string> lines;
  for (std::size_t at = begin; at < end; at = file.find('\n', at) + 1) {
    lines.insert(file.substr(at, file.find('\n', at) - at));
  }
  // A header of the area, such as cases/aux/trace.h, includes the common one.
  for (const std::string& line : Includes(text)) {
    if (line.find("\"rules/") != std::string::npos) lines.insert(line);
  }
  std::string result = file.substr(0, begin);
  for (const std::string& line : lines) result += line + "\n";
  result += file.substr(end, file.size() - end - std::string(kEnd).size());
  return result + "\n" + Case(text) + kEnd;
}

}  // namespace pmuconf::scaffold

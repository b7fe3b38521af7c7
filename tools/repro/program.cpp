// SPDX-License-Identifier: Apache-2.0
// Names of acts, and the text format of programs.
#include "tools/repro/program.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <sstream>

#include "target/target.h"

namespace pmuconf {
namespace {

constexpr std::string_view kHeader = "pmuconf program for ";
constexpr std::size_t kAttrSize = 256;

struct OperationRow {
  std::string_view name;
  unsigned ways;
};
constexpr std::array<OperationRow, kOperations> kRows = {{{"open", 1},
                                                          {"ioctl", 12},
                                                          {"map", kProgramPageOrder + 1},
                                                          {"map_aux", kProgramPageOrder + 1},
                                                          {"unmap", 2},
                                                          {"read", 1},
                                                          {"drain", 1},
                                                          {"poll", 1},
                                                          {"close", 1},
                                                          {"tasks", 2},
                                                          {"fork", 1},
                                                          {"child", 3},
                                                          {"work", 4},
                                                          {"pulse", kProgramPulses},
                                                          {"branch", 2},
                                                          {"attach", 1},
                                                          {"cpu", 2},
                                                          {"advance", 2},
                                                          {"dup", 1},
                                                          {"child_pulse", kProgramPulses},
                                                          {"signals", 2},
                                                          {"race", 2},
                                                          {"affinity", 3},
                                                          {"map_any", 8},
                                                          {"remap", 2},
                                                          {"tail", 2}}};

constexpr ProgramMapKind kMaps[] = {
    {.pages = 1},                             // the control page alone
    {.pages = 4},                             // three pages of data: no power of two
    {.pages = 0, .bytes = 1},                 // a part of a page
    {.pages = 2, .bytes = 100},               // a page of data and a part of one
    {.pages = 2, .offset = 1},                // without the control page
    {.pages = 2, .shared = false},            // a private copy
    {.pages = 3, .offset = kProgramAuxPage},  // an AUX area of an odd length
    {.pages = (std::size_t{1} << 20) + 1},    // beyond each limit
};

using Argument = ProgramIoctl::Argument;
#define PMUCONF_IOCTL(name, argument) \
  ProgramIoctl { #name, "PERF_EVENT_IOC_" #name, PERF_EVENT_IOC_##name, Argument::argument }
constexpr std::array<ProgramIoctl, 12> kIoctls = {
    {PMUCONF_IOCTL(ENABLE, kValue), PMUCONF_IOCTL(DISABLE, kValue), PMUCONF_IOCTL(REFRESH, kValue),
     PMUCONF_IOCTL(RESET, kValue), PMUCONF_IOCTL(PERIOD, kPointer),
     PMUCONF_IOCTL(SET_OUTPUT, kEvent), PMUCONF_IOCTL(SET_FILTER, kFilter),
     PMUCONF_IOCTL(ID, kPointer), PMUCONF_IOCTL(SET_BPF, kBpf), PMUCONF_IOCTL(PAUSE_OUTPUT, kValue),
     PMUCONF_IOCTL(QUERY_BPF, kPointer), PMUCONF_IOCTL(MODIFY_ATTRIBUTES, kAttr)}};
#undef PMUCONF_IOCTL

constexpr std::array<std::uint32_t, kProgramPulses> kPulses = {
    0x01d0, 0x01d1, 0x01d2, 0x01d3, 0x003c, 0x00c0, 0x00c4,
    0x013c, 0x01d4, 0x0101, 0x0201, 0x0104, 0x0204, 0x0108};

std::string AttrHex(const std::vector<std::byte>& attr) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::size_t size = attr.size();
  while (size > 0 && attr[size - 1] == std::byte{0}) --size;
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = std::to_integer<unsigned>(attr[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string Quoted(std::string_view argument_text) {
  std::string text = "'";
  text += argument_text;
  text += '\'';
  return text;
}

// The arguments of one line, by name.
class Arguments {
 public:
  Arguments(std::string_view line, unsigned number) : number_(number) {
    std::istringstream in{std::string(line)};
    in >> operation_;
    for (std::string argument_text; in >> argument_text;) {
      const std::size_t equal = argument_text.find('=');
      if (equal == std::string::npos) Fail(Quoted(argument_text) + " is not NAME=VALUE");
      if (!values_.emplace(argument_text.substr(0, equal), argument_text.substr(equal + 1))
               .second) {
        Fail(Quoted(argument_text.substr(0, equal)) + " is given twice");
      }
    }
  }
  const std::string& operation() const { return operation_; }

  std::string Text(const std::string& name) {
    const auto found = values_.find(name);
    if (found == values_.end()) return "";
    std::string value = found->second;
    values_.erase(found);
    return value;
  }
  // Returns a number, 0 if it is absent. It must be below `limit`, unless that is 0.
  std::uint64_t Number(const std::string& name, std::uint64_t limit = 0) {
    const std::string text = Text(name);
    if (text.empty()) return 0;
    const bool hex = text.starts_with("0x");
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] =
        std::from_chars(text.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
    if (error != std::errc() || at != end) Fail(Quoted(text) + " is not a number");
    if (limit != 0 && value >= limit) {
      Fail(Quoted(name) + " is " + text + ", and must be below " + std::to_string(limit));
    }
    return value;
  }
  void ExpectNoneUnused() const {
    if (!values_.empty())
      Fail(Quoted(values_.begin()->first) + " is not an argument of this operation");
  }
  [[noreturn]] void Fail(const std::string& what) const {
    throw ConfigError("program, line " + std::to_string(number_) + ": " + what);
  }

 private:
  unsigned number_;
  std::string operation_;
  std::map<std::string, std::string> values_;
};

std::vector<std::byte> AttrOf(Arguments& arguments) {
  const std::string text = arguments.Text("attr");
  if (text.size() % 2 != 0 || text.size() > 2 * kAttrSize)
    arguments.Fail("attr has an invalid length");
  std::vector<std::byte> attr(kAttrSize);
  for (std::size_t i = 0; i < text.size() / 2; ++i) {
    unsigned byte = 0;
    const char* const at = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(at, at + 2, byte, 16);
    if (error != std::errc() || end != at + 2) arguments.Fail("attr is not hexadecimal");
    attr[i] = static_cast<std::byte>(byte);
  }
  return attr;
}

Step ParseStep(Arguments& arguments) {
  const auto* const row = std::find_if(kRows.begin(), kRows.end(), [&](const OperationRow& each) {
    return each.name == arguments.operation();
  });
  if (row == kRows.end()) arguments.Fail("unknown operation '" + arguments.operation() + "'");
  Step step;
  step.operation = static_cast<Operation>(row - kRows.begin());
  step.slot = static_cast<unsigned>(arguments.Number("slot", kProgramSlots));
  step.other = static_cast<unsigned>(arguments.Number("other", kProgramSlots));
  step.which = static_cast<unsigned>(arguments.Number("which", row->ways));
  const bool bounded = step.operation == Operation::kWork || step.operation == Operation::kPulse ||
                       step.operation == Operation::kBranch || step.operation == Operation::kRead ||
                       step.operation == Operation::kAdvance ||
                       step.operation == Operation::kRace ||
                       step.operation == Operation::kChildPulse;
  step.value = arguments.Number("value", bounded ? kProgramWork + 1 : 0);
  step.task = static_cast<unsigned>(arguments.Number("task", kProgramTasks));
  if (step.operation == Operation::kOpen) {
    OpenCall& call = step.call;
    call.who = static_cast<OpenWho>(arguments.Number("who", 7));
    call.cpu = static_cast<OpenCpu>(arguments.Number("cpu", 5));
    call.group = static_cast<OpenGroup>(arguments.Number("group", 9));
    call.flags = arguments.Number("flags");
    call.readable = arguments.Number("readable", kAttrSize + 1);
    call.descriptors_available = arguments.Number("descriptors", 2) != 0;
    step.rights = arguments.Number("rights", 2) != 0;
    call.attr = AttrOf(arguments);
  }
  arguments.ExpectNoneUnused();
  return step;
}

}  // namespace

std::span<const ProgramIoctl> ProgramIoctls() { return kIoctls; }
std::span<const std::uint32_t> ProgramPulses() { return kPulses; }
std::span<const ProgramMapKind> ProgramMaps() { return kMaps; }
std::string_view OperationName(Operation operation) {
  return kRows[static_cast<std::size_t>(operation)].name;
}
unsigned ChoiceCount(Operation operation) {
  return kRows[static_cast<std::size_t>(operation)].ways;
}

bool SwitchesCpus(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(),
                     [](const Step& step) { return step.operation == Operation::kCpu; });
}

std::string PrintStep(const Step& step) {
  std::ostringstream out;
  out << OperationName(step.operation);
  const auto put = [&out](std::string_view name, std::uint64_t value, std::uint64_t usual = 0) {
    if (value != usual) out << ' ' << name << '=' << (value < 10 ? "" : "0x") << std::hex << value;
  };
  put("slot", step.slot);
  put("other", step.other);
  put("which", step.which);
  put("value", step.value);
  put("task", step.task);
  if (step.operation == Operation::kOpen) {
    const OpenCall& call = step.call;
    put("who", static_cast<std::uint64_t>(call.who));
    put("cpu", static_cast<std::uint64_t>(call.cpu));
    put("group", static_cast<std::uint64_t>(call.group));
    put("flags", call.flags);
    put("readable", call.readable);
    put("descriptors", call.descriptors_available ? 1 : 0);
    put("rights", step.rights ? 1 : 0);
    out << " attr=" << AttrHex(call.attr);
  }
  return out.str();
}

std::string PrintProgram(const Program& program) {
  std::string text = std::string(kHeader) + program.target + "\n";
  for (const Step& step : program.steps) text += PrintStep(step) + "\n";
  return text;
}

bool IsProgramText(std::string_view text) { return text.starts_with(kHeader); }

Program ParseProgram(std::string_view text) {
  if (!IsProgramText(text)) {
    throw ConfigError("program, line 1: is not '" + std::string(kHeader) + "TARGET'");
  }
  Program program;
  std::istringstream in{std::string(text.substr(kHeader.size()))};
  std::getline(in, program.target);
  unsigned number = 1;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] == '#') continue;
    Arguments arguments(line, number);
    if (program.steps.size() == kProgramTextSteps) arguments.Fail("too many operations");
    program.steps.push_back(ParseStep(arguments));
  }
  return program;
}

}  // namespace pmuconf

// SPDX-License-Identifier: Apache-2.0
// Reads lies, and rejects fields that their calls do not have.
#include "lies/lie.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "lies/names.h"
#include "lies/record_slots.h"
#include "lies/slots.h"
#include "system/sysfs.h"
#include "target/target.h"
#include "target/toml_table.h"

namespace pmuconf {
namespace {

struct CallInfo {
  const char* name;
  LieCall call;
  std::vector<std::string> fields;  // besides those of the attr
  bool of_event = false;            // has the fields of the event's attr
};

using Names = std::vector<std::string>;

const std::vector<CallInfo>& Calls() {
  static const std::vector<CallInfo> calls = {
      {"open",
       LieCall::kOpen,
       {"pid", "cpu", "group_fd", "flags", "attr_address", "result", "error", "written_size",
        "compat"},
       true},
      {"ioctl",
       LieCall::kIoctl,
       {"request", "arg", "period", "id", "ids_len", "prog_cnt", "result", "error", "compat"},
       true},
      {"read", LieCall::kRead, {"size", "result", "error"}, true},
      {"mmap", LieCall::kMmap, {"pages", "prot", "flags", "offset", "over", "error"}, true},
      {"unmap",
       LieCall::kUnmap,
       {"kind", "from_start", "bytes", "whole", "new_bytes", "flags", "error"},
       true},
      {"poll", LieCall::kPoll, {"events", "revents", "result"}, true},
      {"fcntl", LieCall::kFcntl, {"command", "arg", "result", "error"}, true},
      {"signal",
       LieCall::kSignal,
       {"signo", "code", "fd", "band", "addr", "perf_data", "perf_type", "perf_flags", "result"}},
      {"prctl", LieCall::kPrctl, {"command", "result", "error"}},
      {"bpf", LieCall::kBpf, {"command", "value", "result", "error"}},
      {"bpf_memory", LieCall::kBpfMemory, {"value", "index"}},
      {"syscall", LieCall::kSyscall, {"number", "result", "error"}},
      {"record", LieCall::kRecord, RecordNames(), true},
      {"page", LieCall::kPage, PageNames(), true},
      {"counter", LieCall::kCounter, {"counter", "value"}},
      {"file", LieCall::kFile, {}},
      {"folder", LieCall::kFolder, {}},
      {"write", LieCall::kWrite, {"size", "result", "error"}},
  };
  return calls;
}

const CallInfo& InfoOf(LieCall call) {
  return *std::find_if(Calls().begin(), Calls().end(),
                       [call](const CallInfo& info) { return info.call == call; });
}

std::string Listed(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Calls `use` with each key of a table and its value. In TOML, `attr.inherit` is a table in a
// table.
template <typename Use>
void EachKey(const toml::table& table, const std::string& prefix, const Use& use) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* const inner = node.as_table()) {
      EachKey(*inner, name + ".", use);
    } else {
      use(name, node);
    }
  }
}

// Returns the table `key` of `table`, or null.
const toml::table* Inner(TomlTable* table, const char* key) {
  const toml::node* const node = table->Node(key);
  if (node != nullptr && !node->is_table()) table->Fail(key, "must be a table");
  return node == nullptr ? nullptr : node->as_table();
}

std::optional<std::uint64_t> Number(const toml::node& node) {
  if (const auto number = node.value_exact<std::int64_t>())
    return static_cast<std::uint64_t>(*number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? 1 : 0;
  const auto text = node.value_exact<std::string>();
  return text ? NumberFromName(*text) : std::nullopt;
}

std::optional<std::pair<LieTest, std::uint64_t>> Test(const toml::node& node) {
  static const std::array<std::pair<const char*, LieTest>, 5> kOperators = {
      {{"!&", LieTest::kHasNot},
       {"&", LieTest::kHas},
       {"!", LieTest::kNot},
       {"<", LieTest::kLess},
       {">", LieTest::kMore}}};
  if (const auto text = node.value_exact<std::string>()) {
    for (const auto& [prefix, test] : kOperators) {
      if (!text->starts_with(prefix)) continue;
      const auto number = NumberFromName(std::string_view(*text).substr(std::strlen(prefix)));
      return number ? std::optional(std::pair(test, *number)) : std::nullopt;
    }
  }
  const auto number = Number(node);
  return number ? std::optional(std::pair(LieTest::kEqual, *number)) : std::nullopt;
}

// The errors in `table` name the field as a key of it.
std::vector<std::pair<LieTest, std::uint64_t>> AnyOf(const TomlTable& table, const std::string& key,
                                                     const toml::node& node) {
  std::vector<std::pair<LieTest, std::uint64_t>> any;
  const auto add = [&](const toml::node& each) {
    const auto test = Test(each);
    if (!test) table.Fail(key, "must be a number or a name of the kernel, after !, &, !&, < or >");
    any.push_back(*test);
  };
  if (const toml::array* const list = node.as_array()) {
    for (const toml::node& each : *list) add(each);
  } else {
    add(node);
  }
  if (any.empty()) table.Fail(key, "must not be empty");
  return any;
}

void CheckField(const TomlTable& table, LieCall call, const std::string& field) {
  if (IsFieldOf(call, field)) return;
  const CallInfo& info = InfoOf(call);
  table.Fail(field, std::string("is no field of call '") + info.name + "' (known: " +
                        Listed(info.fields) + (info.of_event ? ", attr.*" : "") + ")");
}

void ReadWhen(TomlTable* table, Lie* lie) {
  const toml::table* const when = Inner(table, "when");
  if (when == nullptr) return;
  const TomlTable context = *table->Table("when");
  EachKey(*when, "", [&](const std::string& key, const toml::node& node) {
    if (key == "nth") {
      lie->nth = AnyOf(context, key, node);
      return;
    }
    CheckField(context, lie->call, key);
    lie->when.push_back({key, AnyOf(context, key, node)});
  });
}

// Reads {field = number} into changes with that operation.
void ReadChanges(TomlTable* effect, const char* key, LieOperation operation, LieCall call,
                 std::vector<LieChange>* changes) {
  const toml::table* const table = Inner(effect, key);
  if (table == nullptr) return;
  const TomlTable context = *effect->Table(key);
  EachKey(*table, "", [&](const std::string& field, const toml::node& node) {
    CheckField(context, call, field);
    LieChange change{field, operation, 0, {}};
    if (operation == LieOperation::kCopy) {
      change.from = node.value_exact<std::string>().value_or("");
      if (!IsFieldOf(call, change.from)) context.Fail(field, "must be the name of a field");
    } else {
      const auto number = Number(node);
      if (!number) context.Fail(field, "must be a number or a name of the kernel");
      change.value = *number;
    }
    changes->push_back(std::move(change));
  });
}

void ReadEffect(TomlTable table, Lie* lie) {
  LieEffect& effect = lie->effect;
  ReadChanges(&table, "request", LieOperation::kSet, lie->call, &effect.request);
  ReadChanges(&table, "request_or", LieOperation::kOr, lie->call, &effect.request);
  ReadChanges(&table, "request_clear", LieOperation::kClear, lie->call, &effect.request);
  ReadChanges(&table, "request_add", LieOperation::kAdd, lie->call, &effect.request);
  ReadChanges(&table, "set", LieOperation::kSet, lie->call, &effect.answer);
  ReadChanges(&table, "add", LieOperation::kAdd, lie->call, &effect.answer);
  ReadChanges(&table, "add_each", LieOperation::kAccumulate, lie->call, &effect.answer);
  ReadChanges(&table, "or", LieOperation::kOr, lie->call, &effect.answer);
  ReadChanges(&table, "clear", LieOperation::kClear, lie->call, &effect.answer);
  ReadChanges(&table, "copy", LieOperation::kCopy, lie->call, &effect.answer);
  for (const std::string& field : table.StringsOr("stale", {})) {
    if (!IsFieldOf(lie->call, field)) table.Fail("stale", "names no field: '" + field + "'");
    effect.answer.push_back({field, LieOperation::kStale, 0, {}});
  }
  effect.swallow = table.BoolOr("swallow", false);
  if (const toml::node* const node = table.Node("error")) {
    const auto number = Number(*node);
    if (!number || *number > 4095) table.Fail("error", "must be the name of an errno, or 0");
    effect.error = static_cast<int>(*number);
  }
  effect.drop = table.BoolOr("drop", false);
  effect.twice = table.BoolOr("twice", false);
  effect.late = table.BoolOr("late", false);
  effect.absent = table.BoolOr("absent", false);
  effect.cut = static_cast<std::size_t>(table.IntOr("cut", 0, 0, 1 << 20));
  effect.grow = static_cast<std::size_t>(table.IntOr("grow", 0, 0, 1 << 20));
  effect.scribble = static_cast<std::size_t>(table.IntOr("scribble", 0, 0, 4096));
  if (table.Node("text") != nullptr) effect.text = table.StringOr("text", "");
  const auto replace = table.StringsOr("replace", {});
  if (!replace.empty()) {
    if (replace.size() != 2) table.Fail("replace", "must be a pattern and its replacement");
    effect.replace = {replace[0], replace[1]};
  }
  effect.hide = table.StringsOr("hide", {});
  effect.show = table.StringsOr("show", {});
  if (table.Keys().empty()) table.Fail("effect", "must not be empty");
  table.Finish();
}

// Reads one [[fault]]. The runner on the host uses the keys that this program only accepts.
Lie ReadLie(TomlTable* table) {
  Lie lie;
  lie.id = table->String("id");
  lie.text = table->String("text");
  const std::string call = table->String("call");
  const auto it = std::find_if(Calls().begin(), Calls().end(),
                               [&](const CallInfo& info) { return info.name == call; });
  if (it == Calls().end()) {
    Names names;
    for (const CallInfo& info : Calls()) names.emplace_back(info.name);
    table->Fail("call", "must be one of " + Listed(names) + ": '" + call + "'");
  }
  lie.call = it->call;
  lie.path = table->StringOr("path", "*");
  ReadWhen(table, &lie);
  auto effect = table->Table("effect");
  if (!effect) table->Fail("effect", "is missing");
  ReadEffect(*effect, &lie);
  for (const LieCondition& condition : lie.when) {
    const bool answer = condition.field == "result" || condition.field == "error";
    if (answer && lie.effect.before())
      table->Fail("when", "cannot use the answer: the effect changes the request");
  }
  for (const char* key : {"rules", "cases", "kernels", "results", "targets"})
    table->StringsOr(key, {});
  table->Finish();
  return lie;
}

}  // namespace

bool IsFieldOf(LieCall call, std::string_view field) {
  static const std::vector<std::string> attr = AttrNames();
  static const std::vector<std::string> reading = ReadingNames();
  const auto has = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), field) != names.end();
  };
  const CallInfo& info = InfoOf(call);
  return has(info.fields) || (info.of_event && has(attr)) ||
         (call == LieCall::kRead && has(reading));
}

bool Matches(const std::vector<std::pair<LieTest, std::uint64_t>>& any, std::uint64_t value,
             std::uint64_t mask) {
  return std::any_of(any.begin(), any.end(), [&](const auto& test) {
    const std::uint64_t wanted = test.second & mask;
    switch (test.first) {
      case LieTest::kEqual:
        return value == wanted;
      case LieTest::kNot:
        return value != wanted;
      case LieTest::kHas:
        return (value & wanted) == wanted && wanted == test.second;
      case LieTest::kHasNot:
        return (value & wanted) == 0;
      case LieTest::kLess:
        return value < wanted;
      case LieTest::kMore:
        return value > wanted;
    }
    return false;
  });
}

Lie ParseLie(std::string_view text, const std::string& file, std::string_view id) {
  const toml::table parsed = ParseToml(text, file);
  TomlTable root(parsed, file, "");
  std::vector<TomlTable> tables = root.Tables("fault");
  root.Finish();
  std::optional<Lie> found;
  for (TomlTable& table : tables) {
    Lie lie = ReadLie(&table);
    if (!id.empty() && lie.id != id) continue;
    if (found) throw ConfigError(file + ": has several lies: name one as FILE:ID");
    found = std::move(lie);
  }
  if (!found) {
    throw ConfigError(file +
                      (id.empty() ? ": has no lie" : ": has no lie '" + std::string(id) + "'"));
  }
  return *std::move(found);
}

Lie LoadLie(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  const std::string file = name.substr(0, colon);
  const auto text = ReadFile(file);
  if (!text) throw ConfigError(file + ": cannot be read");
  return ParseLie(*text, file, colon == std::string::npos ? "" : name.substr(colon + 1));
}

}  // namespace pmuconf
